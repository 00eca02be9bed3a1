// SPDX-License-Identifier: BSL-1.0
// A queue and its modelled device on one thread: the device works inside the PROD write, time is a number, and each
// look at the clock moves it, so that every deadline ends.
#pragma once

#include <cmdq/model/hardware.hpp>
#include <cmdq/platform/std_atomic.hpp>
#include <cmdq/queue/command_queue.hpp>
#include <cmdq/queue/fixed_memory.hpp>
#include <memory>
#include <vector>

#include "support/test.hpp"

namespace cmdq::test {

struct counted_time : platform::std_atomic {
  static inline std::uint64_t now = 0;
  static std::uint64_t now_ns() noexcept { return now += 100; }
  static void pause(const void*, unsigned) noexcept {}
  static void yield() noexcept {}
  static void sleep_ns(std::uint64_t ns) noexcept { now += ns; }
};

/// Commands executed, without CMD_SYNCs.
struct executed_commands : model::null_hooks {
  std::vector<command>* to = nullptr;
  void executed(position, const command& c, std::uint64_t) const {
    if (opcode_of(c.word[0]) != opcode_sync) to->push_back(c);
  }
};

struct one_thread_config : freestanding_config {
  using platform = counted_time;
};

/// TLBI_NH_VA, told apart by its address.
inline command numbered(std::uint64_t i) { return {{0x12, i << 12}}; }
inline command illegal() { return {{0xff, 0}}; }

template <class Config = one_thread_config>
class one_thread {
 public:
  using device_type = model::hardware<counted_time, ring_entry<counted_time>, executed_commands>;
  using queue_type = command_queue<device_type, Config>;
  static constexpr unsigned log2_size = 6;

  /// `base`: quirks and limits of the device, as options.
  explicit one_thread(std::uint32_t batch_limit = 8, std::uint32_t producers = 2, const options& base = {})
      : device(model::device_drive::in_write, {}, hooks_to(executed)) {
    CMDQ_CHECK_EQ(device.attach(memory_->memory().entries, log2_size, memory_->memory().device_address), status::ok);
    options o = base;
    o.log2_size = log2_size;
    o.batch_limit = batch_limit;
    o.producers = producers;
    o.deadline_ns = 1'000'000;
    const auto p = make_plan<Config>(o, memory_->memory());
    CMDQ_CHECK(p.ok());
    queue_ = std::make_unique<queue_type>(*p, device);
  }
  queue_type& queue() { return *queue_; }
  typename queue_type::producer producer() {
    typename queue_type::producer p;
    CMDQ_CHECK_EQ(queue_->attach(p), status::ok);
    return p;
  }

  std::vector<command> executed;
  device_type device;

 private:
  static executed_commands hooks_to(std::vector<command>& to) {
    executed_commands h;
    h.to = &to;
    return h;
  }
  std::unique_ptr<fixed_memory<counted_time, log2_size, 4>> memory_ =
      std::make_unique<fixed_memory<counted_time, log2_size, 4>>();
  std::unique_ptr<queue_type> queue_;
};

}  // namespace cmdq::test
