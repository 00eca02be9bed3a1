// SPDX-License-Identifier: BSL-1.0
// What a device reaches, against what was promised: the oracle walks the page table over the whole space and knows
// nothing of how mappings are made. Buffers, scatter lists, parts, coherent memory, bounce pages.
#include <cmdq/dma/mapper.hpp>
#include <numeric>
#include <set>

#include "dma/support.hpp"
#include "support/test.hpp"

using namespace cmdq;
using namespace cmdq::dma;

namespace {

using P = test::counted;
constexpr uint64_t page = 4096;
constexpr uint64_t mib = 1 << 20;
constexpr uint32_t pool_pages = 32;
constexpr uint64_t ram_pa = 256 * mib;
constexpr std::size_t ram_bytes = (pool_pages + 64) * page;
constexpr uint64_t buffers_pa = ram_pa + pool_pages * page;  ///< memory for buffers, behind the pool

struct world {
  explicit world(partial_pages partial = partial_pages::bounce, unsigned log2_pages = 12)
      : ram(ram_pa, ram_bytes), mem((std::size_t{10} << log2_pages) + mib / 2) {
    P::reset();
    memory = mem.arena();
    mapper_options o;
    o.iova.log2_pages = log2_pages;
    o.iova.hole_percent = 100;
    o.partial = partial;
    o.pool = ram.pool(pool_pages);
    o.view = ram.view();
    CMDQ_CHECK_EQ(map.init(memory, o, tlb), status::ok);
    tlb.table = &map.table();
  }
  /// Physical 4 KiB pages that the device reaches now.
  std::multiset<uint64_t> reached() {
    std::multiset<uint64_t> pages;
    const auto& t = map.table();
    for (uint64_t at = t.base(); at < t.base() + t.bytes(); at += page)
      if (const translation x = t.walk(at); x.valid) pages.insert(x.pa);
    return pages;
  }
  [[nodiscard]] static bool in_pool(uint64_t pa) { return pa >= ram_pa && pa < buffers_pa; }
  /// What the device reads at `iova`.
  unsigned char& byte(uint64_t iova) {
    const translation t = map.table().walk(iova);
    CMDQ_CHECK(t.valid);
    return ram.at(t.pa);
  }
  test::physical_memory ram;
  test::memory mem;
  arena memory;
  test::simple_iotlb<P> tlb;
  mapper<P, test::simple_iotlb<P>> map;
};

constexpr device trusted{true, {huge_pages::never, false}};
constexpr device untrusted{false, {huge_pages::within_size, false}};

/// The promise for a buffer, page by page, from the words of page_policy and partial_pages.
std::multiset<uint64_t> promised(const device& dev, bool exposed, uint64_t pa, uint64_t bytes, uint64_t& bounced) {
  std::multiset<uint64_t> pages;
  const uint64_t end = pa + bytes;
  uint64_t reach = (end + page - 1) / page * page;
  if (dev.trusted && dev.pages.huge == huge_pages::always && pa % (2 * mib) == 0)
    reach = (end + 2 * mib - 1) / (2 * mib) * (2 * mib);
  for (uint64_t at = pa / page * page; at < reach; at += page) {
    const bool whole = at >= pa && at + page <= end;
    if (dev.trusted || exposed || whole) {
      pages.insert(at);
    } else {
      ++bounced;
    }
  }
  return pages;
}

/// Segments somewhere in the memory for buffers, apart or touching, never overlapping.
std::vector<segment> some_list(const std::vector<uint16_t>& cuts) {
  std::vector<segment> list;
  uint64_t at = buffers_pa;
  for (const uint16_t cut : cuts) {
    const uint64_t gap = (cut & 3) == 0 ? cut / 4 % 5000 : ((cut & 3) == 1 ? (page - at % page) % page : 0);
    const uint64_t bytes = (cut & 12) == 0 ? page : cut / 16 % 3000 + 1;
    if (at + gap + bytes > ram_pa + ram_bytes) break;
    list.push_back({at + gap, bytes});
    at += gap + bytes;
  }
  return list;
}

}  // namespace

