// SPDX-License-Identifier: BSL-1.0
// Small inputs that once failed, each with the right value.
#include <cmdq/dma/mapper.hpp>
#include <cmdq/model/iotlb.hpp>

#include "dma/smmu_rig.hpp"
#include "dma/support.hpp"
#include "support/test.hpp"

using namespace cmdq;
using namespace cmdq::dma;

namespace {

using P = test::waiting;
constexpr uint64_t kib = 1 << 10;
constexpr uint64_t mib = 1 << 20;
constexpr device small_pages{true, {huge_pages::never, false}};
constexpr device always{true, {huge_pages::always, false}};
constexpr device untrusted{false, {huge_pages::within_size, false}};

template <class Platform = P>
struct world {
  explicit world(const mapper_options& o, std::size_t more = 0)
      : mem((std::size_t{10} << o.iova.log2_pages) + mib / 2 + more) {
    P::waits = 0;
    P::idle = nullptr;
    memory = mem.arena();
    made = map.init(memory, o, tlb);
    tlb.table = &map.table();
  }
  /// First and last byte that the device reaches from `iova` on.
  uint64_t last_reached(uint64_t iova) {
    uint64_t last = 0;
    for (uint64_t at = iova & ~uint64_t{4095}; map.table().walk(at).valid; at += 4096)
      last = map.table().walk(at).pa + 4095;
    return last;
  }
  test::memory mem;
  arena memory;
  test::simple_iotlb<Platform> tlb;
  mapper<Platform, test::simple_iotlb<Platform>> map;
  status made = status::ok;
};

mapper_options space(unsigned log2_pages) {
  mapper_options o;
  o.iova.log2_pages = log2_pages;
  return o;
}

/// The queue on one CPU: whoever waits lets `interrupt` run once, then the device make a step.
struct one_cpu {
  struct config : freestanding_config {
    using platform = P;
  };
  using rig = test::smmu_rig<config>;
  explicit one_cpu(uint32_t cpus) : r(12, cpus, model::device_drive::stepped, {.by_hand = true}) {
    P::waits = 0;
    P::idle = [this] {
      if (interrupt) std::exchange(interrupt, nullptr)();
      r.device.step();
    };
  }
  ~one_cpu() { P::idle = nullptr; }
  rig r;
  std::function<void()> interrupt;
};

}  // namespace

CMDQ_TEST(r40_timer_interrupt_in_add_and_in_flush_all) {
  world<> w(space(8));
  CMDQ_CHECK_EQ(w.map.set_mode(mode::lazy, w.memory, {.cpus = 1, .entries = 1, .period_ns = 1}), status::ok);
  unsigned interrupts = 0;
  w.tlb.before_all = [&] {
    if (++interrupts % 2 == 0) return;  // the handler's own flush
    CMDQ_CHECK(w.map.on_timer(0, P::now_ns() + 1000));
  };
  for (int i = 0; i < 4; ++i) {
    const uint64_t iova = *w.map.map(0, small_pages, 0x1000, 4096);
    CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, iova, 4096), status::ok);  // each second one finds the ring full
  }
  CMDQ_CHECK(interrupts >= 2);
  const uint64_t last = *w.map.map(0, small_pages, 0x1000, 4096);
  CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, last, 4096), status::ok);
  CMDQ_CHECK_EQ(w.map.flush(0), status::ok);
  CMDQ_CHECK_EQ(w.map.deferred_ranges().pending(), 0U);
}

CMDQ_TEST(r41_unmap_from_an_interrupt_in_unmap) {
  one_cpu cpu(1);
  auto& map = cpu.r.map;
  const uint64_t outer = *map.map(0, small_pages, 0x1000, 4096);
  const uint64_t inner = *map.map(0, small_pages, 0x2000, 4096);
  status in_handler = status::timeout;
  cpu.interrupt = [&] { in_handler = map.unmap(0, small_pages, inner, 4096); };
  CMDQ_CHECK_EQ(map.unmap(0, small_pages, outer, 4096), status::ok);
  CMDQ_CHECK_EQ(in_handler, status::ok);
}

