// SPDX-License-Identifier: BSL-1.0
// Invalidations through the command queue: ranges become TLBI commands by the range rules, then come the ATCs of the
// devices that have one; CMD_SYNCs cover them.
#pragma once

#include <cmdq/dma/arena.hpp>
#include <cmdq/dma/atc.hpp>
#include <cmdq/dma/commands.hpp>
#include <cmdq/dma/invalidator.hpp>
#include <cmdq/queue/ticket.hpp>
#include <cmdq/wait/budget.hpp>

namespace cmdq::dma {

/// Producers of the queue, each owned by one call at a time: who finds one taken tries the next, and no lock is held
/// while the device is waited for. Give it as many as there can be calls at once: one per CPU and context that may be
/// interrupted by another (threads and one level of interrupts: two per CPU). Then a call always finds one; with fewer
/// it waits for one, at most the queue's deadline, and ends with would_block.
template <platform_type P, class Queue>
class queue_invalidator {
 public:
  queue_invalidator() noexcept = default;
  queue_invalidator(const queue_invalidator&) = delete;
  queue_invalidator& operator=(const queue_invalidator&) = delete;
  ~queue_invalidator() {
    for (uint32_t i = 0; i < count_; ++i) slots_[i].producer = {};
  }

  /// Attaches `producers` producers; once. Errors: out_of_range (producers = 0), no_space (arena), too_many_producers.
  status init(arena& memory, Queue& queue, uint32_t producers, const address_space& space) noexcept {
    if (producers == 0) return status::out_of_range;
    slots_ = memory.take<slot>(producers);
    if (slots_ == nullptr) return status::no_space;
    space_ = space;
    deadline_ns_ = queue.opts().deadline_ns;
    for (count_ = 0; count_ < producers; ++count_) {
      if (const status s = queue.attach(slots_[count_].producer); s != status::ok) return s;
    }
    return status::ok;
  }

  /// Invalidations of this space name the stream's ATC from now on; see atc_streams::attach(). Errors besides its own:
  /// invalid_argument (address_space::ats is false).
  status attach(const atc_stream& s) noexcept { return space_.ats ? atcs_.attach(s) : status::invalid_argument; }
  status detach(const atc_stream& s) noexcept { return atcs_.detach(s); }

  /// TLBIs for all runs, then ATC_INVs, and waits for the CMD_SYNCs behind them. Errors: those of producer::issue(),
  /// atc_timeout among them (a device that does not answer), would_block (no producer). Each of them means that
  /// translations may be left.
  status invalidate(uint32_t cpu, const page_run* runs, uint32_t count) noexcept {
    owned_slot mine(*this, cpu);
    if (mine.it == nullptr) return status::would_block;
    list commands(mine.it->producer);
    for (uint32_t i = 0; i < count; ++i) {
      const result<smmuv3::range_commands> made = commands_for(runs[i], space_);
      if (!made) return made.code();
      smmuv3::range_commands rest = *made;
      for (command c; rest.next(c);) commands.add(c);
    }
    if (space_.of == stage::nested) {
      commands.sync();
      commands.add(command_for_combined(space_));
    }
    // An ATC under a guest's stage 1 is asked by VA, and the runs are IPAs.
    if (space_.ats) {
      atcs_.each([&](const atc_stream& to) {
        if (space_.of == stage::nested) return commands.add(atc_command(to, 0, 0));
        for (uint32_t i = 0; i < count; ++i) commands.add(atc_command(to, runs[i].iova, runs[i].bytes));
      });
    }
    return commands.sync();
  }

  /// The same for everything in the space, by one TLBI. Errors: as invalidate().
  status invalidate_all(uint32_t cpu) noexcept {
    owned_slot mine(*this, cpu);
    if (mine.it == nullptr) return status::would_block;
    list commands(mine.it->producer);
    commands.add(command_for_all(space_));
    if (space_.ats) atcs_.each([&](const atc_stream& to) { commands.add(atc_command(to, 0, 0)); });
    return commands.sync();
  }

 private:
  struct alignas(128) slot {
    typename P::template atomic<uint32_t> owned;
    typename Queue::producer producer;
  };

  /// A slot that is the caller's for a scope; nullptr when none became free in time.
  struct owned_slot {
    owned_slot(queue_invalidator& of, uint32_t cpu) noexcept : it(of.own(cpu)) {}
    ~owned_slot() {
      if (it != nullptr) it->owned.store(0, at<site::slot_leave>);
    }
    owned_slot(const owned_slot&) = delete;
    owned_slot& operator=(const owned_slot&) = delete;
    slot* it;
  };

  /// Commands on their way, and the first thing that went wrong with them. The queue puts a CMD_SYNC, waited for,
  /// between TLBIs and ATC_INVs.
  class list {
   public:
    explicit list(typename Queue::producer& to) noexcept : to_(to) {}
    void add(const command& c) noexcept {
      if (n_ == capacity) note(to_.insert(list_, n_).code);  // covered by the CMD_SYNC to come
      if (n_ == capacity) n_ = 0;
      list_[n_++] = c;
    }
    status sync() noexcept {
      note(to_.issue(list_, n_).code);
      n_ = 0;
      return first_;
    }

   private:
    static constexpr uint32_t capacity = 32;
    void note(status s) noexcept {
      if (first_ == status::ok) first_ = s;
    }
    typename Queue::producer& to_;
    command list_[capacity];
    uint32_t n_ = 0;
    status first_ = status::ok;
  };

  slot* own(uint32_t cpu) noexcept {
    const uint32_t first = cpu % count_;
    time_budget<P> left(deadline_ns_);
    for (unsigned round = 0;; ++round) {
      for (uint32_t i = 0; i < count_; ++i) {
        // A CPU's second one is half the table away, where no other CPU begins as long as half of them are CPUs.
        const uint32_t at_index = (first + i / 2 + (i % 2) * ((count_ + 1) / 2)) % count_;
        if (take(slots_[at_index])) return &slots_[at_index];
      }
      if (left.expired()) return nullptr;
      P::pause(nullptr, round);
      P::yield();
    }
  }
  static bool take(slot& s) noexcept {
    return s.owned.load(at<site::slot_look>) == 0 && s.owned.exchange(1, at<site::slot_own>) == 0;
  }

  slot* slots_ = nullptr;
  uint32_t count_ = 0;
  uint64_t deadline_ns_ = 0;
  address_space space_;
  atc_streams<P> atcs_;
};

}  // namespace cmdq::dma
