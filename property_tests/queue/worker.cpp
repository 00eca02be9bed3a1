// SPDX-License-Identifier: BSL-1.0
#include "worker.hpp"

#include <algorithm>

namespace cmdq::test {

namespace {
bool any(status s, std::initializer_list<status> of) { return std::find(of.begin(), of.end(), s) != of.end(); }
std::uint32_t size(const std::vector<command>& v) { return static_cast<std::uint32_t>(v.size()); }
}  // namespace

bool worker::refused(std::size_t list) {
  const asked_list& l = asked(list);
  for (std::uint32_t id = l.first; id < l.first + l.n(); ++id)
    if (rig_.log.refused(id)) return true;
  return false;
}

bool worker::aborted(std::size_t list) {
  const asked_list& l = asked(list);
  for (const failed_command& f : rig_.log.failures) {
    if (f.why != cerror::abt) continue;
    const std::uint32_t id = id_of(f.in_memory);
    if (id == no_id || (id >= l.first && id < l.first + l.n())) return true;
  }
  return false;
}

/// An error that a call may only end with when its own commands, or those it answers for, earned it.
void worker::check_error(status s, std::size_t list, const std::vector<std::size_t>& answers_for) {
  if (!honest()) return;
  bool mine = false;
  std::vector<std::size_t> possible = answers_for;
  possible.insert(possible.end(), cut_short_.begin(), cut_short_.end());
  for (const std::size_t l : possible) {
    if (s == status::illegal_command) mine = mine || refused(l);
    if (s == status::fetch_abort) mine = mine || aborted(l);
    const bool shared_sync = shares_syncs(rig_.what.allocation) && asked(l).has(kind::atc);
    if (s == status::atc_timeout) mine = mine || asked(l).has(kind::dead_atc) || shared_sync;
  }
  if (mine) return;
  if (any(s, {status::timeout, status::stalled, status::device_fault}) && expected_ == harm::breaks) return;
  fail_with(s, list, "is nothing that its commands earned");
}

/// Success is claimed for these lists.
void worker::check_ok(std::size_t list, const std::vector<std::size_t>& answers_for) {
  if (!honest()) return;
  for (const std::size_t l : answers_for) {
    if (refused(l)) fail_with(status::ok, list, "although a command was illegal");
    if (asked(l).has(kind::dead_atc)) fail_with(status::ok, list, "although an ATC_INV was not answered");
  }
}

void worker::fail_with(status s, std::size_t list, const char* why) {
  throw failure("producer " + std::to_string(number_) + ", list " + std::to_string(list) + ": " + name(s) + " " + why);
}

status worker::issue(const std::vector<kind>& kinds) {
  const std::size_t list = ask(kinds);
  const std::vector<command> commands = rig_.log.commands(list);
  const outcome o = rig_->issue(number_, commands.data(), size(commands));
  asked(list).inserted = o.inserted;
  CMDQ_CHECK(o.done <= o.inserted && o.inserted <= asked(list).n());
  if (honest()) rig_.log.check_done(list, o.done);
  std::vector<std::size_t> answers_for = owed_;
  answers_for.push_back(list);
  if (o.ok()) {
    CMDQ_CHECK_EQ(o.inserted, asked(list).n());
    CMDQ_CHECK_EQ(o.done, asked(list).n());
    // Whatever the registers say, nothing is done that the device was not told of.
    if (o.lists == 1) CMDQ_CHECK(reached(rig_.bus.told, o.first + o.inserted));
    check_ok(list, answers_for);
    if (honest()) rig_.log.check_producer_done(number_);
  } else {
    check_error(o.code, list, answers_for);
  }
  settle(o.code, list);
  return o.code;
}

/// What is still to be answered for after a call that ended so.
void worker::settle(status s, std::size_t list) {
  if (any(s, {status::ok, status::illegal_command, status::atc_timeout})) {
    owed_.clear();
    cut_short_.clear();
    return;
  }
  if (s == status::fetch_abort) {  // may have been the first error of an earlier list, which hides later ones
    cut_short_.insert(cut_short_.end(), owed_.begin(), owed_.end());
    owed_.clear();
  }
  cut_short_.push_back(list);
}

status worker::insert(const std::vector<kind>& kinds) {
  const std::size_t list = ask(kinds);
  const std::vector<command> commands = rig_.log.commands(list);
  const outcome o = rig_->insert(number_, commands.data(), size(commands));
  asked(list).inserted = o.inserted;
  if (honest()) rig_.log.check_done(list, o.done);
  std::vector<std::size_t> answers_for = owed_;
  answers_for.push_back(list);
  if (o.ok()) {
    CMDQ_CHECK_EQ(o.inserted, asked(list).n());
    owed_.push_back(list);
  } else {
    check_error(o.code, list, answers_for);
    settle(o.code, list);
  }
  return o.code;
}

status worker::fill(const std::vector<kind>& kinds) {
  const bool atc = kinds[0] == kind::atc || kinds[0] == kind::dead_atc;
  // A call that ended early may have left lists in the ring, too.
  if (atc && (!owed_.empty() || !cut_short_.empty() ||
              submitted_)) {  // the writer would refuse it: a CMD_SYNC must come between
    if (const status s = issue({}); s != status::ok) return s;
    submitted_ = false;
  }
  const std::size_t list = ask(kinds);
  asked(list).contiguous = true;
  const std::vector<command> commands = rig_.log.commands(list);
  status reserved = status::ok;
  const status s = rig_->fill(number_, commands.data(), size(commands), true, reserved, [] {});
  if (reserved == status::ok) asked(list).inserted = size(commands);
  std::vector<std::size_t> answers_for = owed_;
  answers_for.push_back(list);
  if (s == status::ok) {
    check_ok(list, answers_for);
    if (honest()) rig_.log.check_producer_done(number_);
  } else {
    CMDQ_CHECK(reserved == status::ok || reserved == s);
    check_error(s, list, answers_for);
  }
  settle(s, list);
  return s;
}

status worker::fill_and_leave(const std::vector<kind>& kinds) {
  const std::size_t list = ask(kinds);
  asked(list).contiguous = true;
  const std::vector<command> commands = rig_.log.commands(list);
  status reserved = status::ok;
  const status s = rig_->fill(number_, commands.data(), size(commands), false, reserved, [] {});
  if (reserved == status::ok) asked(list).inserted = size(commands);
  if (s == status::ok) {
    owed_.push_back(list);
  } else {
    std::vector<std::size_t> answers_for = owed_;
    answers_for.push_back(list);
    check_error(s, list, answers_for);
    settle(s, list);
  }
  return s;
}

std::optional<kept_ticket> worker::submit(const std::vector<kind>& kinds) {
  const std::size_t list = ask(kinds);
  asked(list).contiguous = true;
  const std::vector<command> commands = rig_.log.commands(list);
  const result<ticket> t = rig_->submit(number_, commands.data(), size(commands));
  // ATC invalidations wait for the lists before them.
  const bool waits = asked(list).has(kind::atc) || asked(list).has(kind::dead_atc);
  const bool settles = !cut_short_.empty();  // what an earlier call owes comes first, and is told
  std::vector<std::size_t> answers_for = waits || settles ? owed_ : std::vector<std::size_t>{};
  if (!t) {
    if (std::string_view(t.why().field) == "inserted") asked(list).inserted = size(commands);
    answers_for.push_back(list);
    check_error(t.code(), list, answers_for);
    settle(t.code(), list);
    return std::nullopt;
  }
  if (waits) check_ok(list, answers_for);
  if (waits) settle(status::ok, list);
  asked(list).inserted = size(commands);
  submitted_ = true;
  return kept_ticket{*t, list};
}

status worker::answered(const kept_ticket& k, status s) {
  if (!honest() || any(s, {status::expired, status::would_block})) return s;
  if (s == status::ok) {
    rig_.log.check_done(k.list, asked(k.list).n());
    check_ok(k.list, {k.list});
  } else {
    check_error(s, k.list, {k.list});
  }
  return s;
}

/// Lets the device finish, with the queue's help where an error is left over.
void drain(rig& r) {
  for (unsigned i = 0; i < 1000; ++i) {
    r.device.drain();
    const std::uint32_t active = (r.device.read_gerror() ^ r.device.read_gerrorn()) & gerror::cmdq_err;
    if (active == 0) return;
    if (r->handle_errors().code != status::ok) return;
  }
  throw failure("errors do not end");
}

void check_prods(const rig& r) {
  const geometry g = r.shape();
  std::uint32_t before = g.to_register(r.what.opts.first);
  for (const std::uint32_t prod : r.bus.prods) {
    if (g.ahead(before, prod) > g.entries()) throw failure("PROD went from " + shown(before) + " to " + shown(prod));
    before = prod;
  }
}

}  // namespace cmdq::test