CMDQ_TEST(reachable_pages_are_the_promised_ones) {
  cmdq::test::property([](uint32_t where, uint32_t size, uint8_t kind, bool expose) {
    world w(expose ? partial_pages::expose : partial_pages::bounce);
    const device dev{(kind & 16) != 0, {static_cast<huge_pages>(kind % 3), (kind & 8) != 0}};
    // Small buffers in memory that can be copied, large ones anywhere, also up to the last byte of the output size.
    const bool small = (kind & 32) != 0;
    const uint64_t bytes = small ? size % (20 * page) + 1 : size % (7 * mib) + 1;
    uint64_t pa =
        small ? buffers_pa + where % (40 * page) : (uint64_t{where} << 16) / (2 * mib) * (2 * mib) + 1024 * mib;
    if (!small && (kind & 64) != 0) pa = (uint64_t{1} << 48) - bytes;
    const bool copies = !dev.trusted && !expose;
    if (!small && copies) pa = pa / page * page;
    const uint64_t used = !small && copies ? std::max(bytes / page * page, page) : bytes;
    uint64_t bounced = 0;
    const auto wanted = promised(dev, expose, pa, used, bounced);
    const auto iova = w.map.map(0, dev, pa, used);
    if (pa + used > uint64_t{1} << 48) {
      CMDQ_CHECK_EQ(iova.code(), status::out_of_range);
      CMDQ_CHECK(w.reached().empty());
      return;
    }
    CMDQ_CHECK(iova.ok());
    std::multiset<uint64_t> direct;
    uint64_t in_pool = 0;
    for (const uint64_t p : w.reached()) {
      if (world::in_pool(p)) {
        ++in_pool;
      } else {
        direct.insert(p);
      }
    }
    CMDQ_CHECK(direct == wanted);
    CMDQ_CHECK_EQ(in_pool, bounced);
    CMDQ_CHECK_EQ(w.map.unmap(0, dev, *iova, used), status::ok);
    CMDQ_CHECK(w.reached().empty());
    CMDQ_CHECK_EQ(w.map.pool().used_pages(), 0U);
  });
}

CMDQ_TEST(untrusted_device_that_writes_everywhere_changes_its_buffers_only) {
  cmdq::test::property([](const std::vector<uint16_t>& cuts, uint8_t some_way) {
    const std::vector<segment> list = some_list(cuts);
    RC_PRE(!list.empty());
    const auto way = static_cast<direction>(some_way % 3);
    world w;
    for (uint64_t pa = ram_pa; pa < ram_pa + ram_bytes; ++pa)
      w.ram.at(pa) = static_cast<unsigned char>(pa * 7 + pa / page);
    std::vector<segment> out(list.size());
    const auto n = w.map.map_sg(0, untrusted, list.data(), static_cast<uint32_t>(list.size()), out.data(), way);
    if (!n.ok()) {
      CMDQ_CHECK_EQ(n.code(), status::no_space);
      CMDQ_CHECK(w.reached().empty());
      CMDQ_CHECK_EQ(w.map.pool().used_pages(), 0U);
      return;
    }
    // The device reads its buffers, in order, and in bounce pages nothing else.
    uint32_t seg = 0;
    uint64_t offset = 0;
    for (const segment& s : list) {
      for (uint64_t i = 0; i < s.bytes; ++i) {
        if (offset == out[seg].bytes) ++seg, offset = 0;
        if (w.byte(out[seg].address + offset) != w.ram.at(s.address + i)) CMDQ_CHECK(!"the device reads its buffers");
        ++offset;
      }
    }
    CMDQ_CHECK(seg + 1 == *n && offset == out[seg].bytes);
    const auto contents = [&] {
      const unsigned char* const first = &w.ram.at(buffers_pa);
      return std::vector<unsigned char>(first, first + (ram_pa + ram_bytes - buffers_pa));
    };
    std::vector<unsigned char> wanted = contents();
    for (const uint64_t p : w.reached())
      for (uint64_t i = 0; i < page; ++i) w.ram.at(p + i) = 0x5a;
    // To the device only: what it wrote to bounce pages is dropped, whole pages are its own to spoil.
    const std::vector<unsigned char> spoilt = contents();
    for (const segment& s : list)
      for (uint64_t i = s.address - buffers_pa; i < s.address - buffers_pa + s.bytes; ++i)
        wanted[i] = way == direction::to_device ? spoilt[i] : 0x5a;
    CMDQ_CHECK_EQ(w.map.unmap_sg(0, untrusted, out.data(), *n), status::ok);
    CMDQ_CHECK(contents() == wanted);
    CMDQ_CHECK_EQ(w.map.pool().used_pages(), 0U);
    CMDQ_CHECK_EQ(w.tlb.range_calls, 1U);
  });
}

