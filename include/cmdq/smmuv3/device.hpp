// SPDX-License-Identifier: BSL-1.0
// The command-queue side of an SMMUv3: bring-up, capabilities, and the five register accesses that the queue asks of a
// `device_type`. Stream tables, event queues and interrupts are the driver's own business and are not touched.
#pragma once

#include <cmdq/platform/mmio.hpp>
#include <cmdq/smmuv3/capabilities.hpp>
#include <cmdq/smmuv3/device_type.hpp>

namespace cmdq::smmuv3 {

namespace offset = registers::offset;

/// What becomes of a device that already translates, for somebody before us: firmware, a kernel that crashed.
enum class takeover : uint8_t {
  /// CR0 is cleared, and traffic meets what GBPA says, after a reset mostly a bypass: for a device that nobody uses.
  clear,
  /// Translation, event and PRI queue go on with the tables that are there, CR1 and CR2 stay: only the command queue is
  /// ours. No transaction sees a change. For a hypervisor that takes over from firmware, and a crash kernel that lets
  /// old DMA end where it may.
  keep,
  /// Traffic is refused (GBPA.ABORT) before CR0 is cleared: no transaction passes untranslated. GBPA stays like that
  /// until the driver, its tables ready, sets SMMUEN. For a crash kernel that ends old DMA.
  stop,
};

/// Bring-up parameters.
struct setup {
  uint64_t queue_base = 0;  ///< device address of the ring, aligned to its size
  uint32_t queue_log2 = 0;  ///< log2 of its entries, 2..min(19, IDR1.CMDQS)
  position first = 0;       ///< where PROD and CONS start; the queue's options.first
  /// CR1: tables and queues inner shareable, write-back; 0 for a device that does not snoop.
  uint32_t cr1 = 0xd75;  // IC, OC = 1 and SH = 3, twice
  /// CR2: PTM (no broadcast TLB maintenance from the CPUs) and RECINVSID (bad stream ids are recorded).
  uint32_t cr2 = registers::cr2::ptm.mask() | registers::cr2::recinvsid.mask();
  uint64_t timeout_ns = 100000000;  ///< one budget for all steps
  takeover before = takeover::clear;
};

/// The device. `Registers` and `Barriers` are policies (cmdq/platform/mmio.hpp).
template <class Registers = platform::mmio64, class Barriers = platform::io_barriers>
requires platform::register_block<Registers>
class device {
 public:
  constexpr explicit device(Registers r) noexcept : registers_(r) {}

  /// CMDQ_PROD. What was stored before is visible to the device. Cost: one barrier, one posted write.
  void write_prod(uint32_t v) noexcept {
    Barriers::before_write();
    registers_.write32(offset::cmdq_prod, v);
  }
  /// CMDQ_CONS with ERR. What the device wrote before it moved is visible after. Cost: one uncached read, one barrier.
  [[nodiscard]] uint32_t read_cons() noexcept {
    const uint32_t v = registers_.read32(offset::cmdq_cons);
    Barriers::after_read();
    return v;
  }
  /// GERROR: an error is active while its bit differs from GERRORN's. Cost: one uncached read, one barrier.
  [[nodiscard]] uint32_t read_gerror() noexcept {
    const uint32_t v = registers_.read32(offset::gerror);
    Barriers::after_read();
    return v;
  }
  [[nodiscard]] uint32_t read_gerrorn() noexcept { return registers_.read32(offset::gerrorn); }
  /// GERRORN: acknowledges. The repaired entries are visible to the device when it resumes.
  void write_gerrorn(uint32_t v) noexcept {
    Barriers::before_write();
    registers_.write32(offset::gerrorn, v);
  }

  /// Identification registers. Five reads.
  [[nodiscard]] capabilities read_capabilities() noexcept {
    const uint32_t idr0 = registers_.read32(offset::idr0);
    const uint32_t idr1 = registers_.read32(offset::idr1);
    const uint32_t idr3 = registers_.read32(offset::idr3);
    const uint32_t idr5 = registers_.read32(offset::idr5);
    return decode_capabilities(idr0, idr1, idr3, idr5, registers_.read32(offset::iidr));
  }

