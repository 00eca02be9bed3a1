// SPDX-License-Identifier: BSL-1.0
// One execution: the threads, who runs next, and what a poll in vain means.
#include "explorer.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>

namespace cmdq::exhaust {

namespace {
constexpr std::uint64_t first_tick_ns = 1'000'000;
constexpr std::uint64_t past_any_deadline_ns = std::uint64_t{1} << 50;
}  // namespace

explorer::explorer(program& what, const limits& how) : what_(what), how_(how), count_(what.threads()) {
  if (count_ > max_threads) throw std::invalid_argument("more threads than the explorer has");
}

std::uint64_t explorer::value_at(const word& w) {
  std::uint64_t v = 0;
  std::memcpy(&v, w.value, w.size);
  return v;
}

void explorer::fail(const std::string& why) {
  found_.failure = why;
  ending_ = ending::failed;
  if (running_ == nullptr) throw broken_promise();
  for (;;) leave();
}

void explorer::execute() {
  events_.clear();
  known_nodes_ = prefix_;
  analysed_ = prefix_ == 0 ? 0 : prefix_ - 1;
  vain_at_ = 0;
  time_outs_ = ticks_ = 0;
  now_ = 0;
  time_clock_ = {};
  ending_ = ending::running;
  next_word_ = first_word;
  what_.begin();
  words_.assign(next_word_, {});
  for (word_state& w : words_) w.reads.fill(-1);
  running_ = this;
  start_threads();
  schedule();
  while (ending_ == ending::running) {
    thread& t = me();
    t.fiber.resume();
    if (ending_ != ending::running || t.state != condition::done) continue;
    if (granted_) record(events_.back(), t, false, 0);  // it ended without another access
    granted_ = false;
    schedule();
  }
  running_ = nullptr;
  confirm();
  reverse_missed();
}

/// Each thread runs to its first access.
void explorer::start_threads() {
  starting_ = true;
  for (unsigned i = 0; i < count_; ++i) {
    thread& t = threads_[i];
    t.state = condition::ready;
    t.goes_on = t.saw_change = t.polls_several = t.polls_writing = t.loops = false;
    t.writes = 0;
    t.late_ns = 0;
    t.clock = {};
    t.loads.clear();
    t.known.clear();
    t.watch.clear();
    t.tried.clear();
    t.last_poll.clear();
    t.fiber.start([this, i](boost::context::fiber&& from) {
      main_.came_from(std::move(from));
      what_.thread(i);
      threads_[i].state = condition::done;
      return main_.leave();
    });
    self_ = i;
    t.fiber.resume();
  }
  starting_ = false;
  granted_ = in_vain_ = false;
}

/// Chooses who goes on: `self_`, until the execution has ended.
void explorer::schedule() {
  while (ending_ == ending::running) {
    node& n = here();
    if (replaying() && vain_at_ < n.in_vain.size()) {
      self_ = n.in_vain[vain_at_++];
      me().goes_on = false;
      in_vain_ = true;
      return;
    }
    choice c = replaying() ? n.chosen : choose(n);
    if (c == no_choice) return;
    if (!possible(c)) {
      n.done |= only(c);
      n.branched = true;
      prefix_ = events_.size();
      continue;
    }
    take(n, c);
    if (c != tick) return;
  }
}

/// The running thread stops here until it is chosen again.
void explorer::hand_over() {
  const unsigned caller = self_;
  schedule();
  if (ending_ != ending::running || self_ != caller) leave();
}

void explorer::take(node& n, choice c) {
  if (!events_.empty() && (events_.back().thread() != thread_of(c) || events_.back().wrote)) confirm();
  const bool forced = replaying() || n.branched;
  n.chosen = c;
  n.branched = true;
  n.backtrack |= only(c);
  vain_at_ = 0;
  if (events_.size() >= how_.depth) {
    found_.failure = "livelock: an execution does not end";
    ending_ = ending::failed;
    return;
  }
  event& e = events_.emplace_back();
  e.what = c;
  e.forced = forced;
  if (c == tick) return let_time_pass();
  self_ = thread_of(c);
  thread& t = me();
  granted_ = !is_time_out(c) && t.state != condition::ready;
  t.state = condition::ready;
  t.goes_on = false;
  if (!is_time_out(c)) return;
  ++time_outs_;
  t.late_ns += past_any_deadline_ns;
  e.kind = access::deadline;
  e.site = "deadline";
  e.where.id = time_out_budget;
  record(e, t, true, 0);
}

void explorer::let_time_pass() {
  event& e = events_.back();
  e.kind = access::time;
  e.site = "time";
  now_ += first_tick_ns << ticks_++;
  for (unsigned i = 0; i < count_; ++i) time_clock_.join(threads_[i].clock);
  ++time_clock_.of[time_slot];
  e.clock = time_clock_;
  for (unsigned i = 0; i < count_; ++i) {
    threads_[i].clock.join(time_clock_);
    threads_[i].goes_on = true;
  }
}

bool explorer::enabled(const thread& t) const {
  if (t.state == condition::ready) return true;
  if (t.state != condition::polling) return false;
  return t.goes_on ||
         std::any_of(t.watch.begin(), t.watch.end(), [](const seen& s) { return value_at(s.where) != s.value; });
}

/// A poll that stores and that nothing has changed for since the last one comes to the same: there is no end to these.
bool explorer::possible(choice c) const {
  if (c >= slots || c == tick) return true;
  const thread& t = threads_[c];
  return t.state != condition::polling || !t.polls_writing || enabled(t);
}

/// The first step from a point: the running thread goes on while it can. Later ones are those that races ask for.
choice explorer::choose(node& n) {
  if (n.branched) {
    for (choice c = 0; c < 2 * slots; ++c)
      if ((n.backtrack & ~n.done & only(c)) != 0 && !n.asleep(c)) return c;
    return end_with(ending::redundant);
  }
  bool slept_through = false;
  for (unsigned i = 0; i < count_; ++i) {
    const unsigned who = (self_ + i) % count_;
    if (!enabled(threads_[who])) continue;
    if (!n.asleep(access_of(who))) return access_of(who);
    slept_through = true;
  }
  if (!slept_through) return choose_stuck(n);
  // Who polls several words may make its first loads now and the others later, which wakes those that sleep here.
  for (unsigned i = 0; i < count_; ++i) {
    const thread& t = threads_[i];
    if (t.state != condition::polling || !t.polls_several || t.polls_writing || n.asleep(access_of(i))) continue;
    n.branched = true;
    return access_of(i);
  }
  return end_with(ending::redundant);
}

/// Nobody can go on: the execution is complete, or leads nowhere new, or only time can help.
choice explorer::choose_stuck(node& n) {
  for (choice c = slots; c < 2 * slots; ++c)
    if ((n.backtrack & ~n.done & only(c)) != 0 && !n.asleep(c)) return c;
  bool left = false;
  for (unsigned i = 0; i < count_; ++i) {
    if (threads_[i].state == condition::given_up) return end_with(ending::redundant);
    left = left || (i < count_ - how_.daemons && threads_[i].state == condition::polling);
  }
  if (!left) return end_with(ending::complete);
  if (ticks_ < how_.ticks) {
    confirm();
    reverse_missed();
    return tick;
  }
  found_.failure = "deadlock: all threads wait";
  return end_with(ending::failed);
}

void explorer::before(access kind, const word& where, const char* site) {
  thread& t = me();
  if (!in_vain_ && !granted_) {
    const bool stops = self_ == how_.stopped && kind != access::load && t.writes == how_.stops_before;
    t.state = stops ? condition::stopped : condition::ready;
    found_.stopped = found_.stopped || stops;
    if (starting_) {
      leave();
    } else {
      hand_over();
    }
  }
  t.pending = where;
  t.pending_site = site;
  if (in_vain_) return;
  granted_ = false;
  event& e = events_.back();
  e.kind = kind;
  e.where = where;
  e.site = site;
}

void explorer::did(bool wrote, std::uint64_t value) {
  thread& t = me();
  if (in_vain_) {
    t.loads.push_back({t.pending, value, words_[t.pending.id].version, t.pending_site});
    note(t, t.loads.back());
  } else {
    record(events_.back(), t, wrote, value);
  }
}

/// Between two polls: of `line`, if that is `alone` what is waited for.
void explorer::pause(const void* line, bool alone) {
  thread& t = me();
  if (t.known.empty() && !granted_) return;
  const bool empty = granted_;  // nothing was looked at since it was chosen
  const std::size_t known = empty ? 0 : known_poll(t);
  const bool whole = known > 1 && known == t.loads.size() && t.loops;
  const bool one_word =
      !whole && !t.loads.empty() && (t.loads.size() == 1 || (alone && t.loads.back().where.object == line));
  const std::size_t poll = one_word ? 1 : known;
  if (in_vain_) {
    in_vain_ = false;
    sleep(t, poll, line, condition::polling);
    return hand_over();
  }
  const std::size_t events = empty ? 1 : poll;
  const bool impossible = (empty || one_word) && events_.back().forced;
  const bool back = impossible || (events != 0 && own_and_free(events));
  if (back) take_back(t, events, impossible);
  sleep(t, poll, line, events != 0 && !back ? condition::given_up : condition::polling);
  if (impossible) reverse_missed(self_);
  offer_time_out(here());
  hand_over();
}

/// How many of the loads before this pause are one poll: of a kind that was seen twice in a row, with nothing else
/// between two pauses. What came before belongs to the caller, who may have kept its values.
std::size_t explorer::known_poll(const thread& t) {
  const auto same_word = [](const seen& a, const seen& b) { return a.where.id == b.where.id; };
  const auto same_site = [](const char* a, const seen& b) { return a == b.site; };
  std::size_t longest = 0;
  for (const std::vector<const char*>& p : polls_)
    if (p.size() > longest && p.size() <= t.loads.size() &&
        std::equal(p.begin(), p.end(), t.loads.end() - static_cast<std::ptrdiff_t>(p.size()), same_site))
      longest = p.size();
  if (longest == t.loads.size() || !t.loops) return longest;
  if (!std::equal(t.loads.begin(), t.loads.end(), t.last_poll.begin(), t.last_poll.end(), same_word)) return longest;
  std::vector<const char*> sites;
  for (const seen& s : t.loads) sites.push_back(s.site);
  polls_.push_back(std::move(sites));
  learnt_ = true;
  return 0;
}

/// Are the last `n` events the running thread's own, and could another have been chosen in place of each?
bool explorer::own_and_free(std::size_t n) const {
  return std::all_of(events_.end() - static_cast<std::ptrdiff_t>(n), events_.end(),
                     [this](const event& e) { return e.thread() == self_ && !e.forced; });
}

/// Loads that came to nothing. `impossible`: the thread was asked to make this one here.
void explorer::take_back(thread& t, std::size_t n, bool impossible) {
  const choice what = events_.back().what;
  for (; n != 0; --n) {
    const event& e = events_.back();
    if (!granted_) {
      words_[e.where.id].reads[self_] = e.previous_read;
      t.clock = e.before;
    }
    events_.pop_back();
  }
  granted_ = false;
  known_nodes_ = events_.size() + 1;
  analysed_ = std::min(analysed_, events_.size());
  node& at = nodes_[events_.size()];
  at.in_vain.push_back(static_cast<std::uint8_t>(self_));
  if (impossible) {
    at.done |= only(what);
    prefix_ = events_.size();
  } else {
    at.branched = false;
    at.backtrack &= ~only(what);
  }
}

/// Until a word changes that the thread looked at: in its last `poll` loads, or, where it is not known which of them
/// were the poll, in any since its last pause.
void explorer::sleep(thread& t, std::size_t poll, const void* line, condition how) {
  t.polls_several = poll != 1;
  t.polls_writing = false;
  t.goes_on = false;
  if (poll != 0) {
    t.watch.assign(t.loads.end() - static_cast<std::ptrdiff_t>(poll), t.loads.end());
  } else if (t.known.empty()) {
    for (seen& s : t.watch) s.value = value_at(s.where);
  } else {
    t.watch.clear();
    std::copy_if(t.known.begin(), t.known.end(), std::back_inserter(t.watch),
                 [=](const seen& s) { return !s.own || s.where.object == line; });
    t.polls_writing = t.watch.size() != t.known.size();
    t.goes_on = t.saw_change;
  }
  t.tried.insert(t.tried.end(), t.watch.begin(), t.watch.end());
  t.last_poll = t.loads;
  t.loads.clear();
  t.known.clear();
  t.saw_change = false;
  t.loops = true;
  t.state = how;
}

/// What a thread itself stored last is nothing that it waits for: it would wake by every other thread that polls so.
void explorer::note(thread& t, const seen& s) {
  for (seen& k : t.known) {
    if (k.where.id != s.where.id) continue;
    t.saw_change = t.saw_change || (!k.own && !s.own && k.value != s.value);
    k = s;
    return;
  }
  t.known.push_back(s);
}

void explorer::offer_time_out(node& n) {
  const choice c = time_out_of(self_);
  if (time_outs_ < how_.time_outs && self_ < count_ - how_.daemons && !n.asleep(c)) n.backtrack |= only(c);
}

}  // namespace cmdq::exhaust
