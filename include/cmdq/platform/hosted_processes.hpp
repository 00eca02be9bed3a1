// SPDX-License-Identifier: BSL-1.0
// Which process has a cell, on Linux: process number and start time, so that a number that the system gives out again
// names another process.
#pragma once

#include <cmdq/platform/hosted.hpp>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace cmdq::platform {

/// `Base` with the members that process_platform asks for. All processes must see the same process numbers (one PID
/// namespace) and /proc; without /proc a process counts as gone only while its number names nobody.
template <class Base>
struct hosted_processes : Base {
  /// Number of the calling process. Cost: reads /proc/self/stat.
  static std::uint64_t process() noexcept {
    const auto pid = static_cast<std::uint64_t>(getpid());
    const state s = state_of(pid);
    return (s.started << pid_bits) | pid;
  }

  /// Cost: a system call, and /proc/PID/stat while the number names somebody. One that is dead and not waited for yet
  /// runs no more instructions: it is gone.
  static bool process_gone(std::uint64_t number) noexcept {
    const std::uint64_t pid = number & ((std::uint64_t{1} << pid_bits) - 1);
    if (kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return true;
    const state s = state_of(pid);
    if (s.letter == 'Z' || s.letter == 'X') return true;
    const std::uint64_t started = number >> pid_bits;
    return s.letter != 0 && started != 0 && s.started != started;
  }

 private:
  static constexpr unsigned pid_bits = 22;  ///< Linux gives out no number of 2^22 or above

  struct state {
    char letter = 0;            ///< 0: not known
    std::uint64_t started = 0;  ///< clock ticks since boot
  };

  /// "PID (name) LETTER ...": the name may hold anything, so the last parenthesis counts. Field 22 is the start time.
  static state state_of(std::uint64_t pid) noexcept {
    char text[512];
    std::snprintf(text, sizeof text, "/proc/%llu/stat", static_cast<unsigned long long>(pid));
    const int file = open(text, O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    const ssize_t n = read(file, text, sizeof text - 1);
    close(file);
    if (n <= 0) return {};
    text[n] = 0;
    const char* at = std::strrchr(text, ')');
    if (at == nullptr || at[1] != ' ') return {};
    state s{.letter = at[2]};
    at += 2;
    for (unsigned field = 3; field < 22 && at != nullptr; ++field) {
      at = std::strchr(at, ' ');
      if (at != nullptr) ++at;
    }
    if (at != nullptr) s.started = std::strtoull(at, nullptr, 10);
    return s;
  }
};

}  // namespace cmdq::platform