CMDQ_TEST(r42_close_leaves_nothing_for_the_next_owner) {
  world<> w(space(8));
  const auto reaches = [&](uint64_t iova) {
    uint64_t pa = 0;
    w.tlb.translate(iova, [&](const translation& t) { pa = t.valid ? t.pa : 0; });
    return pa;
  };
  const uint64_t a = *w.map.map(0, small_pages, 0x1000, 4096);
  const uint64_t b = *w.map.map(0, small_pages, 0x2000, 8192);
  CMDQ_CHECK(reaches(a) == 0x1000 && reaches(b) == 0x2000);
  const refusal why = w.map.close(0);
  CMDQ_CHECK_EQ(why.code, status::invalid_argument);
  CMDQ_CHECK_EQ(std::string(why.field), "mapped buffers");
  CMDQ_CHECK_EQ(why.value, 2U);
  w.tlb.failure = status::timeout;  // the translation of a may be left
  CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, a, 4096), status::timeout);
  CMDQ_CHECK_EQ(w.map.close(0).value, 1U);
  w.tlb.failure = status::ok;
  CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, b, 8192), status::ok);
  CMDQ_CHECK_EQ(w.map.close(0).code, status::ok);
  mapper<P, test::simple_iotlb<P>> next;
  auto memory = w.mem.arena();
  CMDQ_CHECK_EQ(next.init(memory, space(8), w.tlb), status::ok);
  w.tlb.table = &next.table();
  CMDQ_CHECK_EQ(*next.map(0, small_pages, 0x7000, 4096), a);  // same ASID, same IOVA
  CMDQ_CHECK_EQ(reaches(a), 0x7000U);
}

CMDQ_TEST(r43_last_page_of_the_highest_space) {
  mapper_options o = space(4);
  o.input_bits = o.output_bits = 52;
  o.base = (uint64_t{1} << 52) - (uint64_t{16} << 12);
  CMDQ_CHECK_EQ(world<>(o).made, status::misaligned);
  o.iova.log2_pages = 9;
  o.base = (uint64_t{1} << 52) - 2 * mib;
  world<> w(o);
  CMDQ_CHECK_EQ(w.made, status::ok);
  const uint64_t all = *w.map.map(0, small_pages, 0x1000, 511 * 4096);
  const uint64_t last = *w.map.map(0, small_pages, (uint64_t{1} << 52) - 4096, 4096);
  CMDQ_CHECK_EQ(last, (uint64_t{1} << 52) - 4096);
  CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, last, 4096), status::ok);
  CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, all, 511 * 4096), status::ok);
  o.base = 0 - 2 * mib;  // up to 2^64: beyond what a device can translate
  CMDQ_CHECK_EQ(world<>(o).made, status::out_of_range);
}

CMDQ_TEST(r44_base_beyond_the_input_size) {
  for (const uint64_t base : {uint64_t{1} << 60, 0 - 2 * mib, (uint64_t{1} << 48) - 62 * mib}) {
    mapper_options o = space(14);  // 64 MiB
    o.base = base;
    world<> w(o);
    CMDQ_CHECK_EQ(w.made, status::out_of_range);
    CMDQ_CHECK_EQ(std::string(w.map.why().field), "base");
    CMDQ_CHECK_EQ(w.map.why().value, base);
    CMDQ_CHECK_EQ(w.map.why().limit, (uint64_t{1} << 48) - 64 * mib);
  }
  mapper_options o = space(14);
  o.base = (uint64_t{1} << 48) - 64 * mib;
  CMDQ_CHECK_EQ(world<>(o).made, status::ok);
}

CMDQ_TEST(r45_unmap_sizes_that_wrap_or_are_nothing) {
  world<> w(space(8));
  const uint64_t iova = *w.map.map(0, small_pages, 0x1000, 16);
  for (const uint64_t bytes : {uint64_t{0} - 15, uint64_t{0}, ~uint64_t{0}, uint64_t{0} - 4096, uint64_t{0} - iova})
    CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, iova, bytes), status::invalid_argument);
  CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, iova, 16), status::ok);
}

