// SPDX-License-Identifier: BSL-1.0
// One producer of a test: asks for lists, and judges every answer by what the device has done.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "rig.hpp"

namespace cmdq::test {

/// What may happen to a call besides its own errors.
enum class harm : std::uint8_t {
  none,    ///< nothing: every call ends as its commands deserve
  breaks,  ///< the device may fail or stand too long: any call may end with timeout, stalled or device_fault
  lies,    ///< registers show what is not so: only safety is asked for
};

/// A ticket and the list it is for.
struct kept_ticket {
  ticket t;
  std::size_t list = 0;
};

class worker {
 public:
  /// `expected` is looked at when a call ends.
  worker(rig& r, unsigned number, const harm& expected) : rig_(r), number_(number), cpu_(number), expected_(expected) {}

  void attach() { CMDQ_CHECK_EQ(rig_->attach(number_), status::ok); }
  /// From now on its calls are made on this CPU; at first on that of its number.
  void move_to(std::uint32_t cpu) { cpu_ = cpu; }
  status issue(const std::vector<kind>& kinds);
  status insert(const std::vector<kind>& kinds);
  /// As issue(), filled in place. Precondition: a list that is not cut, not empty.
  status fill(const std::vector<kind>& kinds);
  /// As insert(), filled in place. Precondition: as fill(), and no ATC invalidations.
  status fill_and_leave(const std::vector<kind>& kinds);
  std::optional<kept_ticket> submit(const std::vector<kind>& kinds);
  status poll(const kept_ticket& k) { return answered(k, rig_->poll(number_, k.t)); }
  status wait(const kept_ticket& k, std::uint64_t ns) { return answered(k, rig_->wait(number_, k.t, ns)); }

 private:
  std::size_t ask(const std::vector<kind>& kinds) {
    scheduled_platform::move_to(cpu_);
    return rig_.log.ask(number_, kinds);
  }
  asked_list& asked(std::size_t list) { return rig_.log.lists[list]; }
  [[nodiscard]] bool honest() const { return expected_ != harm::lies; }
  bool refused(std::size_t list);
  bool aborted(std::size_t list);
  void check_error(status s, std::size_t list, const std::vector<std::size_t>& answers_for);
  void check_ok(std::size_t list, const std::vector<std::size_t>& answers_for);
  [[noreturn]] void fail_with(status s, std::size_t list, const char* why);
  void settle(status s, std::size_t list);
  status answered(const kept_ticket& k, status s);

  rig& rig_;
  unsigned number_;
  std::uint32_t cpu_;
  const harm& expected_;
  std::vector<std::size_t> owed_;       ///< lists of ours that no waited call has answered for yet
  bool submitted_ = false;              ///< lists whose CMD_SYNC may come later
  std::vector<std::size_t> cut_short_;  ///< lists whose calls ended early: a part may be answered for later
};

/// Lets the device finish, with the queue's help where an error is left over.
void drain(rig& r);

/// PROD moved forward only, and never by more than the ring.
void check_prods(const rig& r);

}  // namespace cmdq::test
