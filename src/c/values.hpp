// SPDX-License-Identifier: BSL-1.0
// Values of the C interface and those of the library, in both directions.
#pragma once

#include <cmdq/c/cmdq.h>
#include <cmdq/queue/command_queue.hpp>
#include <cmdq/smmuv3/codec.hpp>

namespace cmdq::c {

static_assert(static_cast<int>(status::no_space) == CMDQ_NO_SPACE &&
                  static_cast<int>(status::expired) == CMDQ_EXPIRED &&
                  static_cast<int>(status::too_many_producers) == CMDQ_TOO_MANY_PRODUCERS,
              "enum cmdq_status and cmdq::status are in one order");
static_assert(sizeof(cmdq_command) == sizeof(command) && alignof(cmdq_command) == alignof(command));
static_assert(sizeof(cmdq_ticket) == sizeof(ticket));

constexpr cmdq_status to_c(status s) noexcept { return static_cast<cmdq_status>(s); }
constexpr cmdq_refusal to_c(const refusal& r) noexcept { return {to_c(r.code), r.field, r.value, r.limit}; }
constexpr cmdq_outcome to_c(const outcome& o) noexcept { return {to_c(o.code), o.inserted, o.done, o.lists, o.first}; }
constexpr cmdq_error_report to_c(const error_report& r) noexcept {
  return {to_c(r.code), r.handled, r.again, r.others, to_c(r.left)};
}
constexpr cmdq_ticket to_c(const ticket& t) noexcept { return {{t.start, t.end, t.done_at, t.entered}}; }
constexpr ticket of_c(const cmdq_ticket& t) noexcept { return {t.hidden[0], t.hidden[1], t.hidden[2], t.hidden[3]}; }

/// The same bytes under another name. `command` is two words and nothing else, which is what the C program wrote.
inline const command* of_c(const cmdq_command* list) noexcept { return reinterpret_cast<const command*>(list); }

constexpr cmdq_limits to_c(const device_limits& d) noexcept {
  return {d.msi,       d.coherent,    d.event,
          d.range,     d.prefer_cons, d.output_bits,
          d.asid_bits, d.vmid_bits,   {d.opcodes.bits[0], d.opcodes.bits[1], d.opcodes.bits[2], d.opcodes.bits[3]}};
}
constexpr device_limits of_c(const cmdq_limits& l) noexcept {
  device_limits d;
  d.msi = l.msi;
  d.coherent = l.coherent;
  d.event = l.event;
  d.range = l.range;
  d.prefer_cons = l.prefer_cons;
  d.output_bits = l.output_bits;
  d.asid_bits = l.asid_bits;
  d.vmid_bits = l.vmid_bits;
  for (unsigned i = 0; i < 4; ++i) d.opcodes.bits[i] = l.opcodes[i];
  return d;
}

constexpr cmdq_options to_c(const options& o) noexcept {
  return {o.log2_size,
          o.batch_limit,
          o.producers,
          o.deadline_ns,
          static_cast<cmdq_sync_signal>(o.signal),
          o.fetch_retries,
          o.groups,
          o.cpus_per_group,
          o.first,
          o.sync_every_batch,
          o.repeat_invalidations,
          to_c(o.device)};
}
constexpr options of_c(const cmdq_options& c) noexcept {
  options o;
  o.log2_size = c.log2_size;
  o.batch_limit = c.batch_limit;
  o.producers = c.producers;
  o.deadline_ns = c.deadline_ns;
  o.signal = static_cast<sync_signal>(c.signal);
  o.fetch_retries = c.fetch_retries;
  o.groups = c.groups;
  o.cpus_per_group = c.cpus_per_group;
  o.first = c.first;
  o.sync_every_batch = c.sync_every_batch;
  o.repeat_invalidations = c.repeat_invalidations;
  o.device = of_c(c.device);
  return o;
}

constexpr smmuv3::any_command of_c(const cmdq_fields& f) noexcept {
  using smmuv3::field;
  smmuv3::any_command c;
  c.op = static_cast<smmuv3::opcode>(f.op);
  const struct {
    field id;
    uint64_t value;
  } given[] = {{field::ssv, f.ssv},     {field::global, f.global}, {field::ssid, f.ssid},   {field::sid, f.sid},
               {field::range, f.range}, {field::size, f.size},     {field::grpid, f.grpid}, {field::resp, f.resp},
               {field::stag, f.stag},   {field::vmid, f.vmid},     {field::asid, f.asid},   {field::num, f.num},
               {field::scale, f.scale}, {field::leaf, f.leaf},     {field::ttl, f.ttl},     {field::tg, f.tg},
               {field::addr, f.addr}};
  for (const auto& g : given) c.set(g.id, g.value);
  return c;
}

}  // namespace cmdq::c
