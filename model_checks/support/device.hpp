// SPDX-License-Identifier: BSL-1.0
// The device as a thread of its own: it fetches from the very ring entries, executes, and moves CONS. Registers are
// atomics whose sites stand for the barriers of a real register block; what commands do to memory is plain data, so
// that Relacy reports every effect that is not ordered by the queue.
#pragma once

#include "fixtures.hpp"

#include <cmdq/model/ring_window.hpp>
#include <cmdq/platform/ring_entry.hpp>
#include <cmdq/smmuv3/device_type.hpp>
#include <cmdq/smmuv3/error_bits.hpp>

namespace cmdq::checks {

/// What the device does differently. Positions are free-running.
struct manners {
  bool lazy = false;                ///< CONS moves only when the ring is empty; beside MSIs, less than a lap late
  bool msi_64_bit = false;          ///< Hi16xx: the MSI write is 64 bits
  bool msi_late = false;            ///< the MSI write comes after CONS has moved
  bool defer_effects = false;       ///< effects become visible only with the next CMD_SYNC, as the architecture allows
  std::uint32_t stall_after = ~0U;  ///< commands after which it stands still until released
  std::uint32_t gone_after = ~0U;   ///< commands after which it is gone: CONS reads as all ones, nothing is executed
  bool at_once = false;             ///< works inside the PROD write, in its writer's thread
  bool msi_before_effects = false;  ///< wrong: signals a CMD_SYNC before the effects
  bool cons_before_fetch = false;   ///< wrong: moves CONS before it has read the entry
};

/// Opcodes of the scenarios' commands; the tag of a command is word 1.
inline constexpr std::uint64_t opcode_harmless = 0x11;  ///< TLBI_NH_ASID
inline constexpr std::uint64_t opcode_refused = 0xff;   ///< CERROR_ILL

/// Commands are numbered: producer, list, place in the list.
inline constexpr unsigned max_lists = 4;
inline constexpr unsigned max_commands = 2;
inline constexpr unsigned max_tags = 4 * max_lists * max_commands;
constexpr unsigned tag_of(unsigned producer, unsigned list, unsigned place) {
  return (producer * max_lists + list) * max_commands + place;
}

/// Memory that commands refer to: a descriptor that the device reads, and the effect that it has.
struct command_memory {
  P::plain<std::uint32_t> descriptor[max_tags];
  P::plain<std::uint32_t> effect[max_tags];
};

class participant_device {
 public:
  participant_device(ring_entry<P>* entries, unsigned log2, position first, manners m, command_memory& memory)
      : window_(ring_address, entries, 1U << log2),
        shape_{log2},
        manners_(m),
        memory_(memory),
        next_(first),
        published_(first),
        fetched_(first),
        told_(first),
        prod_(shape_.to_register(first)),
        cons_(shape_.to_register(first)) {}

  // What the queue sees.
  void write_prod(std::uint32_t v) noexcept {
    prod_writer_.set(v);
    prod_.store(v, at<site::device_prod_write>);
    const std::uint32_t ahead = shape_.ahead(told_, v);
    check(ahead != 0 && ahead <= shape_.entries(), "PROD moves forward, by at most a lap");
    told_ += ahead;
    check(distance(fetched_, told_) <= static_cast<std::int32_t>(shape_.entries()), "PROD is at most a lap ahead");
    while (manners_.at_once && next_ != told_ && !failed_) serve();
  }
  std::uint32_t read_cons() noexcept { return gone() ? device_gone : cons_.load(at<site::device_cons_read>); }
  std::uint32_t read_gerror() noexcept { return gerror_.load(at<site::device_gerror_read>); }
  std::uint32_t read_gerrorn() noexcept { return gerrorn_.load(at<site::device_ack_read>); }
  void write_gerrorn(std::uint32_t v) noexcept {
    gerrorn_.store(v, at<site::device_ack_write>);
    if (manners_.at_once && failed_) stands_still();
    while (manners_.at_once && next_ != told_ && !failed_) serve();
  }

  /// The device's thread: until `finished` holds and everything told is done.
  template <class Finished>
  void run(const Finished& finished) {
    for (;;) {
      const std::uint32_t prod = prod_.load(at<site::device_prod_read>);
      const bool empty = shape_.empty(prod, next_);
      if (gone() && finished()) return;
      if (empty && published_ != next_) {
        publish();
      } else if (empty && finished() && next_ == told_) {
        return;
      } else if (empty || gone() || stands_still()) {
        P::pause(nullptr, 0);
      } else {
        serve();
      }
    }
  }

  void release() noexcept { released_.store(1, at<site::device_hold>); }
  [[nodiscard]] bool executed(unsigned tag) const noexcept { return executed_[tag]; }
  [[nodiscard]] unsigned syncs() const noexcept { return syncs_; }
  [[nodiscard]] position next() const noexcept { return next_; }

 private:
  [[nodiscard]] bool gone() const noexcept { return commands_ >= manners_.gone_after; }

