// SPDX-License-Identifier: BSL-1.0
// Between the 16 bytes of a command and its fields by name, in both directions, driven by the table in opcodes.hpp.
// Typed commands are a convenience on top (commands.hpp).
#pragma once

#include <cmdq/core/status.hpp>
#include <cmdq/smmuv3/opcodes.hpp>
#include <cmdq/smmuv3/wire.hpp>

namespace cmdq::smmuv3 {

/// Any command in decoded form: the opcode and a value for every field; 0 for those that the opcode does not have.
struct any_command {
  opcode op = opcode::sync;
  uint64_t values[field_count] = {};

  [[nodiscard]] constexpr uint64_t get(field f) const noexcept { return values[static_cast<size_t>(f)]; }
  constexpr any_command& set(field f, uint64_t value) noexcept {
    values[static_cast<size_t>(f)] = value;
    return *this;
  }
  friend constexpr bool operator==(const any_command&, const any_command&) = default;
};

/// Combinations that the device answers with CERROR_ILL although each field is in range: TG != 0 with NUM = SCALE = 0
/// and no level hint. For a 16 KiB granule TTL = 1 counts as no hint (SMMUv3 4.4.1.1, without IDR5.DS).
constexpr bool illegal_range(const any_command& c) noexcept {
  if (c.get(field::tg) == 0 || c.get(field::num) != 0 || c.get(field::scale) != 0) return false;
  return c.get(field::ttl) == 0 || (c.get(field::tg) == 2 && c.get(field::ttl) == 1);
}

namespace detail {

/// Fields of `c` that are not 0 although the command has no such field, one bit each.
constexpr uint32_t foreign_fields(const layout& l, const any_command& c) noexcept {
  uint32_t set = 0;
  for (size_t i = 0; i < field_count; ++i) set |= static_cast<uint32_t>(c.values[i] != 0) << i;
  return set & ~l.has;
}

constexpr refusal check_values(const layout& l, const any_command& c) noexcept {
  if (const uint32_t foreign = foreign_fields(l, c); foreign != 0) {
    const auto first = static_cast<field>(__builtin_ctz(foreign));
    return {status::invalid_argument, name(first), c.get(first), 0};
  }
  for (size_t i = 0; i < l.count; ++i) {
    const field_bits& f = l.fields[i];
    const uint64_t v = c.get(f.id);
    if ((v & (f.alignment() - 1)) != 0) return {status::misaligned, name(f.id), v, f.alignment()};
    if (v > f.max()) return {status::out_of_range, name(f.id), v, f.max()};
  }
  if (illegal_range(c)) return {status::invalid_argument, "num, scale and ttl with tg != 0", 0, 1};
  return {};
}

constexpr any_command split(const layout& l, const command& c) noexcept {
  any_command out;
  out.op = l.op;
  for (size_t i = 0; i < l.count; ++i) out.set(l.fields[i].id, l.fields[i].get(c.word[l.fields[i].word]));
  return out;
}

}  // namespace detail

/// The 16 bytes of `c`. Errors, with the field's name, the value and the limit: out_of_range (limit: largest value),
/// misaligned (limit: the alignment), invalid_argument for an unknown opcode, a value in a field that this command does
/// not have, or a range that no device accepts (illegal_range). Never waits. Cost: a walk over the opcode's fields.
constexpr result<command> encode(const any_command& c) noexcept {
  const layout* l = find_layout(static_cast<uint8_t>(c.op));
  if (l == nullptr) return refusal{status::invalid_argument, "opcode", static_cast<uint64_t>(c.op), 0};
  if (const refusal why = detail::check_values(*l, c); why.code != status::ok) return why;
  command out{{static_cast<uint64_t>(c.op), 0}};
  for (size_t i = 0; i < l->count; ++i) out.word[l->fields[i].word] |= l->fields[i].put(c.get(l->fields[i].id));
  return out;
}

/// The fields of `c`; decodes exactly what encode() can make. Errors as there, and invalid_argument for reserved bits,
/// with the offending bits as the value. Any 16 bytes are safe. Never waits.
constexpr result<any_command> decode(const command& c) noexcept {
  const layout* l = find_layout(opcode_of(c.word[0]));
  if (l == nullptr) return refusal{status::invalid_argument, "opcode", opcode_of(c.word[0]), 0};
  if (const uint64_t bits = c.word[0] & l->reserved(0)) {
    return refusal{status::invalid_argument, "reserved bits of word 0", bits, 0};
  }
  if (const uint64_t bits = c.word[1] & l->reserved(1)) {
    return refusal{status::invalid_argument, "reserved bits of word 1", bits, 0};
  }
  const any_command out = detail::split(*l, c);
  if (const refusal why = detail::check_values(*l, out); why.code != status::ok) return why;
  return out;
}

/// True when a device that checks all it may check executes `c` on the Non-secure queue; false means CERROR_ILL. Unlike
/// decode() it refuses the EL3 commands and lets RESUME with RESP = 3 pass: that is a retry whose abort bit is ignored
/// (SMMUv3 4.7.1). What depends on identification registers (ATS, PRI, HYP, RIL) is the caller's to add.
constexpr bool legal(const command& c) noexcept {
  const uint8_t op = opcode_of(c.word[0]);
  if (op == static_cast<uint8_t>(opcode::tlbi_el3_all) || op == static_cast<uint8_t>(opcode::tlbi_el3_va)) return false;
  command checked = c;
  if (op == static_cast<uint8_t>(opcode::resume)) checked.word[0] &= ~(3ULL << 12);
  return decode(checked).ok();
}

}  // namespace cmdq::smmuv3