CMDQ_TEST(scatter_list_keeps_its_order_and_joins_what_meets) {
  cmdq::test::property([](const std::vector<uint16_t>& cuts, uint16_t most) {
    const std::vector<segment> list = some_list(cuts);
    RC_PRE(!list.empty());
    world w;
    device dev = trusted;
    dev.most_per_segment = most % 4 == 0 ? ~uint64_t{0} : most;
    std::vector<segment> out = list;  // in place
    const auto n = w.map.map_sg(0, dev, out.data(), static_cast<uint32_t>(out.size()), out.data());
    CMDQ_CHECK(n.ok());
    uint32_t seg = 0;
    uint64_t offset = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const segment& s = list[i];
      if (offset == out[seg].bytes) {
        // A new segment: only where the addresses do not meet, or the device takes no more at once.
        const segment& last = list[i - 1];
        const uint64_t last_end = last.address + last.bytes;
        const bool meet = last_end == s.address || (last_end % page == 0 && s.address % page == 0);
        CMDQ_CHECK(!meet || out[seg].bytes + s.bytes > dev.most_per_segment);
        ++seg;
        offset = 0;
      }
      for (uint64_t at = 0; at < s.bytes; at += 1 + at / 64) {
        CMDQ_CHECK_EQ(w.map.table().walk(out[seg].address + offset + at).pa, s.address + at);
      }
      offset += s.bytes;
      CMDQ_CHECK(out[seg].bytes <= dev.most_per_segment || out[seg].bytes == s.bytes);
    }
    CMDQ_CHECK_EQ(seg + 1, *n);
    CMDQ_CHECK_EQ(w.map.unmap_sg(0, dev, out.data(), *n), status::ok);
    CMDQ_CHECK_EQ(w.map.close(0).code, status::ok);
    CMDQ_CHECK_EQ(w.map.iova().space().used_pages(), 0U);
  });
}

CMDQ_TEST(bad_scatter_lists_are_refused_and_change_nothing) {
  world w;
  segment out[3];
  const segment good{buffers_pa, 100};
  const segment lists[][2] = {{good, {buffers_pa + page, 0}},
                              {good, {(uint64_t{1} << 48) - 10, 11}},
                              {good, {~uint64_t{0}, 2}},
                              {good, {buffers_pa + page, uint64_t{1} << 47}},
                              {good, {ram_pa + page, 16}}};  // memory of the pool
  for (const auto& list : lists) CMDQ_CHECK(!w.map.map_sg(0, untrusted, list, 2, out).ok());
  CMDQ_CHECK_EQ(w.map.map_sg(0, trusted, nullptr, 1, out).code(), status::invalid_argument);
  CMDQ_CHECK_EQ(w.map.map_sg(0, trusted, &good, 0, out).code(), status::invalid_argument);
  CMDQ_CHECK_EQ(w.map.map_sg(0, trusted, &good, 1, nullptr).code(), status::invalid_argument);
  CMDQ_CHECK(w.reached().empty());
  CMDQ_CHECK_EQ(w.map.pool().used_pages(), 0U);
  const segment two[] = {good, {buffers_pa + 2 * page, page}};
  const uint32_t n = *w.map.map_sg(0, trusted, two, 2, out);
  CMDQ_CHECK_EQ(n, 2U);
  CMDQ_CHECK_EQ(w.map.unmap_sg(0, trusted, out, 1), status::invalid_argument);
  CMDQ_CHECK_EQ(w.map.unmap_sg(0, trusted, out, 0), status::invalid_argument);
  std::swap(out[0], out[1]);
  CMDQ_CHECK_EQ(w.map.unmap_sg(0, trusted, out, 2), status::invalid_argument);
  std::swap(out[0], out[1]);
  CMDQ_CHECK_EQ(w.map.unmap_sg(0, trusted, out, 2), status::ok);
}

