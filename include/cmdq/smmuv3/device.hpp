// SPDX-License-Identifier: BSL-1.0
// The command-queue side of an SMMUv3: bring-up, capabilities, and the five register accesses that the queue asks of a
// `device_type`. Stream tables, event queues and interrupts are the driver's own business and are not touched.
#pragma once

#include <cmdq/core/position.hpp>
#include <cmdq/core/registers.hpp>
#include <cmdq/core/status.hpp>
#include <cmdq/platform/concepts.hpp>
#include <cmdq/platform/mmio.hpp>

namespace cmdq::smmuv3 {

/// Offsets in register page 0 and the fields used here (SMMUv3 chapter 6).
namespace reg {
inline constexpr uint32_t idr0 = 0x00, idr1 = 0x04, idr3 = 0x0c, idr5 = 0x14, iidr = 0x18;
inline constexpr uint32_t cr0 = 0x20, cr0ack = 0x24, cr1 = 0x28, cr2 = 0x2c;
inline constexpr uint32_t gerror = 0x60, gerrorn = 0x64;
inline constexpr uint32_t cmdq_base = 0x90, cmdq_prod = 0x98, cmdq_cons = 0x9c;
inline constexpr uint32_t cr0_cmdqen = 1U << 3;
inline constexpr uint64_t base_read_allocate = 1ULL << 62;
}  // namespace reg

/// What the identification registers say, decoded.
struct capabilities {
  bool coherent = false;        ///< IDR0.COHACC: the device snoops the CPUs' caches
  bool event_signal = false;    ///< IDR0.SEV: CMD_SYNC can raise an event (wakes WFE)
  bool msi = false;             ///< IDR0.MSI: CMD_SYNC can write to memory
  bool ats = false;             ///< IDR0.ATS: ATC_INV is meaningful
  bool pri = false;             ///< IDR0.PRI
  bool range = false;           ///< IDR3.RIL: TLBI with NUM and SCALE
  bool queues_preset = false;   ///< IDR1.QUEUES_PRESET: base and size cannot be chosen
  uint32_t max_log2_size = 0;   ///< IDR1.CMDQS
  uint32_t output_bits = 0;     ///< IDR5.OAS as a number of address bits
  uint32_t implementation = 0;  ///< IIDR as read: the key of the quirk table
};

constexpr capabilities decode_capabilities(uint32_t idr0, uint32_t idr1, uint32_t idr3, uint32_t idr5,
                                           uint32_t iidr) noexcept {
  constexpr uint32_t address_bits[] = {32, 36, 40, 42, 44, 48, 52, 56};
  const auto bit = [](uint32_t word, unsigned n) { return ((word >> n) & 1U) != 0; };
  capabilities c;
  c.coherent = bit(idr0, 4);
  c.event_signal = bit(idr0, 14);
  c.msi = bit(idr0, 13);
  c.ats = bit(idr0, 10);
  c.pri = bit(idr0, 16);
  c.range = bit(idr3, 10);
  c.queues_preset = bit(idr1, 29);
  c.max_log2_size = (idr1 >> 21) & 31U;
  c.output_bits = address_bits[idr5 & 7U];
  c.implementation = iidr;
  return c;
}

/// Bring-up parameters.
struct setup {
  uint64_t queue_base = 0;  ///< device address of the ring, aligned to its size
  uint32_t queue_log2 = 0;  ///< log2 of its entries, 2..min(19, IDR1.CMDQS)
  /// CR1: tables and queues inner shareable, write-back (0xd75); 0 for a device that does not snoop.
  uint32_t cr1 = 0xd75;
  /// CR2: PTM (no broadcast TLB maintenance from the CPUs) and RECINVSID (bad stream ids are recorded).
  uint32_t cr2 = 6;
  uint64_t timeout_ns = 100000000;  ///< one budget for all steps
};

/// The device. `Registers` and `Barriers` are policies (cmdq/platform/mmio.hpp).
template <class Registers = platform::mmio64, class Barriers = platform::io_barriers>
requires platform::register_block<Registers>
class device {
 public:
  constexpr explicit device(Registers registers) noexcept : registers_(registers) {}

  /// CMDQ_PROD. What was stored before is visible to the device. Cost: one barrier, one posted write.
  void write_prod(uint32_t v) noexcept {
    Barriers::before_write();
    registers_.write32(reg::cmdq_prod, v);
  }
  /// CMDQ_CONS with ERR. What the device wrote before it moved is visible after. Cost: one uncached read, one barrier.
  [[nodiscard]] uint32_t read_cons() noexcept {
    const uint32_t v = registers_.read32(reg::cmdq_cons);
    Barriers::after_read();
    return v;
  }
  /// GERROR: an error is active while its bit differs from GERRORN's. Cost: one uncached read, one barrier.
  [[nodiscard]] uint32_t read_gerror() noexcept {
    const uint32_t v = registers_.read32(reg::gerror);
    Barriers::after_read();
    return v;
  }
  [[nodiscard]] uint32_t read_gerrorn() noexcept { return registers_.read32(reg::gerrorn); }
  /// GERRORN: acknowledges. The repaired entries are visible to the device when it resumes.
  void write_gerrorn(uint32_t v) noexcept {
    Barriers::before_write();
    registers_.write32(reg::gerrorn, v);
  }

