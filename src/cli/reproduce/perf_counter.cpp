// SPDX-License-Identifier: BSL-1.0
#include "reproduce/perf_counter.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

namespace cmdq::cli {

namespace {

int open_counter(std::uint64_t what, int leader) {
  perf_event_attr a{};
  a.type = PERF_TYPE_HARDWARE;
  a.size = sizeof a;
  a.config = what;
  if (leader < 0) a.disabled = 1;
  a.exclude_kernel = 1;
  a.exclude_hv = 1;
  a.read_format = PERF_FORMAT_GROUP;
  return static_cast<int>(syscall(SYS_perf_event_open, &a, 0, -1, leader, 0));
}

}  // namespace

perf_counter::perf_counter() : leader_(open_counter(PERF_COUNT_HW_INSTRUCTIONS, -1)) {
  if (leader_ < 0) return;
  second_ = open_counter(PERF_COUNT_HW_CPU_CYCLES, leader_);
  if (second_ >= 0) return;
  close(leader_);
  leader_ = -1;
}

perf_counter::~perf_counter() {
  if (second_ >= 0) close(second_);
  if (leader_ >= 0) close(leader_);
}

void perf_counter::start() noexcept {
  if (!works()) return;
  ioctl(leader_, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
  ioctl(leader_, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
}

counted perf_counter::stop() noexcept {
  if (!works()) return {};
  ioctl(leader_, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
  std::array<std::uint64_t, 3> got{};  // how many, then each
  if (read(leader_, got.data(), sizeof got) != sizeof got || got[0] != 2) return {};
  return {got[1], got[2]};
}

}  // namespace cmdq::cli
