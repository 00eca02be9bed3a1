// SPDX-License-Identifier: BSL-1.0
// Range invalidation against what a device does with each command: the addresses it covers, byte by byte where they are
// few, and as intervals in 128 bits where they are many.
#include <cmdq/smmuv3/range.hpp>
#include <map>
#include <vector>

#include "support/test.hpp"

using namespace cmdq;
using namespace cmdq::smmuv3;

namespace {

__extension__ using wide = unsigned __int128;

constexpr uint64_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;

/// Page and block sizes of each granule (64-bit descriptors).
struct granule_sizes {
  uint64_t granule;
  std::vector<uint64_t> leaves;
};
const granule_sizes granules[] = {
    {4 * KiB, {4 * KiB, 2 * MiB, 1 * GiB}}, {16 * KiB, {16 * KiB, 32 * MiB}}, {64 * KiB, {64 * KiB, 512 * MiB}}};

uint64_t bit_set(const granule_sizes& g) {
  uint64_t all = 0;
  for (const uint64_t size : g.leaves) all |= size;
  return all;
}

std::vector<command> commands_of(const invalidation& what, size_t limit = 70000) {
  const result<range_commands> r = range_commands::make(what);
  CMDQ_CHECK(r.ok());
  range_commands generator = *r;
  std::vector<command> out;
  command c;
  while (generator.next(c)) {
    out.push_back(c);
    if (out.size() > limit) throw test::failure("the generator does not end");
  }
  CMDQ_CHECK(generator.done());
  CMDQ_CHECK(!generator.next(c));
  return out;
}

/// First byte and the one after the last that a command reaches. Reads the words as the specification has them.
std::pair<wide, wide> covered(const command& c, uint64_t leaf_size) {
  const uint64_t tg = c.word[1] >> 10 & 3;
  const wide from = c.word[1] & ~0xfffULL;
  if (tg == 0) return {from, from + leaf_size};
  const uint64_t num = c.word[0] >> 12 & 31;
  const uint64_t scale = c.word[0] >> 20 & 31;
  return {from, from + (static_cast<wide>(num + 1) << scale) * (wide{1} << (2 * tg + 10))};
}

/// What must be covered: [start, end) grown to whole leaves.
std::pair<wide, wide> wanted(const invalidation& w, uint64_t leaf_size) {
  const wide end = w.end == 0 && w.start != 0 ? wide{1} << 64 : wide{w.end};
  return {w.start / leaf_size * leaf_size, (end + leaf_size - 1) / leaf_size * leaf_size};
}

uint64_t leaf_of(const invalidation& w) { return w.leaf_size != 0 ? w.leaf_size : w.page_sizes & (0 - w.page_sizes); }

uint64_t granule_of(const invalidation& w) { return w.page_sizes & (0 - w.page_sizes); }

/// Commands by address, in order and without gap or overlap, exactly over what was asked; one granule more only for a
/// non-leaf range that would be illegal. Returns their number.
size_t check_cover(const invalidation& w) {
  const auto commands = commands_of(w);
  const uint64_t leaf = leaf_of(w);
  const auto [start, end] = wanted(w, leaf);
  const uint64_t pages = static_cast<uint64_t>((end - start) / granule_of(w));
  wide at = start;
  for (const command& c : commands) {
    CMDQ_CHECK(legal(c));
    CMDQ_CHECK_EQ(opcode_of(c.word[0]), static_cast<uint8_t>(w.op));
    CMDQ_CHECK_EQ((c.word[1] & 1) != 0, w.leaf);
    const auto [from, to] = covered(c, leaf);
    CMDQ_CHECK(from == at);
    // An address that is not a multiple of the leaf makes the range unpredictable where a level hint is given.
    CMDQ_CHECK((c.word[1] >> 8 & 3) == 0 || from % leaf == 0);
    at = to;
  }
  const bool grown = w.ril && !w.leaf && pages % 32 == 1;
  CMDQ_CHECK(at == end + (grown ? granule_of(w) : 0));
  return commands.size();
}

invalidation pages_of(const granule_sizes& g, uint64_t pages, bool leaf = true) {
  return {
      .start = 0x40000000, .end = 0x40000000 + pages * g.granule, .page_sizes = bit_set(g), .leaf = leaf, .ril = true};
}

invalidation some_range() {
  const granule_sizes& g = granules[*rc::gen::inRange(0, 3)];
  invalidation w;
  w.page_sizes = bit_set(g);
  w.leaf_size = g.leaves[*rc::gen::inRange<size_t>(0, g.leaves.size())];
  w.leaf = *rc::gen::arbitrary<bool>();
  w.ril = *rc::gen::arbitrary<bool>();
  w.asid = *rc::gen::inRange(0U, 0x10000U);
  const uint64_t bits = *rc::gen::inRange<uint64_t>(0, 64);
  const uint64_t size = *rc::gen::arbitrary<uint64_t>() >> bits;
  w.start = *rc::gen::arbitrary<uint64_t>();
  if (w.start + size < w.start && w.start + size != 0) w.start = 0 - size;  // ends at 2^64
  w.end = w.start + size;
  return w;
}

bool whole_space(const std::vector<command>& c) { return c.size() == 1 && opcode_of(c[0].word[0]) == 0x11; }

}  // namespace