CMDQ_TEST(r46_always_reaches_no_further_than_the_next_2_mib) {
  world<> w(space(12));
  const uint64_t iova = *w.map.map(0, always, 0x1ff000, 4096);
  CMDQ_CHECK_EQ(w.last_reached(iova), 0x1fffffU);
  const device both{false, {huge_pages::always, false}};
  CMDQ_CHECK_EQ(w.last_reached(*w.map.map(0, both, 0x1ff000, 4096)), 0x1fffffU);
  CMDQ_CHECK_EQ(w.last_reached(*w.map.map(0, both, 0x400000, 4096)), 0x400fffU);
  CMDQ_CHECK_EQ(w.last_reached(*w.map.map(0, always, 0x400000, 4096)), 0x5fffffU);
}

CMDQ_TEST(r47_nothing_beyond_the_output_size) {
  world<> w(space(12));
  const auto high = w.map.map(0, always, (uint64_t{1} << 52) - 4096, 4096);
  CMDQ_CHECK_EQ(high.code(), status::out_of_range);
  CMDQ_CHECK_EQ(high.why().limit, uint64_t{1} << 48);
  const uint64_t last = *w.map.map(0, always, (uint64_t{1} << 48) - 4096, 4096);
  CMDQ_CHECK_EQ(w.last_reached(last), (uint64_t{1} << 48) - 1);
  CMDQ_CHECK_EQ(w.map.map(0, always, (uint64_t{1} << 48) - 4096, 4097).code(), status::out_of_range);
}

CMDQ_TEST(r48_untrusted_device_reaches_its_16_bytes_only) {
  test::physical_memory ram(16 * mib, 16 * 4096);
  for (uint64_t pa = ram.pa(); pa < ram.pa() + ram.size(); ++pa) ram.at(pa) = 0xee;
  mapper_options o = space(8);
  const uint64_t pa = 16 * mib + 8 * 4096 + 0x120;
  CMDQ_CHECK_EQ(world<>(o).map.map(0, untrusted, pa, 16).code(), status::no_space);  // by default, without a pool
  o.partial = partial_pages::refuse;
  world<> w(o);
  CMDQ_CHECK_EQ(w.map.map(0, untrusted, pa, 16).code(), status::misaligned);
  CMDQ_CHECK(w.map.map(0, untrusted, 16 * mib + 8 * 4096, 4096).ok());
  CMDQ_CHECK(w.map.map(0, small_pages, pa, 16).ok());
  o.partial = partial_pages::bounce;
  o.pool = ram.pool(4);
  o.view = ram.view();
  world<> b(o);
  for (uint64_t i = 0; i < 16; ++i) ram.at(pa + i) = static_cast<unsigned char>(i);
  const uint64_t iova = *b.map.map(0, untrusted, pa, 16);
  const translation t = b.map.table().walk(iova & ~uint64_t{4095});
  CMDQ_CHECK(t.valid && t.pa < ram.pa() + 4 * 4096);
  for (uint64_t i = 0; i < 4096; ++i) {
    const bool mine = i >= 0x120 && i < 0x130;
    CMDQ_CHECK_EQ(ram.at(t.pa + i), mine ? i - 0x120 : 0);
    ram.at(t.pa + i) = 0x55;  // the device writes where it can
  }
  CMDQ_CHECK_EQ(b.map.unmap(0, untrusted, iova, 16), status::ok);
  for (uint64_t i = 0; i < 16; ++i) CMDQ_CHECK_EQ(ram.at(pa + i), 0x55);
  CMDQ_CHECK(ram.at(pa - 1) == 0xee && ram.at(pa + 16) == 0xee);
  CMDQ_CHECK_EQ(b.map.pool().used_pages(), 0U);
}

