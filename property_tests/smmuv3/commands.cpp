// SPDX-License-Identifier: BSL-1.0
// Commands against a table of words typed by hand from the field positions of the SMMUv3 specification, and properties
// of encode and decode over any field values and any 16 bytes.
#include <cmdq/smmuv3/commands.hpp>
#include <iterator>
#include <optional>

#include "support/test.hpp"

using namespace cmdq;
using namespace cmdq::smmuv3;

namespace {

/// A command with all its fields at their largest, and the bits that it may use at all.
struct golden {
  opcode op;
  const char* name;
  command full;
  command used;
};

const golden table[] = {
    {opcode::prefetch_config, "PREFETCH_CONFIG", {{0xfffffffffffff801, 0}}, {{0xfffffffffffff8ff, 0}}},
    {opcode::prefetch_addr,
     "PREFETCH_ADDR",
     {{0xfffffffffffff802, 0xfffffffffffff3ff}},
     {{0xfffffffffffff8ff, 0xfffffffffffff3ff}}},
    {opcode::cfgi_ste, "CFGI_STE", {{0xffffffff00000003, 1}}, {{0xffffffff000000ff, 1}}},
    {opcode::cfgi_ste_range, "CFGI_STE_RANGE", {{0xffffffff00000004, 0x1f}}, {{0xffffffff000000ff, 0x1f}}},
    {opcode::cfgi_cd, "CFGI_CD", {{0xfffffffffffff005, 1}}, {{0xfffffffffffff0ff, 1}}},
    {opcode::cfgi_cd_all, "CFGI_CD_ALL", {{0xffffffff00000006, 0}}, {{0xffffffff000000ff, 0}}},
    {opcode::tlbi_nh_all, "TLBI_NH_ALL", {{0x0000ffff00000010, 0}}, {{0x0000ffff000000ff, 0}}},
    {opcode::tlbi_nh_asid, "TLBI_NH_ASID", {{0xffffffff00000011, 0}}, {{0xffffffff000000ff, 0}}},
    {opcode::tlbi_nh_va,
     "TLBI_NH_VA",
     {{0xffffffff01f1f012, 0xffffffffffffff01}},
     {{0xffffffff01f1f0ff, 0xffffffffffffff01}}},
    {opcode::tlbi_nh_vaa,
     "TLBI_NH_VAA",
     {{0x0000ffff01f1f013, 0xffffffffffffff01}},
     {{0x0000ffff01f1f0ff, 0xffffffffffffff01}}},
    {opcode::tlbi_el3_all, "TLBI_EL3_ALL", {{0x18, 0}}, {{0xff, 0}}},
    {opcode::tlbi_el3_va, "TLBI_EL3_VA", {{0x01f1f01a, 0xffffffffffffff01}}, {{0x01f1f0ff, 0xffffffffffffff01}}},
    {opcode::tlbi_el2_all, "TLBI_EL2_ALL", {{0x20, 0}}, {{0xff, 0}}},
    {opcode::tlbi_el2_asid, "TLBI_EL2_ASID", {{0xffff000000000021, 0}}, {{0xffff0000000000ff, 0}}},
    {opcode::tlbi_el2_va,
     "TLBI_EL2_VA",
     {{0xffff000001f1f022, 0xffffffffffffff01}},
     {{0xffff000001f1f0ff, 0xffffffffffffff01}}},
    {opcode::tlbi_s12_vmall, "TLBI_S12_VMALL", {{0x0000ffff00000028, 0}}, {{0x0000ffff000000ff, 0}}},
    {opcode::tlbi_s2_ipa,
     "TLBI_S2_IPA",
     {{0x0000ffff01f1f02a, 0x000fffffffffff01}},
     {{0x0000ffff01f1f0ff, 0x000fffffffffff01}}},
    {opcode::tlbi_nsnh_all, "TLBI_NSNH_ALL", {{0x30, 0}}, {{0xff, 0}}},
    {opcode::atc_inv,
     "ATC_INV",
     {{0xfffffffffffffa40, 0xfffffffffffff034}},
     {{0xfffffffffffffaff, 0xfffffffffffff03f}}},
    {opcode::pri_resp, "PRI_RESP", {{0xfffffffffffff841, 0x21ff}}, {{0xfffffffffffff8ff, 0x31ff}}},
    {opcode::resume, "RESUME", {{0xffffffff00002044, 0xffff}}, {{0xffffffff000030ff, 0xffff}}},
    {opcode::stall_term, "STALL_TERM", {{0xffffffff00000045, 0}}, {{0xffffffff000000ff, 0}}},
    {opcode::sync, "CMD_SYNC", {{0xffffffff0fc02046, 0x000ffffffffffffc}}, {{0xffffffff0fc030ff, 0x000ffffffffffffc}}},
};

/// Where each field is, whatever the command; the two that differ between commands are in moved().
struct place {
  field id;
  uint8_t word, msb, lsb;
};
const place places[] = {
    {field::ssv, 0, 11, 11},     {field::global, 0, 9, 9},    {field::ssid, 0, 31, 12},   {field::sid, 0, 63, 32},
    {field::range, 1, 4, 0},     {field::size, 1, 5, 0},      {field::stride, 1, 9, 5},   {field::grpid, 1, 8, 0},
    {field::resp, 1, 13, 12},    {field::stag, 1, 15, 0},     {field::cs, 0, 13, 12},     {field::msh, 0, 23, 22},
    {field::msiattr, 0, 27, 24}, {field::msidata, 0, 63, 32}, {field::msiaddr, 1, 51, 2}, {field::vmid, 0, 47, 32},
    {field::asid, 0, 63, 48},    {field::num, 0, 16, 12},     {field::scale, 0, 24, 20},  {field::leaf, 1, 0, 0},
    {field::ttl, 1, 9, 8},       {field::tg, 1, 11, 10},      {field::addr, 1, 63, 12},
};

place place_of(opcode op, field f) {
  if (op == opcode::resume && f == field::resp) return {f, 0, 13, 12};
  if (op == opcode::prefetch_addr && f == field::size) return {f, 1, 4, 0};
  if (op == opcode::tlbi_s2_ipa && f == field::addr) return {f, 1, 51, 12};
  for (const place& p : places) {
    if (p.id == f) return p;
  }
  throw test::failure("field without a place");
}

const golden* golden_of(uint8_t op) {
  for (const golden& g : table) {
    if (static_cast<uint8_t>(g.op) == op) return &g;
  }
  return nullptr;
}

template <class T>
T at_maximum() {
  T c;
  const layout* l = find_layout(static_cast<uint8_t>(T::op));
  T::each(c, [l]<class V>(field f, V& v) { v = static_cast<V>(l->find(f)->max()); });
  return c;
}

/// Which field of this command has the bit, or none.
std::optional<field> owner(const layout& l, unsigned word, unsigned bit) {
  for (size_t i = 0; i < l.count; ++i) {
    const place p = place_of(l.op, l.fields[i].id);
    if (p.word == word && p.lsb <= bit && bit <= p.msb) return p.id;
  }
  return std::nullopt;
}

/// The typed struct of T encodes to the golden words and comes back the same.
template <class T>
void check_typed() {
  const golden* g = golden_of(static_cast<uint8_t>(T::op));
  CMDQ_CHECK(g != nullptr);
  const result<command> c = encode(at_maximum<T>());
  CMDQ_CHECK(c.ok());
  CMDQ_CHECK_EQ(c->word[0], g->full.word[0]);
  CMDQ_CHECK_EQ(c->word[1], g->full.word[1]);
  const result<T> back = decode_as<T>(*c);
  CMDQ_CHECK(back.ok());
  CMDQ_CHECK(*encode(*back) == *c);
  CMDQ_CHECK_EQ(encode(T{})->word[0], static_cast<uint64_t>(T::op));
  CMDQ_CHECK_EQ(encode(T{})->word[1], uint64_t{0});
}

any_command any_at_maximum(const layout& l) {
  any_command c;
  c.op = l.op;
  for (size_t i = 0; i < l.count; ++i) c.set(l.fields[i].id, l.fields[i].max());
  return c;
}

uint64_t value_for(const field_bits& f) {
  const uint64_t raw = *rc::gen::arbitrary<uint64_t>();
  const int kind = *rc::gen::inRange(0, 8);
  if (kind == 0) return 0;
  if (kind == 1) return f.max();
  return f.kind == field_kind::address ? raw & f.max() : raw % (f.max() + 1);
}

any_command some_command() {
  const layout& l = layouts[*rc::gen::inRange<size_t>(0, std::size(layouts))];
  any_command c;
  c.op = l.op;
  for (size_t i = 0; i < l.count; ++i) c.set(l.fields[i].id, value_for(l.fields[i]));
  return c;
}

command some_bytes() {
  command c{{*rc::gen::arbitrary<uint64_t>(), *rc::gen::arbitrary<uint64_t>()}};
  const int kind = *rc::gen::inRange(0, 4);
  if (kind == 0) return c;
  const golden& g = table[*rc::gen::inRange<size_t>(0, std::size(table))];
  c.word[0] = (c.word[0] & ~0xffULL) | static_cast<uint64_t>(g.op);
  if (kind >= 2) c.word[0] &= g.used.word[0], c.word[1] &= g.used.word[1];
  if (kind == 3) c.word[*rc::gen::inRange(0, 2)] ^= 1ULL << *rc::gen::inRange(8, 64);
  return c;
}

bool refused(const result<command>& r, status code, const std::string& name, uint64_t value, uint64_t limit) {
  return r.code() == code && r.why().field == name && r.why().value == value && r.why().limit == limit;
}

}  // namespace

