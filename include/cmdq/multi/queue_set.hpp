// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/queue/batch.hpp>

namespace cmdq::multi {

/// Several queues of one device, one per CPU group (ECMDQ, virtual command queues). A CMD_SYNC covers only the queue
/// that it stands in, so a queue is chosen once per batch. An error or a stall of one queue leaves the others alone.
template <class Queue, uint32_t MaxQueues = 8>
class queue_set {
 public:
  static_assert(MaxQueues >= 1, "a set has at least one queue");

  /// Takes part from now on; `queue` must outlive the set. Errors: out_of_range when MaxQueues are in. Before any
  /// join().
  status add(Queue& queue) noexcept {
    if (count_ == MaxQueues) return status::out_of_range;
    queues_[count_++] = &queue;
    return status::ok;
  }
  [[nodiscard]] uint32_t size() const noexcept { return count_; }

  /// What one thread (or CPU) holds: a producer in each queue.
  class member {
   public:
    /// The producer of the queue that serves CPU group `group`. Keep to it for all commands that one CMD_SYNC is to
    /// cover. Precondition: joined, to a set that has a queue.
    [[nodiscard]] typename Queue::producer& of(uint32_t group) noexcept { return producers_[group % count_]; }

    /// Issues a list to every queue and waits for all: for what must reach each of them (invalidations that other
    /// queues' earlier commands must not outlive). As issue() on each queue; the queues work at the same time where
    /// the list is one that submit() takes, else (longer than the batch limit, cut by classes or quirks) one after the
    /// other. Every queue is tried whatever the others say; `each`, if not null, takes one status per queue; the first
    /// that is not ok is returned. `ns`: budget of each queue's wait; with submit() the wait for space has
    /// options.deadline_ns.
    status issue_to_all(const command* list, uint32_t n, uint64_t ns, status* each = nullptr) noexcept {
      ticket tickets[MaxQueues];
      status codes[MaxQueues];
      for (uint32_t i = 0; i < count_; ++i) {
        const result<ticket> t = producers_[i].submit(list, n);
        codes[i] = t.code();
        tickets[i] = *t;
      }
      status first_bad = status::ok;
      for (uint32_t i = 0; i < count_; ++i) {
        if (codes[i] == status::ok)
          codes[i] = producers_[i].wait(tickets[i], ns);
        else if (codes[i] == status::invalid_argument || codes[i] == status::out_of_range)  // not as one list
          codes[i] = producers_[i].issue_for(list, n, ns).code;
        if (first_bad == status::ok) first_bad = codes[i];
        if (each != nullptr) each[i] = codes[i];
      }
      return first_bad;
    }

   private:
    friend class queue_set;
    typename Queue::producer producers_[MaxQueues];
    uint32_t count_ = 0;
  };

  /// Attaches the calling thread to every queue, or to none. Errors: too_many_producers; out_of_range for an empty set.
  [[nodiscard]] status join(member& out) noexcept {
    if (count_ == 0) return status::out_of_range;
    out.count_ = count_;
    for (uint32_t i = 0; i < count_; ++i) {
      const status s = queues_[i]->attach(out.producers_[i]);
      if (s == status::ok) continue;
      while (i > 0) out.producers_[--i] = {};
      out.count_ = 0;
      return s;
    }
    return status::ok;
  }

 private:
  Queue* queues_[MaxQueues] = {};
  uint32_t count_ = 0;
};

}  // namespace cmdq::multi
