// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/allocation/reservation.hpp>
#include <cmdq/core/status.hpp>
#include <cmdq/wait/budget.hpp>

namespace cmdq {

/// Claimed entries that the caller fills in place, without a list of its own to copy from. From producer::reserve().
/// Others that come later wait for it to be published, so fill it at once: commit() publishes, and so does the end of
/// its life. Entries not filled become CMD_SYNCs that signal nothing.
template <class Queue>
class writer {
 public:
  using who = typename Queue::who;
  using family = typename Queue::family;
  using command = typename family::command;

  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;
  writer(writer&& other) noexcept
      : queue_(other.queue_),
        by_(other.by_),
        budget_(other.budget_),
        claim_(other.claim_),
        commands_(other.commands_),
        filled_(other.filled_),
        inserted_(other.inserted_),
        atc_(other.atc_),
        entered_(other.entered_),
        code_(other.code_) {
    other.queue_ = nullptr;
    if (queue_ != nullptr) by_->writer_ = this;
  }
  writer& operator=(writer&&) = delete;
  ~writer() {
    if (queue_ != nullptr) static_cast<void>(commit());
  }

  /// Why there is nothing to fill; ok otherwise.
  [[nodiscard]] status code() const noexcept { return code_; }
  [[nodiscard]] explicit operator bool() const noexcept { return queue_ != nullptr; }
  [[nodiscard]] uint32_t room() const noexcept { return commands_ - filled_; }

  /// The next command, written to its entry. Errors, with nothing written: out_of_range (no room), invalid_argument
  /// (a CMD_SYNC; an ATC_INV in a list that is not waited for, beside other commands, or while insert()s of this
  /// producer are not waited for: a CMD_SYNC must come between, bug L20). Wait-free. Cost: two stores.
  status push(const command& from) noexcept {
    const command c = family::own_copy(from);
    if (queue_ == nullptr || room() == 0) return status::out_of_range;
    if (queue_->ring_.restricted()) {
      const refusal why = family::permits(queue_->ring_.opts().device, c);
      if (why.code != status::ok) return why.code;
    }
    const bool atc = family::answers_at_sync(c);
    if (family::is_sync(c) || (atc && (!claim_.waited || by_->owes_sync()))) return status::invalid_argument;
    if (filled_ != 0 && atc != atc_) return status::invalid_argument;
    atc_ = atc;
    queue_->put_in_place(claim_, filled_++, c, *by_);
    return status::ok;
  }

  /// Publishes; waits for the list if it was reserved so. As producer::issue() or insert(). Once only.
  status commit() noexcept {
    if (queue_ == nullptr) return code_ == status::ok ? status::invalid_argument : code_;
    while (filled_ < commands_) queue_->put_in_place(claim_, filled_++, family::harmless(), *by_);
    who w{budget_, by_->stats_, by_->cell_};
    by_->writer_ = nullptr;
    Queue& queue = *queue_;
    queue_ = nullptr;
    const status s = queue.finish(claim_, entered_, w, *by_);
    inserted_ = claim_.n != 0;
    return s;
  }

  /// After commit(): is the list in the ring, or sure to get there? False only with allocation::delegated, when it
  /// ended by timeout or device_fault before anybody took the list.
  [[nodiscard]] bool inserted() const noexcept { return inserted_; }

 private:
  friend Queue;
  friend typename Queue::producer;  // moves take an open writer along
  using budget = time_budget<typename Queue::P>;

  writer(typename Queue::producer& by, status s) noexcept
      : queue_(nullptr), by_(&by), budget_(0), commands_(0), entered_(0), code_(s) {}
  writer(Queue& q, typename Queue::producer& by, status s, uint32_t n, uint32_t entered, const reservation& r,
         const budget& b) noexcept
      : queue_(s == status::ok ? &q : nullptr),
        by_(&by),
        budget_(b),
        claim_(r),
        commands_(n),
        entered_(entered),
        code_(s) {
    if (queue_ != nullptr) by.writer_ = this;
  }

  Queue* queue_;
  typename Queue::producer* by_;
  budget budget_;
  reservation claim_;
  uint32_t commands_;
  uint32_t filled_ = 0;
  bool inserted_ = false;
  bool atc_ = false;  ///< the list is one of ATC invalidations
  uint32_t entered_;
  status code_;
};

}  // namespace cmdq
