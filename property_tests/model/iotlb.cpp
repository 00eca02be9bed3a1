// SPDX-License-Identifier: BSL-1.0
// The IOTLB against brute force: a reference that walks pages one by one and shares no arithmetic with the model.
#include <cmdq/model/iotlb.hpp>
#include <set>

#include "rig.hpp"

using namespace cmdq;
using namespace cmdq::test;
using model::regime;
using model::tlb_entry;
using smmuv3::any_command;
using smmuv3::field;
using smmuv3::opcode;

namespace {

unsigned bits_per_level(unsigned granule) { return granule == 12 ? 9 : granule == 14 ? 11 : 13; }

/// Every 4 KiB page that the descriptor covers, within the small space of these tests (2^20 pages).
bool holds_page(const tlb_entry& e, uint64_t page) {
  uint64_t pages = 1ULL << (e.granule_log2 - 12);
  for (unsigned level = e.level; level < 3; ++level) pages <<= bits_per_level(e.granule_log2);
  const uint64_t first = e.address >> 12;
  return page >= first && page - first < pages;
}

/// The 4 KiB pages that the command names, by walking its range granule by granule.
std::vector<uint64_t> named_pages(const any_command& c) {
  std::vector<uint64_t> pages;
  const uint64_t first = c.get(field::addr) >> 12;
  if (c.get(field::tg) == 0) return {first};
  const uint64_t per_granule = c.get(field::tg) == 1 ? 1 : c.get(field::tg) == 2 ? 4 : 16;
  uint64_t granules = c.get(field::num) + 1;
  for (uint64_t s = 0; s < c.get(field::scale); ++s) granules += granules;
  for (uint64_t i = 0; i < granules * per_granule; ++i) pages.push_back(first + i);
  return pages;
}

bool by_address(opcode op) {
  return op == opcode::tlbi_nh_va || op == opcode::tlbi_nh_vaa || op == opcode::tlbi_s2_ipa ||
         op == opcode::tlbi_el2_va;
}

/// The rules in the words of the facts, one property of the entry after the other.
bool reference(const any_command& c, const tlb_entry& e, bool e2h) {
  std::set<opcode> reach;
  if (e.where == regime::stage1 || e.where == regime::combined)
    reach = {opcode::tlbi_nsnh_all, opcode::tlbi_s12_vmall, opcode::tlbi_nh_all,
             opcode::tlbi_nh_asid,  opcode::tlbi_nh_va,     opcode::tlbi_nh_vaa};
  if (e.where == regime::stage2) reach = {opcode::tlbi_nsnh_all, opcode::tlbi_s12_vmall, opcode::tlbi_s2_ipa};
  if (e.where == regime::el2) reach = {opcode::tlbi_el2_all, opcode::tlbi_el2_asid, opcode::tlbi_el2_va};
  if (reach.count(c.op) == 0) return false;
  if (e.where != regime::el2 && c.op != opcode::tlbi_nsnh_all && e.vmid != c.get(field::vmid)) return false;
  const bool names_asid = c.op == opcode::tlbi_nh_asid || c.op == opcode::tlbi_nh_va ||
                          ((c.op == opcode::tlbi_el2_asid || c.op == opcode::tlbi_el2_va) && e2h);
  if (names_asid) {
    if (e.global && !by_address(c.op)) return false;
    if (!e.global && e.asid != c.get(field::asid)) return false;
  }
  if (!by_address(c.op)) return true;
  if (e.table && c.get(field::leaf) == 1) return false;
  if (c.get(field::tg) != 0) {
    const unsigned granule[] = {0, 12, 14, 16};
    if (granule[c.get(field::tg)] != e.granule_log2) return false;
    const bool no_hint = c.get(field::ttl) == 0 || (c.get(field::ttl) == 1 && c.get(field::tg) == 2);
    if (!no_hint && !e.table && e.level != c.get(field::ttl)) return false;
  }
  for (const uint64_t page : named_pages(c))
    if (holds_page(e, page)) return true;
  return false;
}

tlb_entry any_entry() {
  tlb_entry e;
  e.where = *rc::gen::weightedElement<regime>(
      {{4, regime::stage1}, {1, regime::stage2}, {1, regime::combined}, {1, regime::el2}});
  e.vmid = *rc::gen::inRange<uint16_t>(0, 2);
  e.asid = *rc::gen::inRange<uint16_t>(0, 2);
  e.global = e.where != regime::stage2 && *rc::gen::weightedElement<bool>({{3, false}, {1, true}});
  e.table = *rc::gen::weightedElement<bool>({{2, false}, {1, true}});
  e.granule_log2 = *rc::gen::weightedElement<uint8_t>({{4, 12}, {1, 14}, {1, 16}});
  e.level = *rc::gen::weightedElement<uint8_t>({{3, 3}, {2, 2}, {1, 1}});
  const uint64_t page = *rc::gen::inRange<uint64_t>(0, 4096);
  const unsigned log2 = e.granule_log2 + (3u - e.level) * bits_per_level(e.granule_log2);
  e.address = (page << 12) >> log2 << log2;
  return e;
}

any_command any_tlbi() {
  any_command c;
  c.op = *rc::gen::weightedElement<opcode>({{8, opcode::tlbi_nh_va},
                                            {4, opcode::tlbi_nh_vaa},
                                            {2, opcode::tlbi_s2_ipa},
                                            {2, opcode::tlbi_el2_va},
                                            {1, opcode::tlbi_nsnh_all},
                                            {1, opcode::tlbi_s12_vmall},
                                            {1, opcode::tlbi_nh_all},
                                            {1, opcode::tlbi_nh_asid},
                                            {1, opcode::tlbi_el2_all},
                                            {1, opcode::tlbi_el2_asid},
                                            {1, opcode::atc_inv},
                                            {1, opcode::cfgi_ste}});
  const smmuv3::layout* l = smmuv3::find_layout(static_cast<uint8_t>(c.op));
  const auto set = [&](field f, uint64_t v) {
    if (l->find(f) != nullptr) c.set(f, v);
  };
  set(field::vmid, *rc::gen::inRange<uint64_t>(0, 2));
  set(field::asid, *rc::gen::inRange<uint64_t>(0, 2));
  set(field::leaf, *rc::gen::inRange<uint64_t>(0, 2));
  set(field::addr, *rc::gen::inRange<uint64_t>(0, 4096) << 12);
  if (c.op != opcode::atc_inv && *rc::gen::arbitrary<bool>()) {
    set(field::tg, *rc::gen::weightedElement<uint64_t>({{4, 1}, {1, 2}, {1, 3}}));
    set(field::num, *rc::gen::inRange<uint64_t>(0, 32));
    set(field::scale, *rc::gen::inRange<uint64_t>(0, 5));
    set(field::ttl, *rc::gen::inRange<uint64_t>(0, 4));
  }
  return c;
}

}  // namespace

