// SPDX-License-Identifier: BSL-1.0
// Ranks of CPUs from the kernel's topology files.
#include <algorithm>
#include <cmdq/platform/hosted_cpus.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/test.hpp"

using namespace cmdq;
using namespace cmdq::test;

#if defined(__linux__)

namespace {

/// A directory like the kernel's.
class fake_machine {
 public:
  fake_machine() : root_(std::filesystem::temp_directory_path() / ("cmdq-cpus-" + std::to_string(getpid()))) {}
  ~fake_machine() { std::filesystem::remove_all(root_); }
  fake_machine(const fake_machine&) = delete;
  fake_machine& operator=(const fake_machine&) = delete;

  void says(unsigned cpu, const char* file, const std::string& text) const {
    const auto folder = root_ / ("cpu" + std::to_string(cpu)) / "topology";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / file) << text << '\n';
  }
  [[nodiscard]] std::vector<std::uint32_t> ranks(unsigned cpus) const {
    const platform::cpu_order order(cpus, root_.c_str());
    std::vector<std::uint32_t> out;
    for (unsigned cpu = 0; cpu < cpus; ++cpu) out.push_back(order.rank(static_cast<int>(cpu)));
    return out;
  }

 private:
  std::filesystem::path root_;
};

}  // namespace

CMDQ_TEST(cpus_of_a_package_are_neighbours_however_the_kernel_numbers_them) {
  const fake_machine m;
  for (unsigned cpu = 0; cpu < 8; ++cpu) {  // packages alternate; cores 0 and 1 of each have two threads
    m.says(cpu, "physical_package_id", std::to_string(cpu % 2));
    m.says(cpu, "core_id", std::to_string(cpu / 2 % 2));
  }
  CMDQ_CHECK(m.ranks(8) == (std::vector<std::uint32_t>{0, 4, 2, 6, 1, 5, 3, 7}));
}

CMDQ_TEST(dies_count_before_clusters_and_clusters_before_cores) {
  const fake_machine m;
  const unsigned die[] = {1, 0, 1, 0};
  const unsigned cluster[] = {0, 7, 0, 3};
  const unsigned core[] = {9, 0, 2, 5};
  for (unsigned cpu = 0; cpu < 4; ++cpu) {
    m.says(cpu, "die_id", std::to_string(die[cpu]));
    m.says(cpu, "cluster_id", std::to_string(cluster[cpu]));
    m.says(cpu, "core_id", std::to_string(core[cpu]));
  }
  CMDQ_CHECK(m.ranks(4) == (std::vector<std::uint32_t>{3, 1, 2, 0}));
}

CMDQ_TEST(without_topology_files_cpus_keep_their_numbers) {
  const fake_machine m;
  CMDQ_CHECK(m.ranks(5) == (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
  const platform::cpu_order two(2);
  CMDQ_CHECK_EQ(two.rank(-1), 0U);
  CMDQ_CHECK_EQ(two.rank(4000), 0U);
}

CMDQ_TEST(this_machine_counts_each_cpu_once) {
  const auto cpus = static_cast<unsigned>(sysconf(_SC_NPROCESSORS_CONF));
  std::vector<bool> seen(cpus);
  for (unsigned cpu = 0; cpu < std::min(cpus, platform::cpu_order::most); ++cpu) {
    const auto rank = platform::cpu_order::of_this_machine().rank(static_cast<int>(cpu));
    CMDQ_CHECK(rank < cpus && !seen[rank]);
    seen[rank] = true;
  }
  CMDQ_CHECK(platform::cpu_count() >= 1);
}

#endif