/// Size 0 makes no command, an empty set of page sizes is refused; neither shifts by 64 or divides by 0.
CMDQ_TEST(bug_L22_size_zero) {
  for (const uint64_t at : {uint64_t{0}, uint64_t{1}, uint64_t{0x1000}, ~uint64_t{0}}) {
    for (const bool ril : {false, true}) {
      for (const bool leaf : {false, true}) {
        CMDQ_CHECK_EQ(commands_of({.start = at, .end = at, .leaf = leaf, .ril = ril}).size(), size_t{0});
      }
    }
  }
  CMDQ_CHECK(!range_commands::make({.start = 0, .end = 0, .page_sizes = 0}).ok());
}

/// A table with a 2 MiB block below it: no level hint, so that the block's entry goes as well.
CMDQ_TEST(bug_L25_non_leaf_has_no_level_hint) {
  for (const granule_sizes& g : granules) {
    for (const uint64_t leaf_size : g.leaves) {
      const invalidation w{.start = 4 * GiB,
                           .end = 4 * GiB + leaf_size,
                           .page_sizes = bit_set(g),
                           .leaf_size = leaf_size,
                           .leaf = false,
                           .ril = true};
      check_cover(w);
      for (const command& c : commands_of(w)) {
        CMDQ_CHECK_EQ(c.word[1] >> 8 & 3, uint64_t{0});
        CMDQ_CHECK_EQ(c.word[1] & 1, uint64_t{0});
      }
    }
  }
}

/// Never TG != 0 with TTL = NUM = SCALE = 0.
CMDQ_TEST(bug_L26_non_leaf_ranges_are_legal) {
  for (const granule_sizes& g : granules) {
    for (uint64_t pages = 1; pages <= 4096; ++pages) check_cover(pages_of(g, pages, false));
    for (const uint64_t pages : {uint64_t{1}, uint64_t{33}}) {
      for (const command& c : commands_of(pages_of(g, pages, false))) {
        const bool reserved = (c.word[1] >> 8 & 3) == 0 && (c.word[0] >> 12 & 31) == 0 && (c.word[0] >> 20 & 31) == 0;
        CMDQ_CHECK(!reserved);
      }
    }
  }
}

CMDQ_TEST(bug_L27_no_page_size_is_refused) {
  const auto r = range_commands::make({.start = 0, .end = 0x1000, .page_sizes = 0});
  CMDQ_CHECK_EQ(r.code(), status::invalid_argument);
  CMDQ_CHECK_EQ(std::string(r.why().field), std::string("page_sizes"));
}

/// Sizes and starts that are not multiples of the page end, and cover.
CMDQ_TEST(bug_L28_unaligned_sizes_end_and_cover) {
  for (const bool ril : {false, true}) {
    for (const uint64_t size : {0x800, 0xfff, 0x1000, 4097, 0x1fff, 1}) {
      for (const uint64_t start : {0x0, 0x1, 0x7ff, 0x800, 0xfff, 0x1000}) {
        const uint64_t pages = (start + size - 1) / 4096 - start / 4096 + 1;
        const invalidation w{.start = start, .end = start + size, .ril = ril};
        CMDQ_CHECK_EQ(check_cover(w), ril ? size_t{1} : size_t{pages});
      }
    }
  }
}

/// The end is exclusive.
CMDQ_TEST(bug_L29_end_is_exclusive) {
  for (const bool ril : {false, true}) {
    const auto bytes = [ril](uint64_t end) {
      wide sum = 0;
      for (const command& c : commands_of({.start = 0x1000, .end = end, .ril = ril})) {
        const auto [from, to] = covered(c, 4096);
        sum += to - from;
      }
      return static_cast<uint64_t>(sum);
    };
    CMDQ_CHECK_EQ(bytes(0x2000), uint64_t{0x1000});
    CMDQ_CHECK_EQ(bytes(0x2001), uint64_t{0x2000});
    CMDQ_CHECK_EQ(bytes(0x1fff), uint64_t{0x1000});
  }
}

