// SPDX-License-Identifier: BSL-1.0
// What takes part in a contention run: a queue of one combination of policies, or a baseline.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../devices.hpp"

namespace bench {

/// One run's shape.
struct scenario {
  std::uint32_t threads = 1;
  std::uint32_t list = 1;  ///< commands per list, without its CMD_SYNC
  device_kind dev;
  double seconds = 0.25;   ///< fixed time; or, if `work` is not 0,
  std::uint64_t work = 0;  ///< fixed work: lists of each thread
};

/// One thread's way in.
class session {
 public:
  virtual ~session() = default;
  /// Inserts a list with a CMD_SYNC and waits until the device has done both. False: it failed.
  virtual bool issue(const cmdq::command* list, std::uint32_t n) = 0;
  /// Failed compare-exchanges so far.
  [[nodiscard]] virtual std::uint64_t retries() const { return 0; }
};

/// CPUs that gather on their own first, for combining_groups. Set by main; 0: 8 on a large machine, else half of it.
inline std::uint32_t cpus_per_group = 0;

class contender {
 public:
  contender(const scenario& s) : storage_(std::make_unique<ring_storage>()), device_(entries(), s.threads, s.dev) {}
  virtual ~contender() = default;
  contender(const contender&) = delete;
  contender& operator=(const contender&) = delete;
  virtual std::unique_ptr<session> join() = 0;
  /// Everybody has left: threads of its own end.
  virtual void close() {}
  device& dev() { return device_; }

 protected:
  [[nodiscard]] cmdq::ring_memory<P> memory() { return storage_->memory(); }
  [[nodiscard]] cmdq::ring_entry<P>* entries() { return memory().entries; }

 private:
  std::unique_ptr<ring_storage> storage_;
  device device_;
};

using maker = std::unique_ptr<contender> (*)(const scenario&);

/// What a contender is. A thread that starves is a failure of a queue of this library, and a result of the others.
enum class side : std::uint8_t {
  ours,      ///< a queue of this library
  baseline,  ///< the driver before 2019 and its relatives: producers write the ring themselves
  pump,      ///< another project's queue in front of a thread that writes the ring: combines, with a thread of its own
};

struct entrant {
  std::string strategy;
  std::string completion;  ///< cons, msi, automatic
  std::string wait;        ///< yield (spin_then_yield), park, spin
  side is = side::ours;
  maker make = nullptr;
};

std::vector<entrant> lock_baselines();
std::vector<entrant> third_party();

/// All of them: every shipped strategy, the baselines, and the third-party queues that were found when this was built.
std::vector<entrant> all_entrants();

}  // namespace bench
