// SPDX-License-Identifier: BSL-1.0
// Ring positions against arithmetic that never wraps: a 64-bit count of entries since the start.
#include <cmdq/core/position.hpp>
#include <cmdq/smmuv3/error_bits.hpp>
#include <vector>

#include "support/test.hpp"

using namespace cmdq;

namespace {

position narrow(uint64_t wide) { return static_cast<position>(wide); }

/// Counts around each wrap that matters: one lap, two laps (the register), and the 32-bit counter itself.
std::vector<uint64_t> near_wraps(uint64_t n) {
  std::vector<uint64_t> out;
  const uint64_t counter = uint64_t{1} << 32;
  for (const uint64_t at : {n, 2 * n, 3 * n, counter / 2, counter - 2 * n, counter - n, counter, counter << 8}) {
    for (uint64_t i = 0; i <= 6; ++i) out.push_back(at + i - 3);
  }
  return out;
}

void check_one(geometry g, uint64_t wide) {
  const uint64_t n = g.entries();
  CMDQ_CHECK_EQ(uint64_t{g.slot(narrow(wide))}, wide % n);
  CMDQ_CHECK_EQ(uint64_t{g.wrap(narrow(wide))}, wide / n % 2);
  CMDQ_CHECK_EQ(uint64_t{g.to_register(narrow(wide))}, wide % (2 * n));
}

void check_pair(geometry g, uint64_t cons, uint64_t used) {
  const uint64_t n = g.entries();
  const position c = narrow(cons);
  const position p = narrow(cons + used);
  CMDQ_CHECK_EQ(distance(c, p), static_cast<int32_t>(used));
  CMDQ_CHECK_EQ(distance(p, c), -static_cast<int32_t>(used));
  CMDQ_CHECK_EQ(uint64_t{g.ahead(c, g.to_register(p))}, used);
  CMDQ_CHECK_EQ(g.empty(g.to_register(p), g.to_register(c)), used == 0);
  CMDQ_CHECK_EQ(g.full(g.to_register(p), g.to_register(c)), used == n);
  CMDQ_CHECK_EQ(reached(c, p), used == 0);
  CMDQ_CHECK(reached(p, c));
  CMDQ_CHECK(!passed(c, p));
  CMDQ_CHECK_EQ(passed(p, c), used > 0);
}

}  // namespace

CMDQ_TEST(positions_near_every_wrap) {
  for (uint32_t log2 = min_log2_size; log2 <= max_log2_size; ++log2) {
    const geometry g{log2};
    const uint64_t n = g.entries();
    CMDQ_CHECK_EQ(n, 1ULL << log2);
    for (const uint64_t start : near_wraps(n)) {
      check_one(g, start);
      for (const uint64_t used : {uint64_t{0}, uint64_t{1}, n / 2, n - 1, n}) check_pair(g, start, used);
    }
  }
}

CMDQ_TEST(positions_anywhere) {
  test::property([](uint64_t start) {
    const geometry g{*rc::gen::inRange<uint32_t>(min_log2_size, max_log2_size + 1)};
    const uint64_t wide = start >> 1;  // leaves room for a lap
    check_one(g, wide);
    check_pair(g, wide, *rc::gen::inRange<uint64_t>(0, g.entries() + 1));
  });
}

CMDQ_TEST(positions_compare_within_half_the_counter) {
  test::property([](uint32_t from) {
    const auto steps = *rc::gen::inRange<uint32_t>(1, 1U << 31);
    const position to = from + steps;
    CMDQ_CHECK(distance(from, to) > 0);
    CMDQ_CHECK(distance(to, from) < 0);
    CMDQ_CHECK(passed(to, from));
    CMDQ_CHECK(!passed(from, to));
    CMDQ_CHECK(!reached(from, to));
  });
}

/// Full, then the device consumes one: there is room for one and a waiter must see it. Comparing "CONS is before PROD +
/// 1" modulo 2N inverts there.
CMDQ_TEST(bug_L01_room_after_a_full_ring) {
  for (const uint64_t start : near_wraps(4)) {
    const geometry g{2};
    const position cons = narrow(start);
    const position prod = narrow(start + 4);
    CMDQ_CHECK(g.full(g.to_register(prod), g.to_register(cons)));
    CMDQ_CHECK(!g.full(g.to_register(prod), g.to_register(cons + 1)));
    CMDQ_CHECK(!g.empty(g.to_register(prod), g.to_register(cons + 1)));
    CMDQ_CHECK_EQ(g.ahead(cons + 1, g.to_register(prod)), 3U);
    // The space needed for one more entry ends at prod + 1 - N, which the new CONS has reached and the old one not.
    CMDQ_CHECK(!reached(cons, prod + 1 - g.entries()));
    CMDQ_CHECK(reached(cons + 1, prod + 1 - g.entries()));
  }
}

/// Index equal, wrap different: full, not drained.
CMDQ_TEST(bug_L66_full_is_not_drained) {
  for (uint32_t log2 = min_log2_size; log2 <= max_log2_size; ++log2) {
    const geometry g{log2};
    const uint32_t cons = 0;
    const uint32_t prod = g.entries();
    CMDQ_CHECK_EQ(g.slot(prod), g.slot(cons));
    CMDQ_CHECK(g.wrap(prod) != g.wrap(cons));
    CMDQ_CHECK(!g.empty(prod, cons));
    CMDQ_CHECK(g.full(prod, cons));
    CMDQ_CHECK(!reached(cons, prod));
  }
}

/// Every pair of register values of a small ring; the index in CMDQ_CONS is the head also while it shows an error.
CMDQ_TEST(bug_L76_all_pairs_of_a_small_ring) {
  for (const uint32_t log2 : {2U, 3U}) {
    const geometry g{log2};
    const uint32_t n = g.entries();
    for (uint32_t cons = 0; cons < 2 * n; ++cons) {
      for (uint32_t prod = 0; prod < 2 * n; ++prod) {
        const bool same_index = prod % n == cons % n;
        CMDQ_CHECK_EQ(g.empty(prod, cons), same_index && prod / n == cons / n);
        CMDQ_CHECK_EQ(g.full(prod, cons), same_index && prod / n != cons / n);
      }
      for (uint32_t error = 0; error < 0x80; ++error) {
        CMDQ_CHECK_EQ(cons_position(error << 24 | cons), cons);
        CMDQ_CHECK_EQ(cons_error(error << 24 | cons), error);
      }
    }
  }
}

/// All comparisons are modular: at the end of the 32-bit counter and at the register's wrap.
CMDQ_TEST(bug_L85_comparisons_are_modular) {
  for (uint32_t log2 = min_log2_size; log2 <= max_log2_size; ++log2) {
    const geometry g{log2};
    for (const position start : {~0U, ~0U - 1, 2 * g.entries() - 1, 2 * g.entries() - 2}) {
      for (uint32_t step = 1; step <= 4; ++step) {
        const position later = start + step;
        CMDQ_CHECK_EQ(distance(start, later), static_cast<int32_t>(step));
        CMDQ_CHECK(passed(later, start));
        CMDQ_CHECK(!passed(start, later));
        CMDQ_CHECK(!passed(start, start));
        CMDQ_CHECK(reached(start, start));
        CMDQ_CHECK_EQ(g.ahead(start, g.to_register(later)), step);
        CMDQ_CHECK_EQ(g.slot(later), (g.slot(start) + step) % g.entries());
      }
    }
  }
}
