// SPDX-License-Identifier: BSL-1.0
// The queue under test with a modelled device, behind one interface for all combinations of policies: the tests are
// compiled once, the queue once per combination (rigs_*.cpp).
#pragma once

#include <cmdq/allocation/strategies.hpp>
#include <cmdq/model/hardware.hpp>
#include <cmdq/model/hostile.hpp>
#include <cmdq/queue/command_queue.hpp>
#include <cmdq/queue/options.hpp>
#include <cmdq/queue/ticket.hpp>
#include <cmdq/stats/counters.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "history.hpp"
#include "support/scheduled_platform.hpp"
#include "support/test.hpp"

namespace cmdq::test {

#define CMDQ_NAME(name, locked) name,
enum class strategy : std::uint8_t { CMDQ_FOR_EACH_STRATEGY(CMDQ_NAME) };
#undef CMDQ_NAME
#define CMDQ_NAME(name, locked) strategy::name,
inline constexpr strategy all_strategies[] = {CMDQ_FOR_EACH_STRATEGY(CMDQ_NAME)};
#undef CMDQ_NAME
/// One CMD_SYNC for several lists; options.groups.
constexpr bool shares_syncs(strategy s) {
#define CMDQ_SHARES(name, locked) allocation::name::needs_range_ends,
  constexpr bool shares[] = {CMDQ_FOR_EACH_STRATEGY(CMDQ_SHARES)};
#undef CMDQ_SHARES
  return shares[static_cast<unsigned>(s)];
}
/// No list is in the ring before there is space for it.
constexpr bool looks_for_space_first(strategy s) {
#define CMDQ_CLAIMS(name, locked) allocation::name::claims_before_space,
  constexpr bool claims_first[] = {CMDQ_FOR_EACH_STRATEGY(CMDQ_CLAIMS)};
#undef CMDQ_CLAIMS
  return !claims_first[static_cast<unsigned>(s)];
}

/// Which queue: the policies, the options, the device.
struct setup {
  strategy allocation = strategy::combining;
  bool msi = false;     ///< completion::poll_msi
  bool locked = false;  ///< reclaim::sync_locked (combining and delegated ignore it)
  bool park = false;    ///< wait::park
  options opts{.groups = 1};
  model::capabilities caps;
  model::pace speed;
};

/// reclaim::sync_locked: also wherever wait::park is tried.
inline bool locks(const setup& s) { return s.locked || s.park; }

/// Deadline of the tests, in virtual time: long enough that only a standing device exceeds it.
inline constexpr std::uint64_t test_deadline_ns = 2'000'000;

using machine = model::hardware<scheduled_platform, ring_entry<scheduled_platform>, history_hooks>;

/// The device as the queue sees it: the model, lies where a test wants them, and a record of what is written.
class front {
 public:
  front(machine& m, std::uint32_t seed) : liar(m, model::lie::none, seed) {}
  void write_prod(std::uint32_t v) {
    if (watch) watch();
    prods.push_back(v);
    told += geometry{log2}.ahead(told, v);
    liar.write_prod(v);
  }
  std::uint32_t read_cons() {
    ++cons_reads;
    if (watch) watch();
    return cons_filter ? cons_filter(liar.read_cons()) : liar.read_cons();
  }
  std::uint32_t read_gerror() {
    ++gerror_reads;
    return liar.read_gerror();
  }
  std::uint32_t read_gerrorn() {
    if (at_gerrorn) at_gerrorn();
    return liar.read_gerrorn();
  }
  void write_gerrorn(std::uint32_t v) {
    ++acknowledgements;
    liar.write_gerrorn(v);
  }

