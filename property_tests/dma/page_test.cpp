// SPDX-License-Identifier: BSL-1.0
#include <cmdq/dma/page_table.hpp>

#include "dma/support.hpp"
#include "support/test.hpp"

using namespace cmdq;
using namespace cmdq::dma;

namespace {
constexpr uint64_t mib = 1 << 20;

struct tiles {
  uint64_t bytes = 0;
  uint64_t huge = 0;
  uint64_t medium = 0;
  uint64_t small = 0;
};

tiles tile(page_policy policy, uint64_t pa, uint64_t bytes) {
  tiles t;
  t.bytes = mapped_bytes(policy, true, pa, bytes);
  for (uint64_t done = 0; done < t.bytes;) {
    const unsigned log2 = page_log2_at(policy, done, pa + done, t.bytes - done);
    CMDQ_CHECK(done % (uint64_t{1} << log2) == 0 && (pa + done) % (uint64_t{1} << log2) == 0);
    CMDQ_CHECK(done + (uint64_t{1} << log2) <= t.bytes);
    (log2 == log2_2m ? t.huge : (log2 == log2_64k ? t.medium : t.small)) += 1;
    done += uint64_t{1} << log2;
  }
  return t;
}
}  // namespace

CMDQ_TEST(policy_by_example) {
  CMDQ_CHECK_EQ(tile({huge_pages::never, false}, 0, 3 * mib).small, 768U);
  CMDQ_CHECK_EQ(tile({huge_pages::never, true}, 0, 3 * mib + 4096).medium, 48U);
  const tiles within = tile({huge_pages::within_size, false}, 0, 3 * mib);
  CMDQ_CHECK_EQ(within.huge, 1U);
  CMDQ_CHECK_EQ(within.small, 256U);
  CMDQ_CHECK_EQ(tile({huge_pages::within_size, true}, 0, 3 * mib).medium, 16U);
  const tiles always = tile({huge_pages::always, false}, 0, 3 * mib);
  CMDQ_CHECK_EQ(always.bytes, 4 * mib);
  CMDQ_CHECK_EQ(always.huge, 2U);
  const tiles apart = tile({huge_pages::always, false}, 4096, 2 * mib);  // memory not aligned: not rounded up
  CMDQ_CHECK_EQ(apart.huge, 0U);
  CMDQ_CHECK_EQ(apart.bytes, 2 * mib);
  CMDQ_CHECK_EQ(mapped_bytes({huge_pages::always, false}, false, 0, 3 * mib), 3 * mib);  // not for untrusted devices
}

CMDQ_TEST(within_size_maps_no_byte_beyond_the_last_small_page) {
  cmdq::test::property([](uint32_t some_bytes, uint8_t pa_pages, bool medium) {
    const uint64_t bytes = some_bytes % (8 * mib) + 1;
    const tiles t = tile({huge_pages::within_size, medium}, uint64_t{pa_pages} << 12, bytes);
    CMDQ_CHECK_EQ(t.bytes, round_up(bytes, 12));
    if (pa_pages == 0) CMDQ_CHECK_EQ(t.huge, round_up(bytes, 12) / (2 * mib));
    CMDQ_CHECK_EQ((t.huge << 21) + (t.medium << 16) + (t.small << 12), t.bytes);
  });
}

CMDQ_TEST(walk_finds_what_was_set_at_every_offset) {
  test::memory mem(1 << 14);
  auto arena = mem.arena();
  page_table<platform::std_atomic> table;
  const uint64_t base = 64 * mib;
  CMDQ_CHECK_EQ(table.init(arena, base, 10), status::ok);
  table.set(base, 512 * mib, log2_2m, {true, true});
  table.set(base + 2 * mib, 16 * mib, log2_64k, {true, false});
  table.set(base + 2 * mib + 65536, 32 * mib, log2_4k, {false, true});
  cmdq::test::property([&](uint32_t somewhere) {
    const uint64_t at = somewhere % (4 * mib);
    const translation t = table.walk(base + at);
    const uint64_t second = at - 2 * mib;
    if (at < 2 * mib) {
      CMDQ_CHECK(t.valid && t.pa == 512 * mib + at && t.page_log2 == log2_2m);
    } else if (second < 65536) {
      CMDQ_CHECK(t.valid && t.pa == 16 * mib + second && t.page_log2 == log2_64k);
    } else if (second < 65536 + 4096) {
      CMDQ_CHECK(t.valid && t.pa == 32 * mib + second - 65536 && t.page_log2 == log2_4k);
    } else {
      CMDQ_CHECK(!t.valid);
    }
  });
  CMDQ_CHECK(!table.walk(base - 1).valid);
  CMDQ_CHECK(!table.walk(base + 4 * mib).valid);
}

CMDQ_TEST(table_knows_where_a_buffer_begins_and_ends) {
  test::memory mem(1 << 13);
  auto arena = mem.arena();
  page_table<platform::std_atomic> table;
  CMDQ_CHECK_EQ(table.init(arena, 0, 10), status::ok);
  for (uint64_t page = 4; page < 8; ++page) table.set(page << 12, page << 12, log2_4k, {page == 4, page == 7});
  table.set(8 << 12, 8 << 12, log2_4k, {true, true});
  for (uint64_t first = 0; first < 12; ++first) {
    for (uint64_t pages = 0; pages < 12; ++pages) {
      const bool buffer = (first == 4 && pages == 4) || (first == 8 && pages == 1);
      CMDQ_CHECK_EQ(pages != 0 && table.buffer_bytes(first << 12) == pages << 12, buffer);
    }
  }
  table.set(1023 << 12, 0, log2_4k, {true, false});  // runs on beyond the end
  CMDQ_CHECK_EQ(table.buffer_bytes(1023 << 12), 0U);
  CMDQ_CHECK_EQ(table.buffer_bytes(~uint64_t{4095}), 0U);
}

CMDQ_TEST(set_up_of_a_table_refuses_what_it_cannot_do) {
  test::memory mem(1 << 12);
  auto arena = mem.arena();
  page_table<platform::std_atomic> table;
  CMDQ_CHECK_EQ(table.init(arena, 4096, 4), status::misaligned);
  CMDQ_CHECK_EQ(table.init(arena, 0, 31), status::out_of_range);
  CMDQ_CHECK_EQ(table.init(arena, 0, 10), status::no_space);
}