CMDQ_TEST(long_list_of_mixed_pages_is_invalidated_whole) {
  world w(partial_pages::bounce, 16);
  std::vector<segment> list;
  const device dev{true, {huge_pages::within_size, false}};
  for (uint64_t i = 0; i < 20; ++i) {  // 2 MiB pages and small ones in turn: 40 runs, more than a gather holds
    list.push_back({(1024 + 4 * i) * mib, 2 * mib});
    list.push_back({(512 + 4 * i) * mib, 2 * mib - page * (i % 3)});
    if (i % 3 != 0) list.push_back({(768 + 4 * i) * mib, page * (i % 3)});
  }
  std::vector<segment> out(list.size());
  const auto n = w.map.map_sg(0, dev, list.data(), static_cast<uint32_t>(list.size()), out.data());
  CMDQ_CHECK(n.ok());
  const auto& t = w.map.table();
  for (uint64_t at = t.base(); at < t.base() + t.bytes(); at += page) w.tlb.translate(at, [](const translation&) {});
  CMDQ_CHECK_EQ(w.map.unmap_sg(0, dev, out.data(), *n), status::ok);
  CMDQ_CHECK_EQ(w.tlb.range_calls, 1U);
  CMDQ_CHECK(w.tlb.last_runs.size() <= gather::max_runs);
  for (uint64_t at = t.base(); at < t.base() + t.bytes(); at += page) CMDQ_CHECK(!w.tlb.holds(at));
}

CMDQ_TEST(parts_of_a_buffer_go_at_once_and_its_addresses_stay) {
  world w;
  const uint64_t iova = *w.map.map(0, trusted, buffers_pa, 8 * page);
  for (uint64_t i = 0; i < 8; ++i) w.tlb.translate(iova + i * page, [](const translation&) {});
  CMDQ_CHECK_EQ(w.map.unmap_part(0, iova + 2 * page, 3 * page), status::ok);
  for (uint64_t i = 0; i < 8; ++i) {
    const bool gone = i >= 2 && i < 5;
    CMDQ_CHECK_EQ(w.map.table().walk(iova + i * page).valid, !gone);
    CMDQ_CHECK_EQ(w.tlb.holds(iova + i * page), !gone);
  }
  CMDQ_CHECK_EQ(w.map.unmap_part(0, iova + 4 * page, page), status::invalid_argument);  // gone already
  CMDQ_CHECK_EQ(w.map.unmap_part(0, iova + 7 * page, 2 * page), status::invalid_argument);
  CMDQ_CHECK_EQ(w.map.unmap_part(0, iova + 7 * page, page - 1), status::misaligned);
  CMDQ_CHECK_EQ(w.map.unmap_part(0, iova + 1, page), status::misaligned);
  CMDQ_CHECK_EQ(w.map.unmap_part(0, iova, 0), status::invalid_argument);
  CMDQ_CHECK_EQ(w.map.unmap_part(0, ~uint64_t{4095}, page), status::invalid_argument);
  for (int i = 0; i < 20; ++i) CMDQ_CHECK(*w.map.map(0, trusted, buffers_pa, page) >= iova + 8 * page);  // not reused
  CMDQ_CHECK_EQ(w.map.close(0).value, 21U);  // still a buffer
  CMDQ_CHECK_EQ(w.map.unmap(0, trusted, iova, 8 * page), status::ok);
  CMDQ_CHECK_EQ(w.map.unmap(0, trusted, iova, 8 * page), status::invalid_argument);
  const device huge{true, {huge_pages::within_size, false}};
  const uint64_t large = *w.map.map(0, huge, 1024 * mib, 2 * mib + 2 * page);
  CMDQ_CHECK_EQ(w.map.unmap_part(0, large + page, page), status::misaligned);
  CMDQ_CHECK_EQ(w.map.unmap_part(0, large, page), status::misaligned);
  CMDQ_CHECK_EQ(w.map.unmap_part(0, large, 2 * mib + page), status::ok);
  CMDQ_CHECK(w.map.table().walk(large + 2 * mib + page).valid);
}

