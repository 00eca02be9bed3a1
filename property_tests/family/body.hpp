// SPDX-License-Identifier: BSL-1.0
// The properties of a queue, once for every family: a family's test says what its commands look like, which modelled
// device consumes them, and how an error is told; the rest is here. Producers and device are threads of the
// deterministic scheduler.
#pragma once

#include <cmdq/completion/poll_cons.hpp>
#include <cmdq/completion/status_word.hpp>
#include <cmdq/model/ring_device.hpp>
#include <cmdq/queue/command_queue.hpp>
#include <cmdq/queue/fixed_memory.hpp>
#include <map>
#include <memory>
#include <vector>

#include "support/scheduled_platform.hpp"
#include "support/test.hpp"

namespace cmdq::test::family {

using P = scheduled_platform;

/// How a case runs. All of it is drawn.
struct plan_of_case {
  unsigned producers = 2;
  unsigned lists = 3;
  unsigned longest = 2;  ///< commands of a list: 1 to that
  position first = 0;
  std::uint32_t seed = 1;  ///< what each call is, the device's pace, late writes
  bool illegal = false;    ///< some commands are refused
  choices interleaving = {};
};

/// `Of`: family; hardware<Hooks>; numbered(producer, i), a command told apart by both; number_of(command, producer, i);
/// bad(i), one that the device refuses.
template <class Of, class Allocation, class Completion>
class rig {
 public:
  using F = typename Of::family;
  using command = typename F::command;
  struct config : freestanding_config {
    using family = F;
    using platform = P;
    using allocation = Allocation;
    using completion = Completion;
  };
  struct hooks {
    std::vector<command>* to = nullptr;
    void executed(position, const command& c) {
      if (!F::is_sync(c)) to->push_back(c);
    }
  };
  using hardware = typename Of::template hardware<hooks>;
  using queue_type = command_queue<hardware, config>;
  static constexpr unsigned log2_size = F::min_log2_size < 4 ? 4 : F::min_log2_size;
  static constexpr std::uint64_t ring_address = 0x100000, words_address = 0x4000;
  static constexpr std::uint64_t deadline = 40'000'000;

  explicit rig(const plan_of_case& c) : device(hooks{&executed}) {
    options_for<F> o;
    o.log2_size = log2_size;
    o.batch_limit = 3;
    o.producers = c.producers;
    o.deadline_ns = deadline;
    o.first = c.first;
    const auto m = memory_->at_device_address(ring_address, words_address);
    device.attach(m.entries, log2_size, m.done_words, words_address, c.first);
    device.behaviour.seed = c.seed;
    device.behaviour.in_order_seed = false;
    device.behaviour.fetch_ahead = 1 + c.seed % 8;
    device.behaviour.late_steps = (c.seed >> 3) % 3 * 40;
    const auto p = make_plan<config>(o, m);
    CMDQ_CHECK(p.ok());
    queue = std::make_unique<queue_type>(*p, device);
  }

  std::vector<command> executed;
  hardware device;
  std::unique_ptr<queue_type> queue;

