// SPDX-License-Identifier: BSL-1.0
// What an execution shows: conflicts whose other order is to be explored, and where to go on.
#include "explorer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace cmdq::exhaust {

/// The point before the next event, made from the one before it where it is new.
node& explorer::here() {
  const std::size_t i = events_.size();
  if (i < known_nodes_) return nodes_[i];
  node& n = nodes_[i];
  n.clear();
  known_nodes_ = i + 1;
  if (i == 0) return n;
  const event& e = events_[i - 1];
  for (const sleeper& s : nodes_[i - 1].sleep)
    if (thread_of(s.what) != e.thread() && !e.conflicts(s.word, s.writes)) n.sleep.push_back(s);
  return n;
}

/// Happens-before, and the races of an event: who conflicts with it, with nothing in between.
void explorer::record(event& e, thread& t, bool wrote, std::uint64_t value) {
  e.wrote = wrote;
  e.value = value;
  e.before = t.clock;
  word_state& w = words_[e.where.id];
  std::array<int, slots> earlier;
  unsigned n = 0;
  if (e.where.id != 0 && w.last_write >= 0) earlier[n++] = w.last_write;
  for (unsigned q = 0; wrote && q < max_threads; ++q)
    if (w.reads[q] >= 0) earlier[n++] = w.reads[q];
  for (unsigned i = 0; i < n; ++i) {
    const event& c = events_[static_cast<std::size_t>(earlier[i])];
    bool between = c.happens_before(e.before);
    for (unsigned k = 0; k < n && !between; ++k)
      between = k != i && c.happens_before(events_[static_cast<std::size_t>(earlier[k])].clock);
    if (!between) e.races[e.race_count++] = earlier[i];
    t.clock.join(c.clock);
  }
  ++t.clock.of[e.thread()];
  e.clock = t.clock;
  const int index = static_cast<int>(&e - events_.data());
  if (wrote) {
    e.previous_write = w.last_write;
    w.last_write = index;
    ++w.version;
    w.reads.fill(-1);
    t.loads.clear();
    t.tried.clear();
    t.loops = false;
    if (e.kind != access::deadline) ++t.writes;
  } else if (e.where.id != 0) {
    e.previous_read = w.reads[e.thread()];
    w.reads[e.thread()] = index;
    t.loads.push_back({e.where, value, w.version, e.site});
  }
  if (e.where.value != nullptr) note(t, {e.where, value, w.version, e.site, wrote});
}

/// The events so far stand: their races are told.
void explorer::confirm() {
  for (; analysed_ < events_.size(); ++analysed_) {
    const event& e = events_[analysed_];
    for (unsigned i = 0; i < e.race_count; ++i) reverse(e.races[i], e, analysed_);
  }
}

/// `second` is to come before `first`: one of the events that can come first among those after `first` that do not
/// depend on it is to be explored there. events_[.., end) came before `second`.
void explorer::reverse(int first, const event& second, std::size_t end) {
  const event& e = events_[static_cast<std::size_t>(first)];
  std::array<const event*, slots> firsts{};
  std::array<const event*, slots> order{};
  unsigned n = 0;
  const auto see = [&](const event& f) {
    if (firsts[f.thread()] == nullptr) firsts[f.thread()] = order[n++] = &f;
  };
  for (std::size_t k = static_cast<std::size_t>(first) + 1; k < end; ++k)
    if (!e.happens_before(events_[k].clock)) see(events_[k]);
  see(second);
  node& at = nodes_[static_cast<std::size_t>(first)];
  choice_set initials = 0;
  for (unsigned i = 0; i < n; ++i) {
    bool initial = true;
    for (unsigned k = 0; k < i && initial; ++k) initial = !order[k]->happens_before(order[i]->clock);
    if (!initial) continue;
    if (at.asleep(order[i]->what)) return;
    initials |= only(order[i]->what);
  }
  if ((initials & (at.backtrack | at.done)) != 0) return;
  const bool second_first = (initials & only(second.what)) != 0;
  at.backtrack |= second_first ? only(second.what) : initials & (~initials + 1);
}