CMDQ_TEST(iotlb_equals_brute_force) {
  property([] {
    model::iotlb<64> tlb;
    std::vector<tlb_entry> entries;
    const auto count = *rc::gen::inRange<size_t>(1, 20);
    for (size_t i = 0; i < count; ++i) {
      entries.push_back(any_entry());
      tlb.fill(entries.back());
    }
    const any_command c = any_tlbi();
    const bool e2h = *rc::gen::arbitrary<bool>();
    const uint32_t before = tlb.size();
    uint32_t expected = 0;
    for (const tlb_entry& e : entries) expected += reference(c, e, e2h) ? 1 : 0;
    CMDQ_CHECK_EQ(tlb.apply(c, e2h), expected);
    CMDQ_CHECK_EQ(tlb.size(), before - expected);
    for (const tlb_entry& e : entries) CMDQ_CHECK_EQ(tlb.holds(e), !reference(c, e, e2h));
  });
}

CMDQ_TEST(range_invalidation_covers_exactly_its_pages) {
  for (uint64_t num = 0; num < 32; ++num) {
    for (uint64_t scale = 0; scale < 5; ++scale) {
      any_command c;
      c.op = opcode::tlbi_nh_va;
      c.set(field::tg, 1).set(field::num, num).set(field::scale, scale).set(field::ttl, 3).set(field::addr, 100 << 12);
      const uint64_t pages = (num + 1) << scale;
      for (const uint64_t page : {99ULL, 100ULL, 100ULL + pages - 1, 100ULL + pages}) {
        const tlb_entry e{.address = page << 12};
        CMDQ_CHECK_EQ(model::invalidates(c, e, false), page >= 100 && page < 100 + pages);
      }
    }
  }
}

CMDQ_TEST(range_at_the_top_of_the_address_space) {
  any_command c;
  c.op = opcode::tlbi_nh_va;
  c.set(field::tg, 3).set(field::num, 31).set(field::scale, 31).set(field::addr, 0xffff'ffff'ffff'f000);
  CMDQ_CHECK_EQ(model::span_of(c).last, ~0ULL);
  CMDQ_CHECK(model::invalidates(c, {.granule_log2 = 16, .address = 0xffff'ffff'ffff'0000}, false));
  CMDQ_CHECK(!model::invalidates(c, {.granule_log2 = 16, .address = 0}, false));
}

CMDQ_TEST(bug_L25_block_entry_needs_ttl_0) {
  const tlb_entry block{.level = 2, .address = 0x200000};
  any_command c;
  c.op = opcode::tlbi_nh_va;
  c.set(field::tg, 1).set(field::num, 1).set(field::addr, 0x200000);
  CMDQ_CHECK(model::invalidates(c, block, false));
  c.set(field::ttl, 3);  // the hint says page: the block entry stays
  CMDQ_CHECK(!model::invalidates(c, block, false));
}

CMDQ_TEST(bug_L70_leaf_0_drops_walks) {
  for (const uint64_t leaf : {0u, 1u}) {
    model::iotlb<> tlb;
    const tlb_entry page{.address = 0x5000};
    const tlb_entry walk{.table = true, .level = 2, .address = 0};
    tlb.fill(page);
    tlb.fill(walk);
    any_command c;
    c.op = opcode::tlbi_nh_va;
    c.set(field::leaf, leaf).set(field::addr, 0x5000);
    tlb.apply(c);
    CMDQ_CHECK(!tlb.holds(page));
    CMDQ_CHECK_EQ(tlb.holds(walk), leaf == 1);
  }
}

CMDQ_TEST(cache_replaces_the_oldest) {
  model::cache<int, 3> c;
  for (int i = 0; i < 5; ++i) c.fill(i);
  CMDQ_CHECK_EQ(c.size(), 3u);
  for (int i = 0; i < 5; ++i) CMDQ_CHECK_EQ(c.any([=](int v) { return v == i; }), i >= 2);
  CMDQ_CHECK_EQ(c.drop([](int v) { return v == 3; }), 1u);
  CMDQ_CHECK_EQ(c.size(), 2u);
}