  /// Takes the device from any state to "consumes our commands", translating nothing, or with takeover::keep what it
  /// translated before: disable and wait for CR0ACK, CR1, CR2, CMDQ_BASE, PROD = CONS = first, acknowledge old errors,
  /// CMDQEN and wait again (SMMUv3 section 6.3.9: CR0 holds when CR0ACK shows it; base and indices are writable only
  /// while CMDQEN = 0, and CR1 and CR2 not while SMMUEN = 1). The ring's content must be ready; nothing may use the
  /// queue meanwhile, and what another owner's queue still held is not executed. Stale configuration and TLB entries
  /// survive: invalidate first thing, or with keep once the tables are replaced. Errors:
  /// device_fault (reads as ones, or queues preset), out_of_range, misaligned, timeout; why() names the register, what
  /// it held and what it should have held. Ends within `timeout_ns` of P's clock.
  template <platform_type P>
  result<capabilities> bring_up(const setup& s) noexcept {
    const uint64_t start = P::now_ns();
    const capabilities c = read_capabilities();
    if (const refusal why = check(s, c); why.code != status::ok) return why;
    const auto base = registers::make_cmdq_base(s.queue_base, s.queue_log2, c.max_log2_size);
    if (!base) return base.why();
    if (s.before == takeover::stop) {
      if (const refusal why = refuse_traffic<P>(start, s.timeout_ns); why.code != status::ok) return why;
    }
    const uint32_t kept =
        s.before == takeover::keep ? registers_.read32(offset::cr0) & registers::cr0::mask & ~enabled : 0;
    if (const refusal why = write_cr0<P>(kept, start, s.timeout_ns); why.code != status::ok) return why;
    if (s.before != takeover::keep) {
      registers_.write32(offset::cr1, s.cr1);
      registers_.write32(offset::cr2, s.cr2);
    }
    registers_.write64(offset::cmdq_base, *base);
    const uint32_t first = geometry{s.queue_log2}.to_register(s.first);
    registers_.write32(offset::cmdq_prod, first);
    registers_.write32(offset::cmdq_cons, first);
    // Nobody else can: the acknowledger is the queue, which does not exist yet. What is active is its predecessor's.
    if (active_errors() != 0) write_gerrorn(read_gerror());
    if (const refusal why = write_cr0<P>(kept | enabled, start, s.timeout_ns); why.code != status::ok) return why;
    return c;
  }

  /// Stops or restarts consumption, the rest of CR0 unchanged. The indices stay. Errors: timeout, device_fault.
  template <platform_type P>
  status set_consuming(bool on, uint64_t timeout_ns) noexcept {
    const uint32_t others = registers_.read32(offset::cr0) & ~enabled;
    return write_cr0<P>(on ? others | enabled : others, P::now_ns(), timeout_ns).code;
  }

  /// Bits of cmdq::gerror that are active now. CMDQ_ERR is the queue's to repair; the others are for the driver's
  /// GERROR handler, which acknowledges them through command_queue::acknowledge(). SFM means that the device has
  /// stopped for good.
  [[nodiscard]] uint32_t active_errors() noexcept { return (read_gerror() ^ read_gerrorn()) & gerror::mask; }

 private:
  static constexpr uint32_t enabled = registers::cr0::cmdqen.mask();

  static refusal check(const setup& s, const capabilities& c) noexcept {
    if (c.gone) return {status::device_fault, "IDR0", device_gone, 0};
    if (c.queues_preset) return {status::device_fault, "IDR1.QUEUES_PRESET", 1, 0};
    if (s.queue_log2 < min_log2_size) return {status::out_of_range, "log2size", s.queue_log2, min_log2_size};
    const uint64_t reach = uint64_t{1} << c.output_bits;
    if (s.queue_base >= reach) return {status::out_of_range, "address", s.queue_base, reach - 1};
    return {};
  }

  /// GBPA.ABORT = 1, the rest of it as it is.
  template <platform_type P>
  refusal refuse_traffic(uint64_t start, uint64_t timeout_ns) noexcept {
    constexpr uint32_t update = registers::gbpa::update.mask();
    uint32_t now = 0;
    if (const refusal why = await_gbpa<P>(start, timeout_ns, now); why.code != status::ok) return why;
    Barriers::before_write();
    registers_.write32(offset::gbpa, now | registers::gbpa::abort.mask() | update);
    return await_gbpa<P>(start, timeout_ns, now);
  }
  /// Waits until GBPA can be written, or the last write has taken effect.
  template <platform_type P>
  refusal await_gbpa(uint64_t start, uint64_t timeout_ns, uint32_t& now) noexcept {
    for (unsigned round = 0;; ++round) {
      now = registers_.read32(offset::gbpa);
      Barriers::after_read();
      if (now == device_gone) return {status::device_fault, "GBPA", now, 0};
      if (registers::gbpa::update.get(now) == 0) return {};
      if (P::now_ns() - start >= timeout_ns) return {status::timeout, "GBPA", now, 0};
      P::pause(nullptr, round);
    }
  }

  template <platform_type P>
  refusal write_cr0(uint32_t v, uint64_t start, uint64_t timeout_ns) noexcept {
    Barriers::before_write();
    registers_.write32(offset::cr0, v);
    for (unsigned round = 0;; ++round) {
      const uint32_t ack = registers_.read32(offset::cr0ack);
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