 private:
  using memory_type = fixed_memory<P, log2_size, 8, 1, 4, F>;
  std::unique_ptr<memory_type> memory_ = std::make_unique<memory_type>();
};

struct told {
  unsigned good = 0;
  unsigned illegal = 0;
};

/// One producer's calls. Each `ok` is checked against what the device has executed.
template <class Of, class Rig>
void produce(Rig& r, const plan_of_case& c, unsigned who, std::map<unsigned, unsigned>& asked, unsigned& bad_told) {
  typename Rig::queue_type::producer me;
  CMDQ_CHECK_EQ(r.queue->attach(me), status::ok);
  std::uint32_t x = c.seed * 7919U + who;
  unsigned next = 0;
  const auto done = [&](unsigned from, unsigned to) {
    unsigned found = 0;
    for (const auto& e : r.executed) {
      const auto [p, i] = Of::number_of(e);
      if (p == who && i >= from && i < to) ++found;
    }
    CMDQ_CHECK_EQ(found, to - from);
  };
  bool bad_before = false;
  for (unsigned k = 0; k < c.lists; ++k) {
    x = x * 1664525U + 1013904223U;
    const unsigned n = 1 + (x >> 8) % c.longest;
    const bool waits = (x >> 16) % 3 != 0;
    const bool bad = c.illegal && (x >> 20) % 3 == 0;
    std::vector<typename Rig::command> list;
    for (unsigned i = 0; i < n; ++i) list.push_back(Of::numbered(who, next + i));
    if (bad) list[(x >> 24) % n] = Of::bad(next + (x >> 24) % n);
    const unsigned from = next;
    next += n;
    const outcome o = waits ? me.issue(list.data(), n) : me.insert(list.data(), n);
    CMDQ_CHECK(o.inserted == n);
    bad_before = bad_before || bad;
    // insert() may have waited for the device: then it tells what there is to tell.
    if (!waits && o.code == status::ok) continue;
    CMDQ_CHECK_EQ(o.code, bad_before ? status::illegal_command : status::ok);
    bad_told += bad_before ? 1U : 0U;
    bad_before = false;
    if (o.code == status::ok) done(from, next);
  }
  const outcome last = me.issue(nullptr, 0);
  CMDQ_CHECK_EQ(last.code, bad_before ? status::illegal_command : status::ok);
  bad_told += bad_before ? 1U : 0U;
  asked[who] = next;
}

/// Every command once, each producer's in its order; the device was never told wrongly, and no completion met a word
/// that was used again.
template <class Of, class Rig>
void check_end(Rig& r, const plan_of_case& c, const std::map<unsigned, unsigned>& asked) {
  CMDQ_CHECK_EQ(r.device.wrong_tails(), 0U);
  CMDQ_CHECK_EQ(r.device.stray_writes(), 0U);
  std::map<unsigned, unsigned> next;
  unsigned total = 0;
  for (const auto& e : r.executed) {
    const auto [p, i] = Of::number_of(e);
    if (p == Of::nobody) continue;  // what replaced a command that was refused
    CMDQ_CHECK(c.illegal ? i >= next[p] : i == next[p]);
    next[p] = i + 1;
    ++total;
  }
  unsigned wanted = 0;
  for (const auto& [p, n] : asked) wanted += n;
  CMDQ_CHECK(c.illegal ? total <= wanted : total == wanted);
}

/// One producer's calls against the device, as threads.
template <class Rig, class Calls>
void run_one(Rig& r, const Calls& calls) {
  scheduler s({}, 4'000'000);
  s.spawn([&] {
    typename Rig::queue_type::producer me;
    CMDQ_CHECK_EQ(r.queue->attach(me), status::ok);
    calls(me);
  });
  s.spawn([&] {
    while (scheduler::current()->running_threads() > 1)
      if (!r.device.step()) P::yield();
  });
  CMDQ_CHECK(s.run() == scheduler::ending::finished);
  while (r.device.step()) {
  }
  CMDQ_CHECK_EQ(r.device.wrong_tails(), 0U);
}

template <class Of, class Allocation, class Completion>
void run_case(const plan_of_case& c) {
  rig<Of, Allocation, Completion> r(c);
  std::map<unsigned, unsigned> asked;
  unsigned bad_told = 0;
  scheduler s(c.interleaving, 4'000'000);
  for (unsigned i = 0; i < c.producers; ++i) s.spawn([&, i] { produce<Of>(r, c, i, asked, bad_told); });
  s.spawn([&] {
    while (scheduler::current()->running_threads() > 1)
      if (!r.device.step()) P::yield();
  });
  if (s.run() != scheduler::ending::finished) throw failure("a call does not end");
  while (r.device.step()) {
  }
  check_end<Of>(r, c, asked);
}

inline plan_of_case drawn(bool illegal) {
  plan_of_case c;
  c.producers = *rc::gen::inRange(1U, 4U);
  c.lists = *rc::gen::inRange(1U, 6U);
  c.longest = *rc::gen::inRange(1U, 4U);
  c.first = 0U - *rc::gen::inRange(0U, 600U);
  c.seed = *rc::gen::arbitrary<std::uint32_t>();
  c.illegal = illegal;
  c.interleaving = *rc::gen::container<choices>(rc::gen::inRange<std::uint8_t>(0, 6));
  return c;
}

template <class Of, class Allocation, class Completion>
void sound() {
  property([] { run_case<Of, Allocation, Completion>(drawn(false)); });
}
template <class Of, class Allocation, class Completion>
void tells_its_caller() {
  property([] { run_case<Of, Allocation, Completion>(drawn(true)); });
}

/// More than a lap by few producers, so that entries and words are used again.
template <class Of, class Allocation, class Completion>
void laps(unsigned lists) {
  for (std::uint32_t seed = 1; seed < 9; ++seed)
    run_case<Of, Allocation, Completion>(
        {.producers = 2, .lists = lists, .longest = 3, .first = 0U - 100, .seed = seed * 77, .interleaving = {1, 2}});
}

/// A device that is slower than its producer: the ring is as full as it may be, again and again. Were a register
/// without wrap bit told of a full ring, the device would take it for an empty one.
template <class Of, class Allocation, class Completion>
void fills() {
  rig<Of, Allocation, Completion> r({.producers = 1, .first = 0U - 3, .seed = 1});
  r.device.behaviour.late_steps = 20;
  scheduler s({}, 40'000'000);
  s.spawn([&] {
    typename decltype(r)::queue_type::producer me;
    CMDQ_CHECK_EQ(r.queue->attach(me), status::ok);
    const unsigned lists = 3U << decltype(r)::log2_size;
    for (unsigned i = 0; i < lists; ++i) {
      const auto c = Of::numbered(0, i);
      CMDQ_CHECK(me.submit(&c, 1).ok());
    }
    status last = status::timeout;  // a large ring takes longer than one budget
    for (unsigned i = 0; i < 20 && last == status::timeout; ++i) last = me.issue(nullptr, 0).code;
    CMDQ_CHECK_EQ(last, status::ok);
  });
  s.spawn([&] {
    while (scheduler::current()->running_threads() > 1) {
      const bool busy = r.device.step();
      for (unsigned i = 0; i < (busy ? 10U : 1U); ++i) P::yield();
    }
  });
  CMDQ_CHECK(s.run() == scheduler::ending::finished);
  CMDQ_CHECK_EQ(r.device.wrong_tails(), 0U);
  CMDQ_CHECK_EQ(r.device.stray_writes(), 0U);
}

}  // namespace cmdq::test::family