/// Golden bits of every command with all fields set; nothing outside them.
CMDQ_TEST(bug_L23_golden_bits) {
  CMDQ_CHECK_EQ(std::size(layouts), std::size(table));
  for (const layout& l : layouts) {
    const golden* g = golden_of(static_cast<uint8_t>(l.op));
    CMDQ_CHECK(g != nullptr);
    CMDQ_CHECK_EQ(std::string(l.name), std::string(g->name));
    const result<command> c = encode(any_at_maximum(l));
    CMDQ_CHECK(c.ok());
    CMDQ_CHECK_EQ(c->word[0], g->full.word[0]);
    CMDQ_CHECK_EQ(c->word[1], g->full.word[1]);
    CMDQ_CHECK_EQ(l.reserved(0), ~g->used.word[0]);
    CMDQ_CHECK_EQ(l.reserved(1), ~g->used.word[1]);
  }
}

/// Each field alone is in its place: clearing it clears these bits and no others.
CMDQ_TEST(bug_L23_each_field_in_its_place) {
  for (const layout& l : layouts) {
    const command full = golden_of(static_cast<uint8_t>(l.op))->full;
    for (size_t i = 0; i < l.count; ++i) {
      const place p = place_of(l.op, l.fields[i].id);
      const result<command> c = encode(any_at_maximum(l).set(p.id, 0));
      CMDQ_CHECK(c.ok());
      const uint64_t mask = (~0ULL >> (63 - (p.msb - p.lsb))) << p.lsb;
      CMDQ_CHECK_EQ(c->word[p.word], full.word[p.word] & ~mask);
      CMDQ_CHECK_EQ(c->word[1 - p.word], full.word[1 - p.word]);
    }
  }
}