  model::hostile_device<scheduled_platform, machine> liar;
  std::function<std::uint32_t(std::uint32_t)> cons_filter;
  std::function<void()> watch;  ///< called before each access of CMDQ_PROD and CMDQ_CONS
  unsigned log2 = min_log2_size;
  position told = 0;                 ///< PROD, free-running
  std::vector<std::uint32_t> prods;  ///< every value written to CMDQ_PROD
  std::uint64_t acknowledgements = 0;
  std::uint64_t cons_reads = 0;
  std::uint64_t gerror_reads = 0;
  std::function<void()> at_gerrorn;  ///< called before GERRORN is read
};

/// The queue's calls, with the producer's number where the library has an object.
class queue_face {
 public:
  virtual ~queue_face() = default;
  virtual status attach(unsigned producer) = 0;
  virtual void detach(unsigned producer) = 0;
  virtual outcome issue(unsigned producer, const command* list, std::uint32_t n) = 0;
  virtual outcome issue_for(unsigned producer, const command* list, std::uint32_t n, std::uint64_t ns) = 0;
  virtual outcome insert(unsigned producer, const command* list, std::uint32_t n) = 0;
  /// Fills claimed entries in place, and waits for them if `sync`. `reserved`: what the claim said; nothing is inserted
  /// unless ok. `meanwhile` is done while the entries are claimed and not published.
  virtual status fill(unsigned producer, const command* list, std::uint32_t n, bool sync, status& reserved,
                      const std::function<void()>& meanwhile) = 0;
  virtual result<ticket> submit(unsigned producer, const command* list, std::uint32_t n) = 0;
  virtual status poll(unsigned producer, const ticket& t) = 0;
  virtual status wait(unsigned producer, const ticket& t, std::uint64_t ns) = 0;
  virtual error_report handle_errors() = 0;
  virtual void acknowledge(std::uint32_t bits) = 0;
  virtual std::uint32_t pending_errors() = 0;
  virtual status recover(msis m = msis::may_come) = 0;
  [[nodiscard]] virtual std::uint32_t prod_register() const = 0;
  [[nodiscard]] virtual std::uint32_t cons_register() const = 0;
  [[nodiscard]] virtual stats::counters stats(unsigned producer) const = 0;
};

/// Memory, device, history and queue of one case.
class rig {
 public:
  explicit rig(const setup& s, std::uint32_t seed = 1);
  ~rig();
  rig(const rig&) = delete;
  rig& operator=(const rig&) = delete;

  /// Every call of the queue goes through here.
  queue_face* operator->() { return queue_.get(); }

  [[nodiscard]] geometry shape() const { return {what.opts.log2_size}; }
  [[nodiscard]] ring_memory<scheduled_platform> memory();
  /// Entries that one list may have at most, with its CMD_SYNC.
  [[nodiscard]] std::uint32_t longest() const { return longest_list(what.opts); }

  /// Looks whether software CONS went back; called at each access of the device, too.
  void watch();
  bool cons_went_back = false;

  /// Outside of a scheduler: whether fruitless polls let the device work.
  bool device_runs = true;

  setup what;
  history log;
  machine device;
  front bus;

 private:
  std::unique_ptr<ring_entry<scheduled_platform>[]> entries_;
  std::unique_ptr<scheduled_platform::atomic<std::uint32_t>[]> valid_;
  std::unique_ptr<scheduled_platform::atomic<std::uint64_t>[]> marks_;
  std::unique_ptr<scheduled_platform::atomic<std::uint32_t>[]> range_ends_;
  std::unique_ptr<producer_cell<scheduled_platform>[]> cells_;
  std::unique_ptr<gather_group<scheduled_platform>[]> groups_;
  std::unique_ptr<mailbox_line<scheduled_platform>[]> mailboxes_;
  std::unique_ptr<queue_face> queue_;
  std::uint32_t last_cons_ = 0;
  std::uint64_t idle_calls_ = 0;
};

/// make_plan() for these policies.
refusal check_plan(const setup& s, const ring_memory<scheduled_platform>& m);

/// The queue of a setup; null where make_plan() refuses it.
std::unique_ptr<queue_face> make_queue(const setup& s, const ring_memory<scheduled_platform>& m, front& device);

std::string shown(const setup& s);

}  // namespace cmdq::test