/// Without ranges: one command per page, and one for the address space from a table's worth of pages on.
CMDQ_TEST(bug_L30_whole_address_space_without_ranges) {
  for (const granule_sizes& g : granules) {
    const uint64_t enough = g.granule / 8;
    invalidation w = pages_of(g, enough - 1);
    w.ril = false;
    w.vmid = 3;
    w.asid = 9;
    CMDQ_CHECK_EQ(check_cover(w), size_t{enough - 1});
    w.end += 1;
    CMDQ_CHECK(commands_of(w) == std::vector<command>{*encode(tlbi_nh_asid{.vmid = 3, .asid = 9})});
    w.op = opcode::tlbi_nh_vaa;
    CMDQ_CHECK(commands_of(w) == std::vector<command>{*encode(tlbi_nh_all{.vmid = 3})});
    w.op = opcode::tlbi_s2_ipa;
    CMDQ_CHECK(commands_of(w) == std::vector<command>{*encode(tlbi_s12_vmall{.vmid = 3})});
    w.op = opcode::tlbi_el2_va;
    CMDQ_CHECK(commands_of(w) == std::vector<command>{*encode(tlbi_el2_all{})});
  }
  CMDQ_CHECK_EQ(commands_of({.start = 0, .end = 512 * 4096}).size(), size_t{1});
}

CMDQ_TEST(bug_L31_few_commands_per_range) {
  CMDQ_CHECK_EQ(check_cover(pages_of(granules[0], 1025)), size_t{2});
  size_t most = 0;
  for (uint64_t pages = 1; pages < 1U << 20; pages += pages < 5000 ? 1 : 37) {
    for (const bool leaf : {false, true}) {
      const size_t n = check_cover(pages_of(granules[0], pages, leaf));
      most = n > most ? n : most;
    }
  }
  CMDQ_CHECK_EQ(most, size_t{4});
}

/// No decomposition into (NUM + 1) * 2^SCALE has fewer terms: compared with all of them.
CMDQ_TEST(ranges_are_minimal) {
  constexpr size_t limit = 4096;
  std::vector<size_t> best(limit + 1, limit);
  best[0] = 0;
  for (size_t pages = 1; pages <= limit; ++pages) {
    for (size_t scale = 0; (size_t{1} << scale) <= pages; ++scale) {
      for (size_t n = 1; n <= 32 && n << scale <= pages; ++n) {
        best[pages] = std::min(best[pages], best[pages - (n << scale)] + 1);
      }
    }
    CMDQ_CHECK_EQ(commands_of(pages_of(granules[0], pages)).size(), best[pages]);
  }
}

CMDQ_TEST(level_hints) {
  const std::map<std::pair<uint32_t, uint32_t>, uint32_t> known = {{{12, 12}, 3}, {{12, 21}, 2}, {{12, 30}, 1},
                                                                   {{14, 14}, 3}, {{14, 25}, 2}, {{16, 16}, 3},
                                                                   {{16, 29}, 2}, {{12, 39}, 0}};
  for (const auto& [sizes, level] : known) CMDQ_CHECK_EQ(level_hint(sizes.first, sizes.second), level);
  for (const granule_sizes& g : granules) {
    uint64_t level = 3;
    for (const uint64_t leaf_size : g.leaves) {
      const invalidation w{.start = 0, .end = leaf_size, .page_sizes = bit_set(g), .leaf_size = leaf_size, .ril = true};
      CMDQ_CHECK_EQ(commands_of(w).at(0).word[1] >> 8 & 3, level);
      --level;
    }
  }
}

/// Every byte of a small address space: reached by some command exactly when it lies in a leaf that the range touches.
CMDQ_TEST(ranges_cover_every_byte_of_a_small_space) {
  constexpr uint64_t space = 40 * 4096;
  for (const bool ril : {false, true}) {
    for (uint64_t start = 0; start < space; start += 1365) {
      for (uint64_t end = start + 1; end <= space; end += 1021) {
        std::vector<int> hits(41, 0);
        for (const command& c : commands_of({.start = start, .end = end, .ril = ril})) {
          const auto [from, to] = covered(c, 4096);
          for (wide a = from; a < to; a += 4096) ++hits.at(static_cast<size_t>(a / 4096));
        }
        for (uint64_t page = 0; page < hits.size(); ++page) {
          const bool touched = page * 4096 < end && (page + 1) * 4096 > start;
          CMDQ_CHECK_EQ(hits[page], touched ? 1 : 0);
        }
      }
    }
  }
}