CMDQ_TEST(typed_commands_have_golden_bits) {
  check_typed<prefetch_config>();
  check_typed<prefetch_addr>();
  check_typed<cfgi_ste>();
  check_typed<cfgi_ste_range>();
  check_typed<cfgi_cd>();
  check_typed<cfgi_cd_all>();
  check_typed<tlbi_nh_all>();
  check_typed<tlbi_nh_asid>();
  check_typed<tlbi_nh_va>();
  check_typed<tlbi_nh_vaa>();
  check_typed<tlbi_el3_all>();
  check_typed<tlbi_el3_va>();
  check_typed<tlbi_el2_all>();
  check_typed<tlbi_el2_asid>();
  check_typed<tlbi_el2_va>();
  check_typed<tlbi_s12_vmall>();
  check_typed<tlbi_s2_ipa>();
  check_typed<tlbi_nsnh_all>();
  check_typed<atc_inv>();
  check_typed<pri_resp>();
  check_typed<resume>();
  check_typed<stall_term>();
  check_typed<cmd_sync>();
}

/// TLBI_NH_VA carries its VMID; PREFETCH_CONFIG has no address and no size.
CMDQ_TEST(bug_L24_vmid_and_prefetch) {
  CMDQ_CHECK_EQ(encode(tlbi_nh_va{.vmid = 0x1234, .asid = 0x5678})->word[0], 0x5678123400000012ULL);
  any_command c;
  c.op = opcode::prefetch_config;
  CMDQ_CHECK(refused(encode(any_command{c}.set(field::addr, 0x1000)), status::invalid_argument, "addr", 0x1000, 0));
  CMDQ_CHECK(refused(encode(any_command{c}.set(field::size, 1)), status::invalid_argument, "size", 1, 0));
  CMDQ_CHECK(!decode(command{{0x01, 0x1000}}).ok());
}