CMDQ_TEST(r49_no_flush_for_an_impossible_size) {
  world<> w(space(14));
  CMDQ_CHECK_EQ(w.map.set_mode(mode::lazy, w.memory, {.cpus = 1}), status::ok);
  const uint64_t v = *w.map.map(0, small_pages, 0x1000, 4096);
  CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, v, 4096), status::ok);
  for (const uint64_t bytes : {uint64_t{1} << 40, 64 * mib + 1}) {
    const auto m = w.map.map(0, small_pages, 0, bytes);
    CMDQ_CHECK_EQ(m.code(), status::no_space);
    CMDQ_CHECK_EQ(m.why().limit, 64 * mib);
  }
  const device narrow{true, {huge_pages::never, false}, 22};
  CMDQ_CHECK_EQ(w.map.map(0, narrow, 0, 3 * mib).code(), status::no_space);  // it has 2 MiB to 4 MiB
  CMDQ_CHECK_EQ(w.tlb.all_calls, 0U);
  CMDQ_CHECK(w.map.map(0, small_pages, 0, 64 * mib).ok());  // possible: what is deferred and cached is taken back
  CMDQ_CHECK_EQ(w.tlb.all_calls, 1U);
}

/// With the space used up by what waits for a flush, a buffer of the same size is had whatever others take meanwhile.
CMDQ_TEST(r49_what_a_flush_takes_back_is_the_callers_first) {
  const device narrow{true, {huge_pages::never, false}, 22};  // addresses up to 4 MiB
  for (const device* dev : {&small_pages, &narrow}) {
    world<> w(space(9));  // 2 MiB to 4 MiB
    CMDQ_CHECK_EQ(w.map.set_mode(mode::lazy, w.memory, {.cpus = 1}), status::ok);
    const uint64_t iova = *w.map.map(0, *dev, 0, 2 * mib);
    CMDQ_CHECK_EQ(w.map.unmap(0, *dev, iova, 2 * mib), status::ok);
    CMDQ_CHECK_EQ(*w.map.map(0, *dev, 4 * mib, 2 * mib), iova);
    CMDQ_CHECK_EQ(w.tlb.all_calls, 1U);
    CMDQ_CHECK_EQ(w.map.iova().space().operations(), 3U);  // one that got it, one that failed twice: never given back
    CMDQ_CHECK_EQ(w.map.unmap(0, *dev, iova, 2 * mib), status::ok);
    CMDQ_CHECK_EQ(w.map.close(0).code, status::ok);
    CMDQ_CHECK_EQ(w.map.iova().space().used_pages(), 0U);
  }
}

CMDQ_TEST(r50_size_classes_are_an_option_and_can_be_asked_for) {
  for (const unsigned classes : {6U, 7U}) {
    mapper_options o = space(14);
    o.iova.size_classes = classes;
    world<> w(o, 64 * kib);
    CMDQ_CHECK_EQ(w.map.largest_cached(), classes == 6 ? 128 * kib : 256 * kib);
    const uint64_t before = w.map.iova().space().operations();
    for (int i = 0; i < 1000; ++i) {
      const uint64_t iova = *w.map.map(0, small_pages, 0, 132 * kib);
      CMDQ_CHECK_EQ(w.map.unmap(0, small_pages, iova, 132 * kib), status::ok);
    }
    CMDQ_CHECK_EQ(w.map.iova().space().operations() - before, classes == 6 ? 2000U : 1U);
  }
}

/// 2 MiB less a byte are 512 whole pages: whether they become one must not hang on where the space has room.
CMDQ_TEST(r46_a_buffer_of_512_pages_gets_a_2_mib_page_wherever_it_lies) {
  for (const bool one_page_before : {false, true}) {
    world<> w(space(14));
    const device dev{true, {huge_pages::within_size, false}};
    if (one_page_before) CMDQ_CHECK(w.map.map(0, small_pages, 0, 4096).ok());
    const uint64_t iova = *w.map.map(0, dev, 512 * mib, 2 * mib - 1);
    CMDQ_CHECK_EQ(w.map.table().walk(iova).page_log2, log2_2m);
    CMDQ_CHECK_EQ(w.last_reached(iova), 514 * mib - 1);
    // Nor what an untrusted device must not reach.
    const device exact{false, {huge_pages::within_size, false}};
    CMDQ_CHECK_EQ(w.map.map(0, exact, 512 * mib, 2 * mib - 1).code(), status::no_space);
  }
}