CMDQ_TEST(ranges_cover_exactly) {
  test::property([] {
    const invalidation w = some_range();
    const auto commands = commands_of(w);
    if (w.start == w.end) {
      CMDQ_CHECK_EQ(commands.size(), size_t{0});
      return;
    }
    if (whole_space(commands)) {
      const auto [start, end] = wanted(w, leaf_of(w));
      CMDQ_CHECK(!w.ril && (end - start) / leaf_of(w) >= granule_of(w) / 8);
      return;
    }
    check_cover(w);
  });
}

/// To the last byte of the address space, and all of it.
CMDQ_TEST(ranges_end_at_the_top) {
  CMDQ_CHECK_EQ(check_cover({.start = ~uint64_t{0xfff}, .end = 0, .ril = true}), size_t{1});
  CMDQ_CHECK_EQ(check_cover({.start = ~uint64_t{0xfff}, .end = 0}), size_t{1});
  CMDQ_CHECK_EQ(check_cover({.start = ~uint64_t{0}, .end = 0, .ril = true}), size_t{1});
  CMDQ_CHECK_EQ(check_cover({.start = 1, .end = 0, .ril = true}), size_t{65536});
  CMDQ_CHECK(check_cover({.start = 4096, .end = 0, .ril = true}) <= 65536 + 8);
  CMDQ_CHECK(check_cover({.start = 0, .end = ~uint64_t{0}, .leaf = false, .ril = true}) <= 65536 + 8);
  CMDQ_CHECK(whole_space(commands_of({.start = 1, .end = 0})));
}

CMDQ_TEST(range_arguments_are_checked) {
  const auto refused = [](const invalidation& w, status code, const std::string& name, uint64_t value) {
    const auto r = range_commands::make(w);
    return r.code() == code && r.why().field == name && r.why().value == value;
  };
  const invalidation good{.start = 0x1000, .end = 0x2000};
  const auto with = [&good](auto change) {
    invalidation w = good;
    change(w);
    return w;
  };
  CMDQ_CHECK(range_commands::make(good).ok());
  CMDQ_CHECK(refused(with([](auto& w) { w.end = 0xfff; }), status::out_of_range, "end", 0xfff));
  CMDQ_CHECK(refused(with([](auto& w) { w.vmid = 0x10000; }), status::out_of_range, "vmid", 0x10000));
  CMDQ_CHECK(refused(with([](auto& w) { w.asid = 0x10000; }), status::out_of_range, "asid", 0x10000));
  CMDQ_CHECK(refused(with([](auto& w) { w.page_sizes = 0x2000; }), status::invalid_argument, "granule", 0x2000));
  CMDQ_CHECK(refused(with([](auto& w) { w.leaf_size = 0x200000; }), status::invalid_argument, "leaf_size", 0x200000));
  CMDQ_CHECK(refused(with([](auto& w) { w.leaf_size = 0x1800; }), status::invalid_argument, "leaf_size", 0x1800));
  CMDQ_CHECK(refused(with([](auto& w) { w.op = opcode::tlbi_nh_all; }), status::invalid_argument, "op", 0x10));
  const uint64_t beyond = (1ULL << 52) + 1;
  CMDQ_CHECK(
      refused(with([&](auto& w) { w.op = opcode::tlbi_s2_ipa, w.end = beyond; }), status::out_of_range, "end", beyond));
  CMDQ_CHECK(range_commands::make(with([&](auto& w) { w.op = opcode::tlbi_s2_ipa, w.end = beyond - 1; })).ok());
}

/// fill() in pieces gives what next() gives.
CMDQ_TEST(range_fill_resumes) {
  const invalidation w{.start = 0x1000, .end = 0x1000 * 101};
  const auto expected = commands_of(w);
  range_commands r = *range_commands::make(w);
  std::vector<command> got;
  command piece[7];
  while (!r.done()) {
    const uint32_t n = r.fill(piece, 7);
    CMDQ_CHECK(n > 0 && n <= 7);
    got.insert(got.end(), piece, piece + n);
  }
  CMDQ_CHECK_EQ(expected.size(), size_t{100});
  CMDQ_CHECK(got == expected);
}