CMDQ_TEST(decode_of_encode_is_the_same) {
  test::property([] {
    const any_command c = some_command();
    RC_PRE(!illegal_range(c));
    const result<command> words = encode(c);
    CMDQ_CHECK(words.ok());
    const golden* g = golden_of(static_cast<uint8_t>(c.op));
    CMDQ_CHECK_EQ(words->word[0] & ~g->used.word[0], uint64_t{0});
    CMDQ_CHECK_EQ(words->word[1] & ~g->used.word[1], uint64_t{0});
    const result<any_command> back = decode(*words);
    CMDQ_CHECK(back.ok());
    CMDQ_CHECK(*back == c);
  });
}

CMDQ_TEST(any_bytes_decode_or_are_refused) {
  test::property([] {
    const command c = some_bytes();
    const golden* g = golden_of(opcode_of(c.word[0]));
    const result<any_command> any = decode(c);
    if (any.ok()) {
      CMDQ_CHECK(g != nullptr);
      CMDQ_CHECK((c.word[0] & ~g->used.word[0]) == 0 && (c.word[1] & ~g->used.word[1]) == 0);
      CMDQ_CHECK(*encode(*any) == c);
    } else {
      CMDQ_CHECK(any.why().field[0] != '\0');
    }
    if (legal(c)) CMDQ_CHECK(any.ok() || g->op == opcode::resume);
  });
}

/// Every opcode byte with no other bit set: known ones decode, the others are refused by name.
CMDQ_TEST(every_opcode_byte) {
  for (unsigned op = 0; op < 256; ++op) {
    const command c{{op, 0}};
    const golden* g = golden_of(static_cast<uint8_t>(op));
    CMDQ_CHECK_EQ(decode(c).ok(), g != nullptr);
    CMDQ_CHECK_EQ(legal(c), g != nullptr && op != 0x18 && op != 0x1a);
    if (g == nullptr) CMDQ_CHECK(std::string(decode(c).why().field) == "opcode" && decode(c).why().value == op);
  }
}

/// One reserved bit at a time: refused, and the refusal shows the bit.
CMDQ_TEST(each_reserved_bit_is_refused) {
  for (const golden& g : table) {
    for (unsigned word = 0; word < 2; ++word) {
      for (unsigned bit = word == 0 ? 8 : 0; bit < 64; ++bit) {
        command c{{static_cast<uint64_t>(g.op), 0}};
        c.word[word] |= 1ULL << bit;
        if ((g.used.word[word] >> bit & 1) != 0) continue;
        CMDQ_CHECK(!legal(c));
        CMDQ_CHECK_EQ(decode(c).why().value, 1ULL << bit);
        CMDQ_CHECK_EQ(std::string(decode(c).why().field),
                      std::string(word == 0 ? "reserved bits of word 0" : "reserved bits of word 1"));
        CMDQ_CHECK(!owner(*find_layout(static_cast<uint8_t>(g.op)), word, bit).has_value());
      }
    }
  }
}