CMDQ_TEST(r51_buffers_of_2_mib_and_4_kib_fill_the_space) {
  for (const huge_pages huge : {huge_pages::never, huge_pages::within_size}) {
    world<> w(space(18));  // 1 GiB
    const device dev{true, {huge, false}};
    uint64_t mapped = 0;
    uint64_t with_huge = 0;
    for (auto m = w.map.map(0, dev, 512 * mib, 2 * mib + 4 * kib); m.ok();
         m = w.map.map(0, dev, 512 * mib, 2 * mib + 4 * kib)) {
      mapped += 2 * mib + 4 * kib;
      with_huge += w.map.table().walk(*m).page_log2 == log2_2m ? 1 : 0;
    }
    CMDQ_CHECK(mapped * 100 >= 1024 * mib * (huge == huge_pages::never ? 99 : 94));
    CMDQ_CHECK_EQ(with_huge, huge == huge_pages::never ? 0U : 25U);  // as many as 5 % of holes allow
  }
}

CMDQ_TEST(r51_lazy_buffers_keep_2_mib_pages_for_a_flush_now_and_then) {
  const device dev{true, {huge_pages::within_size, false}};
  for (const std::size_t live : {0U, 24U}) {
    world<> w(space(18), 64 * kib);  // 5 % of holes: 25 buffers
    CMDQ_CHECK_EQ(w.map.set_mode(mode::lazy, w.memory, {.cpus = 1, .entries = 1000}), status::ok);
    std::vector<uint64_t> held;
    while (held.size() < live) held.push_back(*w.map.map(0, dev, 512 * mib, 2 * mib + 4 * kib));
    unsigned with_huge = 0;
    for (unsigned i = 0; i < 200; ++i) {
      const uint64_t iova = *w.map.map(0, dev, 512 * mib, 2 * mib + 4 * kib);
      with_huge += w.map.table().walk(iova).page_log2 == log2_2m ? 1 : 0;
      CMDQ_CHECK_EQ(w.map.unmap(0, dev, iova, 2 * mib + 4 * kib), status::ok);
    }
    // What still is mapped gives no flush a reason: one hole is left then.
    CMDQ_CHECK_EQ(with_huge, live == 0 ? 200U : 1U);
    CMDQ_CHECK_EQ(w.tlb.all_calls, live == 0 ? 7U : 0U);
    for (const uint64_t iova : held) CMDQ_CHECK_EQ(w.map.unmap(0, dev, iova, 2 * mib + 4 * kib), status::ok);
    CMDQ_CHECK_EQ(w.map.close(0).code, status::ok);
    CMDQ_CHECK_EQ(w.map.iova().space().used_pages(), 0U);
  }
}

CMDQ_TEST(r52_a_full_batch_that_fails_and_the_next_buffer_are_told_apart) {
  world<> w(space(10));
  gather batch;
  std::vector<uint64_t> iova;
  for (uint64_t i = 0; i < 40; ++i) iova.push_back(*w.map.map(0, small_pages, i << 13, 4096));
  // Every second one: no two of them are neighbours, so the batch is full by its runs.
  uint32_t in_batch = 0;
  for (uint64_t i = 0; i < 40; i += 2) {
    CMDQ_CHECK(w.map.unmap(0, small_pages, iova[i], 4096, batch).ok());
    ++in_batch;
  }
  while (batch.has_room()) {
    iova.push_back(*w.map.map(0, small_pages, 0, 4096));
    static_cast<void>(*w.map.map(0, small_pages, 0, 4096));
    CMDQ_CHECK(w.map.unmap(0, small_pages, iova.back(), 4096, batch).ok());
    ++in_batch;
  }
  w.tlb.failure = status::timeout;
  const gather_outcome o = w.map.unmap(0, small_pages, iova[1], 4096, batch);
  CMDQ_CHECK_EQ(o.earlier, status::timeout);
  CMDQ_CHECK_EQ(o.code, status::ok);
  CMDQ_CHECK_EQ(w.map.lost_ranges(), in_batch);
  CMDQ_CHECK_EQ(batch.block_count(), 1U);
  w.tlb.failure = status::ok;
  const gather_outcome wrong = w.map.unmap(0, small_pages, iova[0], 4096, batch);
  CMDQ_CHECK(wrong.earlier == status::ok && wrong.code == status::invalid_argument);
  CMDQ_CHECK_EQ(w.map.sync(0, batch), status::ok);
}