CMDQ_TEST(part_with_a_bounce_page_is_copied_back_once) {
  world w;
  const uint64_t pa = buffers_pa + 100;
  const uint64_t iova = *w.map.map(0, untrusted, pa, 2 * page);  // three pages, the outer ones bounced
  w.byte(iova) = 1;
  CMDQ_CHECK_EQ(w.map.unmap_part(0, iova - 100, page), status::ok);
  CMDQ_CHECK_EQ(+w.ram.at(pa), 1);
  w.ram.at(pa) = 2;  // the CPU's again
  CMDQ_CHECK_EQ(w.map.unmap(0, untrusted, iova, 2 * page), status::ok);
  CMDQ_CHECK_EQ(+w.ram.at(pa), 2);
}

CMDQ_TEST(failed_part_is_invalidated_with_the_buffer) {
  world w;
  const uint64_t iova = *w.map.map(0, trusted, buffers_pa, 2 * page);
  w.tlb.translate(iova, [](const translation&) {});
  w.tlb.failure = status::timeout;
  CMDQ_CHECK_EQ(w.map.unmap_part(0, iova, page), status::timeout);
  w.tlb.failure = status::ok;
  CMDQ_CHECK(w.tlb.holds(iova));
  CMDQ_CHECK_EQ(w.map.unmap(0, trusted, iova, 2 * page), status::ok);
  CMDQ_CHECK(!w.tlb.holds(iova));
}

CMDQ_TEST(sync_copies_what_is_asked_and_bounced) {
  world w;
  const uint64_t pa = buffers_pa + 50;
  for (uint64_t i = 0; i < 3 * page; ++i) w.ram.at(buffers_pa + i) = 1;
  const uint64_t iova = *w.map.map(0, untrusted, pa, page + 100);  // two pages, both bounced
  for (uint64_t i = 0; i < page + 100; ++i) w.ram.at(pa + i) = 2;
  CMDQ_CHECK_EQ(+w.byte(iova), 1);  // the device does not see it yet
  CMDQ_CHECK_EQ(w.map.sync_for_device(0, untrusted, iova + 10, page), status::ok);
  for (uint64_t i = 0; i < page + 100; ++i) CMDQ_CHECK_EQ(+w.byte(iova + i), i >= 10 && i < 10 + page ? 2 : 1);
  for (uint64_t i = 0; i < page + 100; ++i) w.byte(iova + i) = 3;
  CMDQ_CHECK_EQ(w.map.sync_for_cpu(0, untrusted, iova + 20, 30), status::ok);
  for (uint64_t i = 0; i < page + 100; ++i) CMDQ_CHECK_EQ(+w.ram.at(pa + i), i >= 20 && i < 50 ? 3 : 2);
  CMDQ_CHECK(w.ram.at(pa - 1) == 1 && w.ram.at(pa + page + 100) == 1);
  CMDQ_CHECK_EQ(w.map.sync_for_cpu(0, untrusted, iova + 16 * page, 1), status::invalid_argument);
  CMDQ_CHECK_EQ(w.map.sync_for_cpu(0, untrusted, iova, 0), status::invalid_argument);
  CMDQ_CHECK_EQ(w.map.sync_for_cpu(0, trusted, iova, page), status::ok);  // coherent: nothing to do
  CMDQ_CHECK_EQ(w.map.unmap(0, untrusted, iova, page + 100), status::ok);
}

