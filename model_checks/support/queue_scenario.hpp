// SPDX-License-Identifier: BSL-1.0
// The whole queue: producers that insert lists, and the device that consumes them.
#pragma once

#include "device.hpp"

#include <cmdq/queue/command_queue.hpp>
#include <cmdq/reclaim/sync_locked.hpp>

namespace cmdq::checks {

template <class Allocation, class Completion = completion::poll_cons, class Reclaim = reclaim::counted,
          class Wait = busy_wait>
struct checked_config {
  using family = default_family;
  using platform = P;
  using wait = Wait;
  using allocation = Allocation;
  using completion = Completion;
  using reclaim = Reclaim;
  using stats = cmdq::stats::none;
};

/// What the producers do.
struct workload {
  static constexpr std::uint32_t any_start = 0x80000000U;
  unsigned log2 = 2;
  position first = any_start;  ///< any_start: the search tries every position from -N to N - 1
  unsigned producers = 2;
  unsigned lists = 1;                    ///< of each producer
  unsigned commands = 1;                 ///< in each list; 0: a CMD_SYNC alone
  bool unsynced = false;                 ///< all but a producer's last list are inserted without waiting
  bool tickets = false;                  ///< all but the last are submitted, and waited for afterwards
  unsigned waiting = 0;                  ///< bit i: producer i waits for each of its lists nevertheless
  unsigned illegal = ~0U;                ///< tag of a command that the device refuses
  unsigned groups = 1;                   ///< groups of threads; more than one: lists gather in them first
  unsigned group_size = 2;               ///< threads in a group; the last one may have fewer
  bool unchecked = false;                ///< a plan that make_plan did not see: rings of 2 entries, and wrong ones
  std::uint64_t deadline = no_deadline;  ///< of one call: so many fruitless polls
  manners device = {};
};

template <class Config>
class queue_scenario : public scenario {
 public:
  using queue_type = command_queue<participant_device, Config>;

  explicit queue_scenario(const workload& w) : work_(w), first_(start_of(w)) {
    for (unsigned i = 0; i < work_.producers; ++i) {
      check(queue_.attach(producers_[i]) == status::ok, "as many producers as options.producers can attach");
    }
  }

  [[nodiscard]] unsigned daemons() const override { return work_.device.at_once ? 0 : 1; }
  void thread(unsigned index) override {
    if (index == work_.producers) {
      device_.run([this] { return P::threads_must_end && left_ == 0; });
    } else {
      produce(index);
      --left_;
    }
  }

  void finish() override {
    for (unsigned p = 0; p < work_.producers; ++p)
      for (unsigned l = 0; l < work_.lists; ++l)
        for (unsigned c = 0; c < work_.commands; ++c)
          check(device_.executed(tag_of(p, l, c)) == (tag_of(p, l, c) != work_.illegal), "no command is lost");
    check(queue_.prod_register() == geometry{work_.log2}.to_register(device_.next()), "the device was told everything");
  }

 protected:
  /// Lists are inserted one after the other; the last one is waited for.
  virtual void produce(unsigned index) {
    ticket tickets[max_lists];
    for (unsigned l = 0; l < work_.lists; ++l) {
      command list[max_commands];
      write_list(index, l, list);
      if (work_.tickets && waits_later(index, l)) {
        tickets[l] = submit(index, list);
      } else if (work_.unsynced && waits_later(index, l)) {
        check(producers_[index].insert(list, work_.commands).code == status::ok, "insert succeeds");
      } else {
        issue(index, l, list);
      }
    }
    for (unsigned l = 0; work_.unsynced && waits_later(index, l); ++l) done(index, l);
    for (unsigned l = 0; work_.tickets && waits_later(index, l); ++l) {
      check(producers_[index].wait(tickets[l], no_deadline) == expected(index, l),
            "a ticket ends with its list's status");
      done(index, l);
    }
  }

  [[nodiscard]] bool waits_later(unsigned index, unsigned l) const {
    return l + 1 < work_.lists && (work_.waiting >> index & 1U) == 0;
  }

  void issue(unsigned index, unsigned l, const command* list) {
    const outcome o = producers_[index].issue(list, work_.commands);
    check(o.code == expected(index, l), "issue reports its own list's status");
    check(o.inserted == work_.commands && o.lists == 1, "issue inserts its list in one piece");
    done(index, l);
  }

  ticket submit(unsigned index, const command* list) {
    const result<ticket> t = producers_[index].submit(list, work_.commands);
    check(t.ok(), "a ticket is given");
    return *t;
  }

  [[nodiscard]] status expected(unsigned producer, unsigned list) const {
    for (unsigned c = 0; c < work_.commands; ++c)
      if (tag_of(producer, list, c) == work_.illegal) return status::illegal_command;
    return status::ok;
  }

  /// Stores before the insertion: the descriptor that the device reads.
  void write_list(unsigned producer, unsigned list, command* out) {
    for (unsigned c = 0; c < work_.commands; ++c) {
      const unsigned tag = tag_of(producer, list, c);
      memory_.descriptor[tag].set(tag + 1);
      out[c] = {{tag == work_.illegal ? opcode_refused : opcode_harmless, tag}};
    }
  }

  /// After a completed CMD_SYNC: the effects are there, and the descriptor may be freed.
  void done(unsigned producer, unsigned list) {
    for (unsigned c = 0; c < work_.commands; ++c) {
      const unsigned tag = tag_of(producer, list, c);
      if (tag != work_.illegal) check(memory_.effect[tag].get() == tag + 1, "a completed sync implies the effects");
      memory_.descriptor[tag].set(0);
    }
  }

  static position start_of(const workload& w) {
    const unsigned n = 1U << w.log2;
    return w.first != workload::any_start ? w.first : any_number(2 * n) - n;
  }
  plan<P> checked_plan() {
    options o;
    o.log2_size = work_.log2;
    o.batch_limit = work_.commands == 0 ? 1 : work_.commands;
    o.producers = work_.producers;
    o.deadline_ns = work_.deadline;
    o.groups = work_.groups;
    o.cpus_per_group = work_.group_size;
    o.first = first_;
    if (work_.unchecked) return {o, ring_.at_device_address(ring_address)};
    const result<plan<P>> made = make_plan<Config>(o, ring_.at_device_address(ring_address));
    check(made.ok(), "the ring is large enough for its producers");
    return *made;
  }

  const workload work_;
  const position first_;
  command_memory memory_;
  ring_storage ring_;
  participant_device device_{ring_.memory().entries, work_.log2, first_, work_.device, memory_};
  queue_type queue_{checked_plan(), device_};
  typename queue_type::producer producers_[3];
  unsigned left_ = work_.producers;
};

/// One entry of a family of queue scenarios: the workload is a parameter, so that the queue is compiled once for each
/// configuration.
struct queue_case {
  facts about;
  workload work;
};

template <class Scenario>
class queue_family {
 public:
  template <std::size_t N>
  explicit queue_family(const queue_case (&cases)[N]) {
    for (const queue_case& c : cases) add_scenario({&c.about, construct, &c.work});
  }

 private:
  static scenario* construct(const void* parameter, void* storage) {
    static_assert(sizeof(Scenario) <= scenario_storage && alignof(Scenario) <= scenario_alignment);
    return ::new (storage) Scenario(*static_cast<const workload*>(parameter));
  }
};

}  // namespace cmdq::checks
