// SPDX-License-Identifier: BSL-1.0
// dump(): what it shows of a queue that works, stands or had errors, and that looking changes nothing.
#include <cmdq/allocation/strategies.hpp>
#include <cmdq/completion/poll_msi.hpp>
#include <cmdq/queue/dump.hpp>
#include <string>

#include "support/one_thread.hpp"
#include "support/scheduled_platform.hpp"

namespace cmdq::test {
namespace {

template <class Platform, class Allocation>
struct shown_config : freestanding_config {
  using platform = Platform;
  using allocation = Allocation;
};

/// Each strategy; `f` gets an object of its type.
template <class F>
void for_all_strategies(F f) {
#define CMDQ_WITH(name, locked) f(allocation::name{});
  CMDQ_FOR_EACH_STRATEGY(CMDQ_WITH)
#undef CMDQ_WITH
}

template <class Queue>
std::string text(Queue& q) {
  std::string all;
  dump(q, [&](const char* s, std::size_t n) {
    CMDQ_CHECK_EQ(s[n - 1], '\n');  // whole lines
    all.append(s, n);
  });
  return all;
}
bool has(const std::string& all, const char* part) {
  if (all.find(part) != std::string::npos) return true;
  throw failure("'" + std::string(part) + "' is not in\n" + all);
}
bool has_not(const std::string& all, const char* part) {
  if (all.find(part) == std::string::npos) return true;
  throw failure("'" + std::string(part) + "' is in\n" + all);
}

/// `f(stage)` on a queue of each strategy whose device works inside the PROD write.
template <class F>
void on_each_queue(F f) {
  for_all_strategies([&]<class Allocation>(Allocation) {
    one_thread<shown_config<counted_time, Allocation>> stage;
    f(stage);
  });
}

}  // namespace

CMDQ_TEST(a_queue_at_rest) {
  on_each_queue([](auto& stage) {
    auto a = stage.producer();
    const command c = numbered(1);
    CMDQ_CHECK_EQ(a.issue(&c, 1).code, status::ok);
    CMDQ_CHECK_EQ(text(stage.queue()), std::string("queue: 64 entries, done 2, told 2, claimed 2, turn of 2\n"
                                                   "device: PROD 0x2, CONS 0x2, errors 0x0\n"
                                                   "health: works, errors of commands 0\n"
                                                   "producers: 1 of 2 attached\n"));
  });
}

CMDQ_TEST(the_debt_after_a_time_out) {
  on_each_queue([](auto& stage) {
    auto a = stage.producer();
    auto b = stage.producer();
    const command c = numbered(1);
    stage.device.stall();
    CMDQ_CHECK_EQ(b.issue_for(&c, 1, 1'000).code, status::timeout);
    const std::string before = text(stage.queue());
    has(before, "done 0, told 2, claimed 2, turn of 2\n");
    has(before, "PROD 0x2, CONS 0x0, errors 0x0\n");
    has(before, "producer 1: owing, list [0, ");
    has_not(before, "producer 0");
    CMDQ_CHECK_EQ(text(stage.queue()), before);
    stage.device.resume();
    CMDQ_CHECK_EQ(b.issue(&c, 1).code, status::ok);
    has(text(stage.queue()), "done 4, told 4, claimed 4, turn of 4\n");
    has_not(text(stage.queue()), "owing");
  });
}

CMDQ_TEST(a_device_that_stands_for_a_deadline) {
  on_each_queue([](auto& stage) {
    auto a = stage.producer();
    const command c = numbered(1);
    stage.device.stall();
    while (a.issue(&c, 1).code != status::stalled) {
    }
    has(text(stage.queue()), "health: stalled, errors of commands 0");
    has(text(stage.queue()), "producer 0: owing, list [0, ");
    stage.device.resume();
    CMDQ_CHECK_EQ(a.issue(&c, 1).code, status::ok);
    has(text(stage.queue()), "health: works");
  });
}

CMDQ_TEST(an_error_until_its_producer_is_told) {
  on_each_queue([](auto& stage) {
    auto a = stage.producer();
    const command good = numbered(1);
    const command list[] = {good, illegal()};
    CMDQ_CHECK_EQ(a.insert(list, 2).code, status::ok);
    has(text(stage.queue()), "errors 0x1\n");  // the device stands at it, and nobody has looked
    has_not(text(stage.queue()), "untold");
    CMDQ_CHECK_EQ(stage.queue().handle_errors().code, status::ok);
    const std::string shown = text(stage.queue());
    has(shown, "errors 0x0\n");
    has(shown, "errors of commands 1");
    has(shown, "producer 0: idle, untold illegal_command at 1\n");
    CMDQ_CHECK_EQ(a.issue(&good, 1).code, status::illegal_command);  // a look has told nobody
    has_not(text(stage.queue()), "untold");
  });
}

CMDQ_TEST(a_producer_that_fills_or_is_gone) {
  on_each_queue([](auto& stage) {
    auto a = stage.producer();
    {
      auto b = stage.producer();
      auto w = b.reserve(1, true);
      has(text(stage.queue()), "producer 1: filling, list [");
      CMDQ_CHECK_EQ(w.push(numbered(1)), status::ok);
      CMDQ_CHECK_EQ(w.commit(), status::ok);
      has_not(text(stage.queue()), "producer 1");
      const command bad = illegal();
      CMDQ_CHECK_EQ(b.insert(&bad, 1).code, status::ok);
      CMDQ_CHECK_EQ(a.issue(&bad, 0).code, status::ok);
    }
    has(text(stage.queue()), "producer 1: idle, detached, untold illegal_command at 2\n");
    has(text(stage.queue()), "producers: 1 of 2 attached\n");
  });
}

// An owner that ends before its member has filled its entries.
CMDQ_TEST(a_duty_until_somebody_has_done_it) {
  for_all_strategies([]<class Allocation>(Allocation) {
    if (Allocation::delegates) return;  // an open writer has claimed nothing
    one_thread<shown_config<counted_time, Allocation>> stage;
    auto a = stage.producer();
    auto b = stage.producer();
    auto of_owner = a.reserve(1, true);
    auto of_member = b.reserve(1, true);
    CMDQ_CHECK_EQ(of_owner.push(numbered(1)), status::ok);
    CMDQ_CHECK_EQ(of_member.push(numbered(2)), status::ok);
    CMDQ_CHECK_EQ(of_owner.commit(), status::timeout);
    has(text(stage.queue()), "told 0, ");
    has(text(stage.queue()), "something is left\n");
    has(text(stage.queue()), ", left a duty\n");
    has(text(stage.queue()), "producer 1: filling, ");
    CMDQ_CHECK_EQ(of_member.commit(), status::ok);
    has_not(text(stage.queue()), " left");
  });
}

CMDQ_TEST(a_queue_that_failed_or_is_retired) {
  on_each_queue([](auto& stage) {
    auto a = stage.producer();
    const command c = numbered(1);
    stage.device.raise_global(gerror::sfm);
    CMDQ_CHECK_EQ(a.issue(&c, 1).code, status::device_fault);
    has(text(stage.queue()), "errors 0x100\n");
    has(text(stage.queue()), "health: failed,");
    stage.queue().retire();
    has(text(stage.queue()), "health: failed retired,");
    has_not(text(stage.queue()), "CONS");  // the registers are another queue's
  });
}

namespace {
/// On the scheduled platform, outside of a scheduler or in one: a device that moves only where it is stepped.
template <class Allocation>
struct scheduled_stage {
  using P = scheduled_platform;
  using machine = model::hardware<P, ring_entry<P>, model::null_hooks>;
  using queue_type = command_queue<machine, shown_config<P, Allocation>>;

  explicit scheduled_stage(position first) : device(model::device_drive::stepped) {
    options o;
    o.log2_size = 4;
    o.batch_limit = 2;
    o.producers = 2;
    o.first = first;
    const auto m = memory->at_device_address(0x1000);
    CMDQ_CHECK_EQ(device.attach(m.entries, o.log2_size, 0x1000, first), status::ok);
    const auto plan = make_plan<shown_config<P, Allocation>>(o, m);
    CMDQ_CHECK(plan.ok());
    queue = std::make_unique<queue_type>(*plan, device);
    for (auto& p : producers) CMDQ_CHECK_EQ(queue->attach(p), status::ok);
  }
  std::unique_ptr<fixed_memory<P, 4, 2>> memory = std::make_unique<fixed_memory<P, 4, 2>>();
  machine device;
  std::unique_ptr<queue_type> queue;
  typename queue_type::producer producers[2];
};
}  // namespace

CMDQ_TEST(who_is_inside_a_call) {
  for_all_strategies([]<class Allocation>(Allocation) {
    scheduled_stage<Allocation> stage(0U - 1);
    std::string seen;
    scheduled_platform::alone_ns = 0;
    scheduled_platform::idle = [&] {
      scheduled_platform::alone_ns += 1'000;
      seen = text(*stage.queue);
    };
    const command c = numbered(1);
    const outcome o = stage.producers[1].issue_for(&c, 1, 100'000);
    scheduled_platform::idle = nullptr;
    CMDQ_CHECK_EQ(o.code, status::timeout);
    has(seen, "producer 1: inside, list [4294967295, ");
    has_not(seen, "producer 0");
    has(text(*stage.queue), "producer 1: owing, ");
  });
}

// Looked at between any two accesses of others.
CMDQ_TEST(positions_are_in_order_under_any_interleaving) {
  for_all_strategies([]<class Allocation>(Allocation) {
    property([] {
      const position first = *rc::gen::element<position>(0, 0U - 3);
      const auto interleaving = *rc::gen::container<choices>(200, rc::gen::arbitrary<std::uint8_t>());
      scheduled_stage<Allocation> stage(first);
      scheduler s(interleaving, 1'000'000);
      for (auto& p : stage.producers)
        s.spawn([&p] {
          const command list[] = {numbered(1), numbered(2)};
          for (std::uint32_t k = 0; k < 4; ++k) CMDQ_CHECK_EQ(p.issue(list, 1 + k % 2).code, status::ok);
        });
      s.spawn([&] {
        while (scheduler::current()->running_threads() > 2)
          if (model::rests(stage.device.step())) scheduled_platform::yield();
      });
      s.spawn([&] {
        const inspector look(*stage.queue);
        position done = first;
        while (scheduler::current()->running_threads() > 2) {
          const queue_picture p = look.queue();
          CMDQ_CHECK(distance(done, p.done) >= 0);
          CMDQ_CHECK(distance(p.done, p.told) >= 0);
          CMDQ_CHECK(distance(p.turn, p.told) >= 0);
          CMDQ_CHECK(distance(p.told, p.claimed) >= 0);
          done = p.done;
          scheduled_platform::yield();
        }
      });
      CMDQ_CHECK(s.run() == scheduler::ending::finished);
    });
  });
}

}  // namespace cmdq::test