CMDQ_TEST(coherent_memory_is_zeroed_whole_pages_of_its_own) {
  world w;
  const auto dirty = *w.map.alloc(0, untrusted, 3 * page);
  for (uint64_t i = 0; i < dirty.bytes; ++i) static_cast<unsigned char*>(dirty.memory)[i] = 0xff;
  w.tlb.translate(dirty.iova, [](const translation&) {});
  CMDQ_CHECK_EQ(w.map.free(0, untrusted, dirty), status::ok);
  CMDQ_CHECK(!w.tlb.holds(dirty.iova));
  CMDQ_CHECK_EQ(w.map.free(0, untrusted, dirty), status::invalid_argument);
  const auto a = *w.map.alloc(0, untrusted, 100);
  const auto b = *w.map.alloc(0, untrusted, 2 * page + 1);
  CMDQ_CHECK(a.bytes == page && b.bytes == 3 * page);
  for (uint64_t i = 0; i < b.bytes; ++i) {
    CMDQ_CHECK_EQ(+static_cast<unsigned char*>(b.memory)[i], 0);
    CMDQ_CHECK_EQ(&w.byte(b.iova + i), static_cast<unsigned char*>(b.memory) + i);
  }
  const auto reached = w.reached();
  CMDQ_CHECK(reached.size() == 4 && std::set<uint64_t>(reached.begin(), reached.end()).size() == 4);
  CMDQ_CHECK_EQ(w.map.alloc(0, untrusted, (pool_pages - 3) * page).code(), status::no_space);
  CMDQ_CHECK_EQ(w.map.alloc(0, untrusted, 0).code(), status::no_space);
  CMDQ_CHECK_EQ(w.map.free(0, untrusted, {a.memory, b.iova, b.bytes}), status::invalid_argument);
  const uint64_t other = *w.map.map(0, trusted, buffers_pa, page);
  CMDQ_CHECK_EQ(w.map.free(0, trusted, {a.memory, other, page}), status::invalid_argument);
  w.tlb.failure = status::timeout;
  CMDQ_CHECK_EQ(w.map.free(0, untrusted, b), status::timeout);
  w.tlb.failure = status::ok;
  CMDQ_CHECK_EQ(w.map.free(0, untrusted, a), status::ok);
  CMDQ_CHECK_EQ(w.map.pool().used_pages(), 3U);  // the device may still write to b's
}

CMDQ_TEST(bounce_pages_of_a_failed_unmap_are_not_used_again) {
  world w;
  const uint64_t iova = *w.map.map(0, untrusted, buffers_pa + 1, 10);
  w.tlb.failure = status::timeout;
  CMDQ_CHECK_EQ(w.map.unmap(0, untrusted, iova, 10), status::timeout);
  w.tlb.failure = status::ok;
  CMDQ_CHECK_EQ(w.map.pool().used_pages(), 1U);
  uint64_t more = 0;
  while (w.map.map(0, untrusted, buffers_pa + 1, 10).ok()) ++more;
  CMDQ_CHECK_EQ(more, pool_pages - 1);
  CMDQ_CHECK_EQ(w.map.map(0, untrusted, buffers_pa + 1, 10).why().code, status::no_space);
}

CMDQ_TEST(buffer_of_an_untrusted_device_is_strict_whatever_its_unmap_says) {
  world w;
  CMDQ_CHECK_EQ(w.map.set_mode(mode::lazy, w.memory, {}), status::ok);
  const uint64_t iova = *w.map.map(0, untrusted, buffers_pa + 1, 10);
  w.byte(iova) = 9;
  CMDQ_CHECK_EQ(w.map.unmap(0, trusted, iova, 10), status::ok);  // a driver's mistake
  CMDQ_CHECK_EQ(+w.ram.at(buffers_pa + 1), 9);
  CMDQ_CHECK_EQ(w.map.pool().used_pages(), 0U);
}

