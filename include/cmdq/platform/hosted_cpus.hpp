// SPDX-License-Identifier: BSL-1.0
// The CPUs of the machine, numbered so that neighbours have near numbers: what options.groups needs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#if defined(__linux__)
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>
#endif

namespace cmdq::platform {

#if defined(__linux__)

/// Ranks of CPUs by package, die, cluster and core, as the kernel's topology files say; what a file does not say counts
/// as equal, so without them the order is that of the kernel's numbers.
class cpu_order {
 public:
  static constexpr std::uint32_t most = 1024;
  static constexpr const char* kernel_files = "/sys/devices/system/cpu";

  /// Reads four files for each of `count` CPUs. Cost: some ten microseconds per CPU.
  explicit cpu_order(std::uint32_t count, const char* root = kernel_files) noexcept : count_(std::min(count, most)) {
    std::array<place, most> found;
    for (std::uint32_t cpu = 0; cpu < count_; ++cpu) found[cpu] = place_of(root, cpu);
    std::sort(found.begin(), found.begin() + count_);
    for (std::uint32_t i = 0; i < count_; ++i) rank_[found[i].back()] = static_cast<std::uint16_t>(i);
  }

  /// Of all CPUs that the system has, whichever the caller may use; read at the first call.
  static const cpu_order& of_this_machine() noexcept {
    static const cpu_order order(static_cast<std::uint32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_CONF))));
    return order;
  }

  /// 0 for a CPU that it does not know.
  [[nodiscard]] std::uint32_t rank(int cpu) const noexcept {
    return cpu < 0 || static_cast<std::uint32_t>(cpu) >= most ? 0 : rank_[static_cast<std::uint32_t>(cpu)];
  }

 private:
  using place = std::array<std::uint32_t, 5>;  ///< package, die, cluster, core, and the CPU's own number

  static place place_of(const char* root, std::uint32_t cpu) noexcept {
    place p{};
    constexpr std::array files{"physical_package_id", "die_id", "cluster_id", "core_id"};
    for (std::size_t i = 0; i < files.size(); ++i) p[i] = number_in(root, cpu, files[i]);
    p.back() = cpu;
    return p;
  }
  static std::uint32_t number_in(const char* root, std::uint32_t cpu, const char* file) noexcept {
    std::array<char, 256> path;
    std::array<char, 16> text{};
    const int length = std::snprintf(path.data(), path.size(), "%s/cpu%u/topology/%s", root, cpu, file);
    if (length < 0 || static_cast<std::size_t>(length) >= path.size()) return 0;
    const int fd = open(path.data(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    const auto got = read(fd, text.data(), text.size() - 1);
    close(fd);
    return got <= 0 ? 0 : static_cast<std::uint32_t>(std::strtol(text.data(), nullptr, 10));
  }

  std::uint32_t count_;
  std::array<std::uint16_t, most> rank_{};
};

/// How many CPUs the calling thread may use; 0 where the system does not tell.
inline std::uint32_t cpu_count() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<std::uint32_t>(CPU_COUNT(&set)) : 0;
}
/// The CPU that the thread is on now, by its rank.
inline std::uint32_t cpu_rank() noexcept { return cpu_order::of_this_machine().rank(sched_getcpu()); }

#else

inline std::uint32_t cpu_count() noexcept { return 0; }
inline std::uint32_t cpu_rank() noexcept { return 0; }

#endif

}  // namespace cmdq::platform