/// A thread that polls in vain may have missed a value that was there for a while: the poll is to be tried before the
/// write that replaced it. A poll of several words is not known by what each of them held.
void explorer::reverse_missed(unsigned who) {
  const thread& t = threads_[who];
  for (const seen& s : t.watch) {
    int write = words_[s.where.id].last_write;
    for (unsigned version = words_[s.where.id].version; write >= 0; --version) {
      const event& w = events_[static_cast<std::size_t>(write)];
      if (w.happens_before(t.clock)) break;
      const bool known = !t.polls_several && std::any_of(t.tried.begin(), t.tried.end(), [&](const seen& before) {
        return before.where.id == s.where.id && before.version + 1 == version;
      });
      if (!known) {
        event poll;
        poll.what = access_of(who);
        poll.clock = t.clock;
        poll.clock.join(w.clock);
        ++poll.clock.of[who];
        reverse(write, poll, events_.size());
        break;
      }
      write = w.previous_write;
    }
  }
}

void explorer::reverse_missed() {
  for (unsigned i = 0; i < count_; ++i)
    if (threads_[i].state == condition::polling) reverse_missed(i);
}

/// The deepest point that has something left to be explored.
bool explorer::next_prefix() {
  for (std::size_t i = events_.size(); i-- > 0;) {
    node& n = nodes_[i];
    const event& e = events_[i];
    n.done |= only(n.chosen);
    n.sleep.push_back({n.chosen, e.where.id, e.wrote});
    for (choice c = 0; c < 2 * slots; ++c) {
      if ((n.backtrack & ~n.done & only(c)) == 0 || n.asleep(c)) continue;
      n.chosen = c;
      prefix_ = i + 1;
      return true;
    }
  }
  return false;
}

findings explorer::explore() {
  const std::clock_t start = std::clock();  // of this processor's time: others may be busy, too
  const auto passed = [&] { return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC; };
  nodes_.resize(how_.depth + 2);
  events_.reserve(how_.depth + 1);
  found_ = {};
  prefix_ = 0;
  at_work_ = this;
  for (;;) {
    try {
      execute();
      if (ending_ == ending::complete) {
        ++found_.executions;
        what_.finish();
      }
    } catch (const broken_promise&) {
      ending_ = ending::failed;  // fail() has said why
    }
    if (ending_ == ending::redundant) {
      ++found_.redundant;
    }
    if (ending_ == ending::failed) found_.history = history();
    what_.end();
    if (ending_ == ending::failed) break;
    if (learnt_) {
      learnt_ = false;
      found_ = {};
      prefix_ = 0;
      continue;
    }
    found_.complete = !next_prefix();
    if (found_.complete) break;
    const std::uint64_t all = found_.executions + found_.redundant;
    if (how_.executions != 0 && all >= how_.executions) break;
    if (how_.seconds > 0 && all % 256 == 0 && passed() > how_.seconds) break;
  }
  found_.seconds = passed();
  return found_;
}

void explorer::plain_access(plain_state& of, bool writes) {
  const vector_clock& mine = me().clock;
  const auto now = static_cast<std::uint16_t>(mine.of[self_] + 1);
  bool race = of.writer != slots && of.writer != self_ && mine.of[of.writer] < of.written;
  for (unsigned q = 0; writes && q < slots; ++q) race = race || (q != self_ && mine.of[q] < of.read[q]);
  if (race) fail("data race");
  if (writes) {
    of.writer = self_;
    of.written = now;
    of.read.fill(0);
  } else {
    of.read[self_] = now;
  }
}

std::string explorer::history() const {
  static constexpr const char* kinds[] = {"", "load", "store", "modify", "deadline passes", "time goes on"};
  std::string out = fmt::format("{:>5}  {:<6}  {:<18}  {}\n", "step", "thread", "site", "operation");
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const event& e = events_[i];
    const std::string who = e.kind == access::time ? "-" : fmt::format("{}", e.thread());
    out += fmt::format("{:>5}  {:<6}  {:<18}  {}", i, who, e.site, kinds[static_cast<unsigned>(e.kind)]);
    if (e.kind != access::none && e.kind != access::time && e.kind != access::deadline)
      out += fmt::format(" w{}{} {:#x}", e.where.id, e.wrote ? " =" : ":", e.value);
    out += '\n';
  }
  for (unsigned i = 0; i < count_; ++i) {
    const thread& t = threads_[i];
    if (t.state != condition::polling && t.state != condition::given_up) continue;
    out += fmt::format("{:>5}  {:<6}  waits, having seen:", "", i);
    for (const seen& s : t.watch) out += fmt::format(" w{} {:#x}", s.where.id, s.value);
    out += '\n';
  }
  return out;
}

}  // namespace cmdq::exhaust
