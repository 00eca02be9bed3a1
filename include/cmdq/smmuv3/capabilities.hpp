// SPDX-License-Identifier: BSL-1.0
// What the identification registers say about a device, and what that means for the options of its queue.
#pragma once

#include <cmdq/queue/options.hpp>
#include <cmdq/smmuv3/codec.hpp>
#include <cmdq/smmuv3/quirks.hpp>

namespace cmdq::smmuv3 {

/// IDR0, IDR1, IDR3, IDR5 and IIDR, decoded as far as a command queue cares.
struct capabilities {
  bool gone = false;           ///< reads as ones: nothing is there
  bool coherent = false;       ///< IDR0.COHACC: the device snoops the CPUs' caches
  bool event_signal = false;   ///< IDR0.SEV: a CMD_SYNC can raise an event (wakes WFE)
  bool msi = false;            ///< IDR0.MSI: a CMD_SYNC can write to memory
  bool ats = false;            ///< IDR0.ATS: ATC_INV is meaningful
  bool pri = false;            ///< IDR0.PRI: PRI_RESP is meaningful
  bool hyp = false;            ///< IDR0.HYP: the EL2 invalidations are meaningful
  bool asid16 = false;         ///< IDR0.ASID16: ASIDs of 16 bits, else 8
  bool vmid16 = false;         ///< IDR0.VMID16: VMIDs of 16 bits, else 8
  bool range = false;          ///< IDR3.RIL: TLBI with NUM and SCALE
  bool queues_preset = false;  ///< IDR1.QUEUES_PRESET: base and size cannot be chosen
  uint32_t max_log2_size = 0;  ///< IDR1.CMDQS
  uint32_t output_bits = 0;    ///< IDR5.OAS as a number of address bits
  quirks part;                 ///< by IIDR; parts without a known one add theirs from find_quirk()
};

constexpr capabilities decode_capabilities(uint32_t idr0, uint32_t idr1, uint32_t idr3, uint32_t idr5,
                                           uint32_t iidr) noexcept {
  constexpr uint32_t address_bits[] = {32, 36, 40, 42, 44, 48, 52, 56};
  namespace r = registers;
  capabilities c;
  c.gone = idr0 == device_gone;
  c.coherent = r::idr0::cohacc.get(idr0) != 0;
  c.event_signal = r::idr0::sev.get(idr0) != 0;
  c.msi = r::idr0::msi.get(idr0) != 0;
  c.ats = r::idr0::ats.get(idr0) != 0;
  c.pri = r::idr0::pri.get(idr0) != 0;
  c.hyp = r::idr0::hyp.get(idr0) != 0;
  c.asid16 = r::idr0::asid16.get(idr0) != 0;
  c.vmid16 = r::idr0::vmid16.get(idr0) != 0;
  c.range = r::idr3::ril.get(idr3) != 0;
  c.queues_preset = r::idr1::queues_preset.get(idr1) != 0;
  c.max_log2_size = r::idr1::cmdqs.get(idr1);
  c.output_bits = address_bits[r::idr5::oas.get(idr5)];
  c.part = quirks_of(iidr);
  return c;
}

/// The commands that a driver may put into the queue of this device: legal on a Non-secure queue, not excluded by the
/// part's quirks, and with the feature that they are for.
constexpr opcode_set issuable(const capabilities& c) noexcept {
  opcode_set set;
  for (unsigned op = 0; op < 256; ++op) {
    const command bare{{op, 0}};
    const auto as = static_cast<opcode>(op);
    const bool el2 = as == opcode::tlbi_el2_all || as == opcode::tlbi_el2_asid || as == opcode::tlbi_el2_va;
    const bool excluded = (as == opcode::atc_inv && !c.ats) || (as == opcode::pri_resp && !c.pri) || (el2 && !c.hyp);
    if (excluded || !legal(bare) || !may_issue(c.part, bare)) set.remove(static_cast<uint8_t>(op));
  }
  return set;
}

/// What the queue must know of the device. `prefer_cons` stays only where the part is known for it.
constexpr device_limits limits_of(const capabilities& c) noexcept {
  constexpr uint32_t most = device_limits::most_output_bits;
  device_limits d;
  d.msi = c.msi && !c.part.sync_cs0_only;
  d.coherent = c.coherent;
  d.event = c.event_signal && !c.part.no_sev && !c.part.sync_cs0_only;
  d.range = c.range;
  d.prefer_cons = c.part.prefer_cons;
  d.output_bits = static_cast<uint8_t>(c.output_bits < most ? c.output_bits : most);
  d.asid_bits = c.asid16 ? 16 : 8;
  d.vmid_bits = c.vmid16 ? 16 : 8;
  d.opcodes = issuable(c);
  return d;
}

/// `wanted` with what the device imposes: a smaller ring where IDR1.CMDQS is smaller, no event in CMD_SYNC where there
/// is none or it is unusable, the part's rules for batches, and as options.device what make_plan() and the queue refuse
/// by. Replaces options.device.
constexpr options fit(options wanted, const capabilities& c) noexcept {
  if (wanted.log2_size > c.max_log2_size) wanted.log2_size = c.max_log2_size;
  wanted.device = limits_of(c);
  if (wanted.signal == sync_signal::event && !wanted.device.event) wanted.signal = sync_signal::none;
  if (c.part.batch_limit != 0 && wanted.batch_limit > c.part.batch_limit) wanted.batch_limit = c.part.batch_limit;
  wanted.sync_every_batch = wanted.sync_every_batch || c.part.sync_every_batch || c.part.one_class_per_batch;
  wanted.repeat_invalidations = wanted.repeat_invalidations || c.part.repeat_invalidations;
  return wanted;
}

}  // namespace cmdq::smmuv3