  /// Identification registers. Five reads.
  [[nodiscard]] capabilities read_capabilities() noexcept {
    const uint32_t idr0 = registers_.read32(reg::idr0);
    const uint32_t idr1 = registers_.read32(reg::idr1);
    const uint32_t idr3 = registers_.read32(reg::idr3);
    const uint32_t idr5 = registers_.read32(reg::idr5);
    return decode_capabilities(idr0, idr1, idr3, idr5, registers_.read32(reg::iidr));
  }

  /// Takes the device from any state to "consumes commands, translates nothing": disable and wait for CR0ACK, CR1, CR2,
  /// CMDQ_BASE, PROD = CONS = 0, acknowledge old errors, CMDQEN and wait again (SMMUv3 section 6.3.9: CR0 holds when
  /// CR0ACK shows it; base and indices are writable only while CMDQEN = 0). The ring's content must be ready; nothing
  /// may use the queue meanwhile. Stale configuration and TLB entries survive: invalidate first thing.
  /// Errors: device_fault (reads as ones, or queues preset), out_of_range, misaligned, timeout; why() names the
  /// register, what it held and what it should have held. Ends within `timeout_ns` of P's clock.
  template <platform_type P>
  result<capabilities> bring_up(const setup& s) noexcept {
    const uint64_t start = P::now_ns();
    const capabilities c = read_capabilities();
    if (const refusal why = check(s, c); why.code != status::ok) return why;
    (void)registers_.read32(reg::cr0);
    if (const refusal why = write_cr0<P>(0, start, s.timeout_ns); why.code != status::ok) return why;
    registers_.write32(reg::cr1, s.cr1);
    registers_.write32(reg::cr2, s.cr2);
    registers_.write64(reg::cmdq_base, reg::base_read_allocate | s.queue_base | s.queue_log2);
    registers_.write32(reg::cmdq_prod, 0);
    registers_.write32(reg::cmdq_cons, 0);
    if (active_errors() != 0) write_gerrorn(read_gerror());
    if (const refusal why = write_cr0<P>(reg::cr0_cmdqen, start, s.timeout_ns); why.code != status::ok) return why;
    return c;
  }

  /// Stops or restarts consumption, the rest of CR0 unchanged. The indices stay. Errors: timeout, device_fault.
  template <platform_type P>
  status set_consuming(bool on, uint64_t timeout_ns) noexcept {
    const uint32_t others = registers_.read32(reg::cr0) & ~reg::cr0_cmdqen;
    return write_cr0<P>(on ? others | reg::cr0_cmdqen : others, P::now_ns(), timeout_ns).code;
  }

  /// Bits of cmdq::gerror that are active now. CMDQ_ERR is the queue's to repair; the others are for the driver's
  /// GERROR handler. SFM means that the device has stopped for good.
  [[nodiscard]] uint32_t active_errors() noexcept { return (read_gerror() ^ read_gerrorn()) & gerror::mask; }

  /// For the driver's GERROR interrupt: acknowledges every active error but CMDQ_ERR and SFM, and returns all that were
  /// active. GERRORN is shared with the queue's own repair: call it where the two cannot overlap.
  uint32_t acknowledge_others() noexcept {
    const uint32_t seen = read_gerror();
    const uint32_t acknowledged = read_gerrorn();
    const uint32_t active = (seen ^ acknowledged) & gerror::mask;
    const uint32_t mine = active & ~(gerror::cmdq_err | gerror::sfm);
    if (mine != 0) write_gerrorn(acknowledged ^ mine);
    return active;
  }

 private:
  static refusal check(const setup& s, const capabilities& c) noexcept {
    const uint32_t largest = c.max_log2_size < max_log2_size ? c.max_log2_size : max_log2_size;
    if (c.implementation == device_gone && c.max_log2_size == 31)
      return {status::device_fault, "IDR1 (the device reads as ones)", device_gone, 0};
    if (c.queues_preset) return {status::device_fault, "IDR1.QUEUES_PRESET", 1, 0};
    if (s.queue_log2 < min_log2_size) return {status::out_of_range, "queue_log2", s.queue_log2, min_log2_size};
    if (s.queue_log2 > largest) return {status::out_of_range, "queue_log2", s.queue_log2, largest};
    const uint64_t bytes = uint64_t{16} << s.queue_log2;
    if ((s.queue_base & (bytes - 1)) != 0) return {status::misaligned, "queue_base", s.queue_base, bytes};
    const uint64_t reach = uint64_t{1} << c.output_bits;
    if (s.queue_base >= reach) return {status::out_of_range, "queue_base", s.queue_base, reach - bytes};
    return {};
  }

  template <platform_type P>
  refusal write_cr0(uint32_t v, uint64_t start, uint64_t timeout_ns) noexcept {
    Barriers::before_write();
    registers_.write32(reg::cr0, v);
    for (unsigned round = 0;; ++round) {
      const uint32_t ack = registers_.read32(reg::cr0ack);
      Barriers::after_read();
      if (ack == v) return {};
      if (ack == device_gone) return {status::device_fault, "CR0ACK", ack, v};
      if (P::now_ns() - start >= timeout_ns) return {status::timeout, "CR0ACK", ack, v};
      P::pause(nullptr, round);
    }
  }

  Registers registers_;
};

static_assert(device_type<device<>>);

}  // namespace cmdq::smmuv3