CMDQ_TEST(out_of_range_is_refused_with_name_and_limit) {
  for (const layout& l : layouts) {
    for (size_t i = 0; i < l.count; ++i) {
      const field_bits& f = l.fields[i];
      any_command c;
      c.op = l.op;
      if (f.kind == field_kind::address) {
        CMDQ_CHECK(refused(encode(c.set(f.id, 1)), status::misaligned, name(f.id), 1, f.alignment()));
        if (f.msb == 63) continue;
      }
      const uint64_t over = f.kind == field_kind::address ? 2ULL << f.msb : f.max() + 1;
      CMDQ_CHECK(refused(encode(c.set(f.id, over)), status::out_of_range, name(f.id), over, f.max()));
    }
  }
  CMDQ_CHECK(refused(encode(tlbi_nh_asid{.vmid = 0x10000}), status::out_of_range, "vmid", 0x10000, 0xffff));
  CMDQ_CHECK(refused(encode(tlbi_nh_va{.num = 32, .tg = 1}), status::out_of_range, "num", 32, 31));
  CMDQ_CHECK(refused(encode(cmd_sync{.cs = 3}), status::out_of_range, "cs", 3, 2));
  CMDQ_CHECK(refused(encode(atc_inv{.size = 53}), status::out_of_range, "size", 53, 52));
  CMDQ_CHECK(refused(encode(pri_resp{.resp = 3}), status::out_of_range, "resp", 3, 2));
  CMDQ_CHECK(refused(encode(cfgi_ste_range{.range = 32}), status::out_of_range, "range", 32, 31));
}

/// What a device answers with CERROR_ILL although no reserved bit is set.
CMDQ_TEST(illegal_values) {
  CMDQ_CHECK(!legal({{0x3046, 0}}));  // CS = 3
  CMDQ_CHECK(legal({{0x2046, 0}}));
  CMDQ_CHECK(!legal({{0x41, 3ULL << 12}}));  // PRI_RESP, RESP = 3
  CMDQ_CHECK(legal({{0x3044, 0}}));          // RESUME, RESP = 3: a retry, the abort bit is ignored
  CMDQ_CHECK(!decode({{0x3044, 0}}).ok());
  CMDQ_CHECK(!legal({{0x40, 53}}));  // ATC_INV, SIZE = 53
  CMDQ_CHECK(legal({{0x40, 52}}));
  CMDQ_CHECK(!legal({{0x18, 0}}) && !legal({{0x1a, 0}}));  // EL3 on the Non-secure queue
  CMDQ_CHECK(encode(tlbi_el3_all{}).ok() && encode(tlbi_el3_va{.addr = 0x1000}).ok());
}

CMDQ_TEST(illegal_ranges) {
  for (const uint64_t op : {0x12, 0x13, 0x22, 0x2a}) {
    for (uint64_t tg = 0; tg < 4; ++tg) {
      for (uint64_t ttl = 0; ttl < 4; ++ttl) {
        const uint64_t word1 = tg << 10 | ttl << 8;
        const bool no_hint = ttl == 0 || (tg == 2 && ttl == 1);
        CMDQ_CHECK_EQ(legal({{op, word1}}), tg == 0 || !no_hint);
        CMDQ_CHECK(legal({{op | 1 << 12, word1}}));
        CMDQ_CHECK(legal({{op | 1 << 20, word1}}));
      }
    }
  }
}

/// 2^32 stream ids need 64 bits.
CMDQ_TEST(config_range_ends_in_64_bits) {
  CMDQ_CHECK_EQ(cfgi_all.first(), uint64_t{0});
  CMDQ_CHECK_EQ(cfgi_all.end(), uint64_t{1} << 32);
  const cfgi_ste_range top{.sid = 0xffffffff, .range = 4};
  CMDQ_CHECK_EQ(top.first(), uint64_t{0xffffffe0});
  CMDQ_CHECK_EQ(top.end(), uint64_t{1} << 32);
}

/// The queue's own builders agree with the table.
CMDQ_TEST(sync_builders_agree) {
  CMDQ_CHECK(*encode(cmd_sync{}) == make_sync(sync_signal::none));
  CMDQ_CHECK(*encode(cmd_sync{.cs = 2}) == make_sync(sync_signal::event));
  test::property([](uint32_t data, uint64_t address) {
    const uint64_t at = address & 0x000ffffffffffffc;
    const cmd_sync c{.cs = 1, .msh = 3, .msiattr = 0xf, .msidata = data, .msiaddr = at};
    CMDQ_CHECK(*encode(c) == make_msi_sync(at, data));
  });
}