CMDQ_TEST(r53_reserved_ranges_and_devices_that_address_32_bits) {
  mapper_options o = space(12);
  o.base = (uint64_t{1} << 32) - 8 * mib;  // 8 MiB on either side
  world<> w(o);
  const uint64_t doorbell = (uint64_t{1} << 32) - 7 * mib;
  CMDQ_CHECK_EQ(w.map.reserve(doorbell + 0x40, 64 * kib), status::ok);
  CMDQ_CHECK_EQ(w.map.reserve(doorbell, 1), status::invalid_argument);  // twice
  CMDQ_CHECK_EQ(w.map.reserve(0, 4096), status::ok);                    // outside: never given out anyway
  CMDQ_CHECK_EQ(w.map.reserve(doorbell, 0), status::invalid_argument);
  const device narrow{true, {huge_pages::never, false}, 32};
  CMDQ_CHECK(*w.map.map(0, small_pages, 0, 4096) >= uint64_t{1} << 32);  // leaves the low half to who needs it
  uint64_t low_pages = 0;
  for (auto m = w.map.map(0, narrow, 0, 4096); m.ok(); m = w.map.map(0, narrow, 0, 4096)) {
    CMDQ_CHECK(*m + 4096 <= uint64_t{1} << 32);
    CMDQ_CHECK(*m + 4096 <= doorbell || *m >= doorbell + 68 * kib);
    ++low_pages;
  }
  CMDQ_CHECK_EQ(low_pages, 2048U - 17);
  CMDQ_CHECK(w.map.map(0, small_pages, 0, 4096).ok());
  const device nothing{true, {}, 31};
  const auto none = w.map.map(0, nothing, 0, 4096);
  CMDQ_CHECK_EQ(none.code(), status::out_of_range);
  CMDQ_CHECK_EQ(std::string(none.why().field), "address_bits");
  CMDQ_CHECK(mapper_options{}.base < uint64_t{1} << 32);  // as shipped, a 32-bit device finds addresses
}

CMDQ_TEST(r54_a_guests_combined_entries_go_with_the_stage_2_range) {
  const auto ipa = uint64_t{64} << 12;
  for (const stage of : {stage::two, stage::nested}) {
    std::vector<command> log;
    test::smmu_rig<default_config> r(12, 1, model::device_drive::in_write,
                                     {.log = &log, .space = {.vmid = 9, .ril = true, .of = of}});
    model::iotlb<> caches;
    model::tlb_entry stage2{model::regime::stage2, 9};
    model::tlb_entry combined{model::regime::combined, 9, 5};
    combined.address = 0x7777'0000'0000;  // the guest's VA for it
    const uint64_t iova = *r.map.map(0, small_pages, ipa, 4096);
    stage2.address = iova;
    caches.fill(stage2);
    caches.fill(combined);
    log.clear();
    CMDQ_CHECK_EQ(r.map.unmap(0, small_pages, iova, 4096), status::ok);
    for (const command& c : log)
      if (const auto decoded = smmuv3::decode(c); decoded.ok()) caches.apply(*decoded);
    CMDQ_CHECK(!caches.holds(stage2));
    CMDQ_CHECK_EQ(caches.holds(combined), of == stage::two);
    std::vector<uint8_t> opcodes;
    for (const command& c : log) opcodes.push_back(opcode_of(c.word[0]));
    // Between the two a CMD_SYNC: before it a walk may still make a combined entry from the old stage 2.
    const std::vector<uint8_t> wanted =
        of == stage::two ? std::vector<uint8_t>{0x2a, 0x46} : std::vector<uint8_t>{0x2a, 0x46, 0x10, 0x46};
    CMDQ_CHECK(opcodes == wanted);
    log.clear();
    CMDQ_CHECK_EQ(r.map.close(0).code, status::ok);
    CMDQ_CHECK(log[0] == *smmuv3::encode(smmuv3::tlbi_s12_vmall{.vmid = 9}));
  }
}
