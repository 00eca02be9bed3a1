// SPDX-License-Identifier: BSL-1.0
// What a case did: the lists that producers asked for, what the device executed, and the checks of one against the
// other. Each command carries a number of its own in both words, so that a torn, lost, doubled or foreign one is seen.
#pragma once

#include <cmdq/model/hooks.hpp>
#include <cmdq/smmuv3/wire.hpp>
#include <cstdint>
#include <vector>

namespace cmdq::test {

using std::uint32_t;

/// What a test command is.
enum class kind : std::uint8_t { tlb, configuration, atc, dead_atc, illegal };

inline constexpr std::uint32_t dead_stream_id = 0xdead;

command make_command(kind k, std::uint32_t id);

/// The number of a command, `no_id` for a CMD_SYNC; throws when its words disagree (a torn entry).
inline constexpr std::uint32_t no_id = ~0U;
std::uint32_t id_of(const command& c);

struct executed_command {
  position at = 0;
  command what;
};
struct failed_command {
  position at = 0;
  command in_memory;  ///< the entry as it stood when the device refused it
  cerror why = cerror::none;
};

/// A list that a producer asked for: commands first .. first + n - 1.
struct asked_list {
  unsigned producer = 0;
  std::uint32_t first = 0;
  std::vector<kind> kinds;
  std::uint32_t inserted = 0;  ///< as the queue said
  bool contiguous = false;     ///< it must not be cut
  [[nodiscard]] std::uint32_t n() const { return static_cast<std::uint32_t>(kinds.size()); }
  [[nodiscard]] bool has(kind k) const;
};

class history {
 public:
  /// Numbers the commands of a new list and returns its index.
  std::size_t ask(unsigned producer, const std::vector<kind>& kinds);
  [[nodiscard]] std::vector<command> commands(std::size_t list) const;

  // From the device.
  void executed(position at, const command& c) noexcept;
  void effect(const command& c) noexcept;
  void failed(position at, const command& in_memory, cerror why) noexcept;

  [[nodiscard]] std::uint32_t times_executed(std::uint32_t id) const { return id < times_.size() ? times_[id] : 0; }
  [[nodiscard]] bool took_effect(std::uint32_t id) const { return id < effects_.size() && effects_[id] != 0; }
  /// True when the device refused this command for good (an illegal one, replaced by the queue).
  [[nodiscard]] bool refused(std::uint32_t id) const;

  /// The first `n` commands of a list are executed (or refused) and visible. Throws otherwise.
  void check_done(std::size_t list, std::uint32_t n) const;
  /// Everything that this producer has in the ring is executed.
  void check_producer_done(unsigned producer) const;
  /// Nothing was executed twice or torn, lists are in order and do not interleave. Any time.
  void check_order() const;
  /// All that is inserted was executed, nothing else was. Once the device has drained the ring.
  void check_complete() const;

  std::vector<asked_list> lists;
  std::vector<executed_command> log;
  std::vector<failed_command> failures;
  bool repeats = false;  ///< quirk repeat_invalidations: twice is right

 private:
  std::vector<std::uint32_t> times_;
  std::vector<std::uint32_t> effects_;
  std::vector<std::uint32_t> at_;  ///< where it was executed or refused
  bool torn_ = false;
};

/// Hooks of the modelled device.
struct history_hooks : model::null_hooks {
  history* log = nullptr;
  const void* entries = nullptr;
  std::uint32_t mask = 0;
  /// What an MSI writes instead of the honest value (hostile).
  bool lie_in_msi = false;
  std::uint64_t msi_lie = 0;

  history_hooks() = default;
  history_hooks(history& h, const void* ring, std::uint32_t slot_mask) : log(&h), entries(ring), mask(slot_mask) {}
  void executed(position at, const command& c, std::uint64_t) { log->executed(at, c); }
  void effect(const command& c) { log->effect(c); }
  void failed(position at, const command& what, cerror why);
  std::uint64_t msi_value(std::uint64_t honest) { return lie_in_msi ? msi_lie : honest; }
};

}  // namespace cmdq::test