CMDQ_TEST(arguments_at_all_extremes_are_refused_or_right) {
  world w(partial_pages::refuse);
  const auto extreme = [] {
    const auto near =
        rc::gen::map(rc::gen::pair(rc::gen::inRange(0, 65), rc::gen::inRange(-5000, 5000)), [](const auto& p) {
          return (p.first == 64 ? 0 : uint64_t{1} << p.first) + static_cast<uint64_t>(int64_t{p.second});
        });
    return *rc::gen::oneOf(near, rc::gen::arbitrary<uint64_t>());
  };
  cmdq::test::property([&] {
    const device dev{*rc::gen::arbitrary<bool>(), {static_cast<huge_pages>(*rc::gen::inRange(0, 3)), false}};
    const uint64_t pa = extreme();
    const uint64_t bytes = extreme();
    const auto m = w.map.map(0, dev, pa, bytes);
    constexpr uint64_t end = uint64_t{1} << 48;
    const bool whole = pa % page == 0 && bytes % page == 0;
    const bool fits = bytes != 0 && pa < end && bytes <= end - pa;
    const bool room = bytes + pa % page <= w.map.table().bytes();
    const bool pool = pa < buffers_pa && pa + bytes > ram_pa;
    CMDQ_CHECK_EQ(m.ok(), fits && room && !pool && (dev.trusted || whole));
    if (m.ok()) {
      CMDQ_CHECK(w.map.table().walk(*m + bytes - 1).pa == pa + bytes - 1);
      CMDQ_CHECK_EQ(w.map.unmap(0, dev, *m, bytes), status::ok);
    }
    CMDQ_CHECK_EQ(w.map.unmap(0, dev, extreme(), extreme()), status::invalid_argument);
    CMDQ_CHECK(w.map.unmap_part(0, extreme(), extreme()) != status::ok);
    CMDQ_CHECK(w.map.sync_for_cpu(0, untrusted, extreme(), extreme()) != status::ok);
    CMDQ_CHECK(w.reached().empty());
  });
}

CMDQ_TEST(set_up_refuses_options_that_no_device_can_keep) {
  const auto refused = [](const mapper_options& o, status code, const std::string& field) {
    test::memory mem(mib);
    auto memory = mem.arena();
    test::simple_iotlb<P> tlb;
    mapper<P, test::simple_iotlb<P>> m;
    CMDQ_CHECK_EQ(m.init(memory, o, tlb), code);
    CMDQ_CHECK_EQ(std::string(m.why().field), field);
  };
  mapper_options o;
  o.iova.log2_pages = 10;
  auto bad = o;
  bad.input_bits = 53;
  refused(bad, status::out_of_range, "input_bits");
  bad.input_bits = 31;
  refused(bad, status::out_of_range, "input_bits");
  bad = o;
  bad.output_bits = 64;
  refused(bad, status::out_of_range, "output_bits");
  bad = o;
  bad.iova.log2_pages = 31;
  refused(bad, status::out_of_range, "log2_pages");
  bad = o;
  bad.base = 1;
  refused(bad, status::misaligned, "base");
  bad = o;
  bad.iova.log2_pages = 25;
  bad.input_bits = 36;  // a space of 2^37
  refused(bad, status::out_of_range, "base");
  static unsigned char block[page];
  bad = o;
  bad.pool = {block, (uint64_t{1} << 48) - page, 2};
  refused(bad, status::out_of_range, "pool.pa");
  bad.pool = {block, page + 1, 1};
  refused(bad, status::misaligned, "pool");
  bad.pool = {nullptr, page, 1};
  refused(bad, status::invalid_argument, "pool");
  bad = o;
  bad.iova.cpus = 0;
  refused(bad, status::out_of_range, "iova");
}