  /// Stalled by the scenario, or stopped by an error that nobody has acknowledged.
  bool stands_still() {
    if (commands_ >= manners_.stall_after && released_.load(at<site::device_hold>) == 0) return true;
    if (!failed_) return false;
    const std::uint32_t ack = gerrorn_.load(at<site::device_ack_read>);
    if (((ack ^ raised_) & gerror::cmdq_err) != 0) return true;
    failed_ = false;
    return false;
  }

  void serve() {
    if (manners_.cons_before_fetch) cons_.store(shape_.to_register(next_ + 1), at<site::device_cons_write>);
    const ring_entry<P>* const e = window_.find(ring_address + 16ULL * shape_.slot(next_));
    const command c = window_.fetch(*e);
    fetched_ = next_ + 1;
    if (opcode_of(c.word[0]) == opcode_refused) return refuse(static_cast<unsigned>(c.word[1]));
    if (opcode_of(c.word[0]) == opcode_sync) {
      sync(c);
    } else {
      execute(static_cast<unsigned>(c.word[1]));
      advance();
    }
    ++commands_;
  }

  void refuse(unsigned tag) {
    check(tag < max_tags && !seen_[tag], "a refused command is replaced before the device goes on");
    seen_[tag] = true;
    fetched_ = next_;
    publish();
    error_ = static_cast<std::uint32_t>(cerror::ill);
    cons_.store(shape_.to_register(next_) | error_ << 24, at<site::device_cons_write>);
    raised_ = gerror_.fetch_xor(gerror::cmdq_err, at<site::device_gerror_write>) ^ gerror::cmdq_err;
    failed_ = true;
  }

  void execute(unsigned tag) {
    check(tag < max_tags, "the device executes only what was written");
    check(!executed_[tag], "no command is executed twice");
    if (tag % max_commands != 0) check(last_ == tag - 1, "a list is contiguous and in order");
    if (tag % (max_lists * max_commands) >= max_commands) {
      check(seen_[tag - tag % max_commands - max_commands], "a producer's lists stay in order");
    }
    last_ = tag;
    check(memory_.descriptor[tag].get() == tag + 1,
          "what was stored before the insertion is visible, what after is not");
    executed_[tag] = true;
    seen_[tag] = true;
    if (manners_.defer_effects) {
      deferred_[deferred_count_++] = tag;
    } else {
      memory_.effect[tag].set(tag + 1);
    }
  }

  void sync(const command& c) {
    ++syncs_;
    const bool msi = ((c.word[0] >> 12) & 3U) == static_cast<unsigned>(sync_signal::msi);
    if (msi && manners_.msi_before_effects) signal(c);
    for (unsigned i = 0; i < deferred_count_; ++i) memory_.effect[deferred_[i]].set(deferred_[i] + 1);
    deferred_count_ = 0;
    if (msi && !manners_.msi_late) signal(c);
    advance();
    if (msi && manners_.msi_late) signal(c);
  }

  void signal(const command& c) {
    signals_ = true;
    check(window_.write(c.word[1] & 0x000ffffffffffffcULL, c.word[0] >> 32, manners_.msi_64_bit ? 8 : 4),
          "the MSI goes to the CMD_SYNC's own entry");
  }

  /// By an MSI the queue knows of progress that CONS does not show yet. That is told from progress that it does show
  /// only while CONS is less than a lap late.
  void advance() {
    ++next_;
    const bool nearly_a_lap = distance(published_, next_) + 1 >= static_cast<std::int32_t>(shape_.entries());
    if (!manners_.lazy || (signals_ && nearly_a_lap)) publish();
  }

  void publish() {
    published_ = next_;
    cons_.store(shape_.to_register(next_) | error_ << 24, at<site::device_cons_write>);
  }

  model::ring_window<ring_entry<P>> window_;
  geometry shape_;
  manners manners_;
  command_memory& memory_;
  // The device's own state and what the checks remember: no other thread sees it.
  position next_;
  position published_;
  position fetched_;  ///< behind the entry that was read last
  position told_;
  unsigned commands_ = 0;
  unsigned syncs_ = 0;
  unsigned last_ = ~0U;
  bool executed_[max_tags] = {};
  bool seen_[max_tags] = {};  ///< executed or refused
  unsigned deferred_[max_tags] = {};
  unsigned deferred_count_ = 0;
  bool signals_ = false;  ///< has written an MSI
  bool failed_ = false;
  std::uint32_t raised_ = 0;
  std::uint32_t error_ = 0;
  // Registers.
  P::plain<std::uint32_t> prod_writer_;  ///< two unordered writers of PROD are a race
  P::atomic<std::uint32_t> prod_;
  P::atomic<std::uint32_t> cons_;
  P::atomic<std::uint32_t> gerror_;
  P::atomic<std::uint32_t> gerrorn_;
  P::atomic<std::uint32_t> released_;
};

static_assert(device_type<participant_device>);

}  // namespace cmdq::checks
