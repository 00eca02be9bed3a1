// SPDX-License-Identifier: BSL-1.0
#include "machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstring>
#include <stdexcept>

namespace cmdq::manycore {

namespace {
constexpr std::size_t arena_alignment = std::size_t{1} << 20;
constexpr std::size_t line_bytes = 64;
constexpr std::size_t stack_bytes = std::size_t{64} << 10;
constexpr std::size_t most_spans = 2'000'000;
}  // namespace

thread_local constinit machine* machine::running_ = nullptr;

machine::machine(topology t, unsigned cpus, std::uint64_t seed, std::size_t arena_bytes)
    : topology_(std::move(t)),
      cpus_(cpus),
      random_(seed),
      arena_bytes_(arena_bytes),
      arena_lines_(arena_bytes / line_bytes, 0) {
  if (cpus == 0 || cpus > topology_.cpus())
    throw std::invalid_argument(
        fmt::format("{} CPUs asked for, the topology \"{}\" has 1 to {}", cpus, topology_.name, topology_.cpus()));
  arena_ = static_cast<std::byte*>(::operator new (arena_bytes, std::align_val_t{arena_alignment}));
  std::memset(arena_, 0, arena_bytes);
  actors_.resize(cpus);
  places_.resize(cpus);
  socket_sets_.resize(topology_.sockets);
  for (unsigned c = 0; c < cpus; ++c) {
    actors_[c].name = fmt::format("CPU {}", c);
    socket_sets_[socket_of(c)].add(c);
    for (unsigned o = 0; o < cpus; ++o) {
      if (o / topology_.cpus_per_cluster == c / topology_.cpus_per_cluster) places_[c].cluster.add(o);
      if (die_of(o) == die_of(c)) places_[c].die.add(o);
      if (socket_of(o) == socket_of(c)) places_[c].socket.add(o);
    }
  }
}

machine::~machine() {
  // A fiber that has not ended would be unwound by an exception, through functions that are noexcept. Only a run that
  // was given up leaves such fibers behind: their stacks are abandoned.
  for (auto& a : actors_)
    if (a.fiber) static_cast<void>(new boost::context::fiber(std::move(a.fiber)));
  ::operator delete (arena_, std::align_val_t{arena_alignment});
}

void* machine::allocate(std::size_t bytes, std::size_t alignment) {
  alignment = std::max(alignment, line_bytes);
  const std::size_t at = (arena_used_ + alignment - 1) / alignment * alignment;
  const std::size_t end = at + (bytes + line_bytes - 1) / line_bytes * line_bytes;
  if (alignment > arena_alignment || end > arena_bytes_) throw std::bad_alloc();
  arena_used_ = end;
  return arena_ + at;
}

void machine::start(unsigned cpu, std::function<void()> body) { actors_.at(cpu).body = std::move(body); }

void machine::at_time(picoseconds when, std::function<void()> what) {
  add_actor("event", [this, when, call = std::move(what)] {
    sleep_until(when);
    call();
  });
}

unsigned machine::add_actor(std::string name, std::function<void()> body) {
  actors_.emplace_back();
  actors_.back().name = std::move(name);
  actors_.back().body = std::move(body);
  return static_cast<unsigned>(actors_.size() - 1);
}

// -- Scheduling -------------------------------------------------------------------------------------------------

void machine::set_key(unsigned a, picoseconds when) {
  keys_[a] = when;
  for (unsigned node = (leaves_ + a) / 2; node >= 1; node /= 2) {
    const unsigned left = tree_[2 * node];
    const unsigned right = tree_[2 * node + 1];
    const unsigned first = keys_[right] < keys_[left] ? right : left;
    if (tree_[node] == first && first != a) return;  // nothing changes above
    tree_[node] = first;
  }
}

void machine::prepare(actor& a) {
  a.fiber = boost::context::fiber(std::allocator_arg, boost::context::protected_fixedsize_stack(stack_bytes),
                                  [this, &a](boost::context::fiber&& from) {
                                    scheduler_ = std::move(from);
                                    try {
                                      a.body();
                                    } catch (...) {
                                      failure_ = std::current_exception();
                                    }
                                    a.done = true;
                                    return std::move(scheduler_);
                                  });
}

void machine::run(picoseconds limit) {
  leaves_ = std::bit_ceil(static_cast<unsigned>(actors_.size()));
  keys_.assign(leaves_, never);
  tree_.assign(std::size_t{2} * leaves_, 0);
  for (unsigned i = 0; i < leaves_; ++i) tree_[leaves_ + i] = i;
  for (unsigned node = leaves_ - 1; node >= 1; --node) tree_[node] = tree_[2 * node];
  unsigned left = 0;
  for (unsigned i = 0; i < actors_.size(); ++i) {
    if (!actors_[i].body) continue;
    prepare(actors_[i]);
    set_key(i, actors_[i].clock);
    if (i < cpus_) ++left;
  }
  running_ = this;
  const auto step = [this](unsigned i) {
    current_ = i;
    ++switches_;
    actors_[i].fiber = std::move(actors_[i].fiber).resume();
    if (actors_[i].done) set_key(i, never);
  };
  while (left > 0 && !failure_ && keys_[earliest()] <= limit) {
    const unsigned i = earliest();
    step(i);
    if (i < cpus_ && actors_[i].done) --left;
  }
  if (left > 0) {
    running_ = nullptr;
    if (failure_) std::rethrow_exception(failure_);
    overrun(limit);
  }
  stopping_ = true;
  for (unsigned i = cpus_; i < actors_.size(); ++i)
    while (!actors_[i].done) step(i);
  running_ = nullptr;
}

void machine::overrun(picoseconds limit) const {
  for (unsigned c = 0; c < cpus_; ++c)
    if (actors_[c].body && !actors_[c].done)
      throw std::runtime_error(fmt::format("CPU {} had not finished at {} ns; it was last at site {}", c, limit / 1000,
                                           site_name(actors_[c].last_site)));
  throw std::runtime_error("simulation ended with a CPU missing");
}

void machine::suspend() { scheduler_ = std::move(scheduler_).resume(); }

void machine::gate() {
  set_key(current_, actors_[current_].clock);
  if (earliest() != current_) suspend();
}

void machine::spend(picoseconds t, unsigned site) {
  actor& a = actors_[current_];
  a.clock += t;
  if (current_ < cpus_) sites_[site].moving += t;
}

// -- Lines ------------------------------------------------------------------------------------------------------

line& machine::add_line() {
  lines_.emplace_back();
  lines_.back().counters.first_site = all_sites;
  return lines_.back();
}

line& machine::line_of(const void* word) {
  const auto address = reinterpret_cast<std::uintptr_t>(word);
  const auto offset = address - reinterpret_cast<std::uintptr_t>(arena_);
  // Objects outside the arena are numbered by first touch; what shares a line with what is then up to their owner.
  std::uint32_t& id = offset < arena_bytes_ ? arena_lines_[offset / line_bytes] : other_lines_[address / line_bytes];
  if (id != 0) return lines_[id - 1];
  line& fresh = add_line();
  id = static_cast<std::uint32_t>(lines_.size());
  return fresh;
}

bool machine::hit(const holders& h, unsigned cpu, access kind) noexcept {
  return h.set.has(cpu) && (kind == access::read || h.exclusive);
}

void machine::grant(holders& h, unsigned cpu, access kind) noexcept {
  if (kind == access::write) h.set.clear();
  h.set.add(cpu);
  h.exclusive = kind == access::write;
}

picoseconds machine::transfer_time(unsigned cpu, const holders& h, access kind) const noexcept {
  const auto& d = topology_.distance;
  const place& p = places_[cpu];
  if (kind == access::read) {  // from the nearest that has it
    if (h.set.empty()) return d.memory + detour(cpu, topology_.device.socket);
    if (h.set.meets(p.cluster)) return d.cluster;
    if (h.set.meets(p.die)) return d.die;
    return h.set.meets(p.socket) ? d.socket : d.remote;
  }
  cpu_set others = h.set;  // everybody else must give it up: the farthest decides
  others.remove(cpu);
  if (others.empty()) return h.set.empty() ? d.memory + detour(cpu, topology_.device.socket) : d.l1;
  if (others.within(p.cluster)) return d.cluster;
  if (others.within(p.die)) return d.die;
  return others.within(p.socket) ? d.socket : d.remote;
}

picoseconds machine::detour(unsigned cpu, unsigned socket) const noexcept {
  const auto& d = topology_.distance;
  return socket_of(cpu) == socket || d.remote < d.socket ? 0 : d.remote - d.socket;
}

void machine::remember(actor& a, const line& l) noexcept {
  for (auto& s : a.seen)
    if (s.which == &l) {
      s.version = l.version;
      return;
    }
  a.seen[a.next_seen] = {&l, l.version};
  a.next_seen = (a.next_seen + 1) % static_cast<unsigned>(a.seen.size());
}

unsigned machine::socket_of_actor(unsigned number) const noexcept {
  return number < cpus_ ? socket_of(number) : topology_.device.socket;
}

/// Whose turn it is: the oldest request from the socket that has the line. But the oldest of all comes first once it
/// was passed over too often.
std::size_t machine::arbitrate(const line& l) const noexcept {
  if (l.pending.front().passed_over >= topology_.near_first) return 0;
  const unsigned home = socket_of_actor(l.last);
  for (std::size_t i = 0; i < l.pending.size(); ++i)
    if (socket_of_actor(l.pending[i].actor) == home) return i;
  return 0;
}

/// Returns when the line is the current actor's to take. The oldest waiter is the one that wakes up when the line
/// becomes free, and decides.
void machine::wait_for_line(line& l) {
  actor& a = actors_[current_];
  if (l.pending.empty() && l.free_at <= a.clock) return;
  l.pending.push_back({current_, 0});
  set_key(current_, l.pending.size() == 1 ? std::max(l.free_at, a.clock) : never);
  while (true) {
    if (earliest() != current_) suspend();
    a.clock = keys_[current_];
    if (l.chosen == current_) break;
    const std::size_t next = arbitrate(l);
    for (std::size_t i = 0; i < next; ++i) ++l.pending[i].passed_over;
    l.chosen = l.pending[next].actor;
    if (l.chosen == current_) break;
    set_key(current_, never);
    set_key(l.chosen, a.clock);
  }
  l.chosen = nobody;
  std::erase_if(l.pending, [this](const request& r) { return r.actor == current_; });
}

void machine::granted(line& l, picoseconds busy) {
  l.free_at = actors_[current_].clock + busy;
  l.last = current_;
  if (!l.pending.empty()) set_key(l.pending.front().actor, l.free_at);
}

void machine::touch(const void* word, access kind, unsigned site) {
  gate();
  actor& a = actors_[current_];
  line& l = line_of(word);
  site_counters& count = sites_[site];
  a.last_site = site;
  ++count.accesses;
  if (l.counters.first_site == all_sites) l.counters.first_site = site;
  if (hit(l.now, current_, kind)) {
    a.clock += topology_.distance.l1;
    count.moving += topology_.distance.l1;
    remember(a, l);
    return;
  }
  const picoseconds asked = a.clock;
  wait_for_line(l);
  const picoseconds start = a.clock;
  const picoseconds cost = transfer_time(current_, l.now, kind);
  const bool overlaps = kind == access::read && !l.now.exclusive;
  granted(l, overlaps ? std::min(cost, topology_.share)
                      : cost + (kind == access::write ? random_.exponential(topology_.hold) : 0));
  grant(l.now, current_, kind);
  a.clock += cost;
  ++count.transfers;
  count.queued += start - asked;
  count.moving += cost;
  ++l.counters.transfers;
  l.counters.queued += start - asked;
  remember(a, l);
  add_span(site_name(site), asked);
}

void machine::touch_store(const void* word, unsigned site) {
  if (topology_.store_buffer == 0) return touch(word, access::write, site);
  gate();
  actor& a = actors_[current_];
  line& l = line_of(word);
  while (!a.stores.empty() && a.stores.front() <= a.clock) a.stores.pop_front();
  const bool idle = l.pending.empty() && l.free_at <= a.clock;
  if (hit(l.now, current_, access::write) || !idle) return touch(word, access::write, site);
  if (a.stores.size() >= topology_.store_buffer) {  // full: as long as the oldest takes
    sites_[site].moving += a.stores.front() - a.clock;
    a.clock = a.stores.front();
    a.stores.pop_front();
    return touch_store(word, site);
  }
  const std::size_t under_way = a.stores.size();
  const picoseconds begin =
      under_way < topology_.misses ? a.clock : std::max(a.clock, a.stores[under_way - topology_.misses]);
  const picoseconds arrives = begin + transfer_time(current_, l.now, access::write);
  // In order: what is stored later is not seen before.
  a.stores.push_back(a.stores.empty() ? arrives : std::max(arrives, a.stores.back()));
  if (l.counters.first_site == all_sites) l.counters.first_site = site;
  granted(l, a.stores.back() - a.clock + random_.exponential(topology_.hold));
  grant(l.now, current_, access::write);
  a.last_site = site;
  a.clock += topology_.distance.l1;
  ++sites_[site].accesses;
  ++sites_[site].transfers;
  ++l.counters.transfers;
  sites_[site].moving += topology_.distance.l1;
  remember(a, l);
}

void machine::drain(unsigned site) {
  actor& a = actors_[current_];
  if (a.stores.empty()) return;
  if (a.stores.back() > a.clock) spend(a.stores.back() - a.clock, site);
  a.stores.clear();
}

void machine::wake_sleepers(line& l, unsigned writer) {
  if (l.sleepers.empty()) return;
  const picoseconds when = actors_[writer].clock;
  l.sleepers.for_each([&](unsigned cpu) {
    actor& s = actors_[cpu];
    s.clock = std::max(s.clock, when) + random_.below(topology_.spin + 1);
    s.asleep_on = nullptr;
    set_key(cpu, s.clock);
  });
  l.sleepers.clear();
}

void machine::written(const void* word) {
  line& l = line_of(word);
  ++l.version;
  remember(actors_[current_], l);
  wake_sleepers(l, current_);
}

void machine::compare_failed(const void* word, unsigned site) {
  ++sites_[site].failed;
  ++line_of(word).counters.failed;
  spend(topology_.retry, site);
}

void machine::poll(const void* word, unsigned polls) {
  actor& a = actors_[current_];
  line& l = line_of(word);
  const auto seen = std::find_if(a.seen.begin(), a.seen.end(), [&](const seen_line& s) { return s.which == &l; });
  if (seen == a.seen.end() || seen->version != l.version) {
    spend(topology_.distance.l1, a.last_site);
    return;
  }
  const picoseconds period = topology_.poll + topology_.distance.l1;
  const picoseconds usual = topology_.poll == 0 ? longest_sleep : polls * period - topology_.distance.l1;
  const picoseconds quiet = a.quiet_until > a.clock ? a.quiet_until - a.clock : 0;
  const picoseconds begin = a.clock;
  sleep_on(l, std::max(usual, quiet));
  if (topology_.poll != 0) sites_[a.last_site].accesses += (a.clock - begin) / period;
}

void machine::sleep_on(line& l, picoseconds bound) {
  actor& a = actors_[current_];
  const picoseconds begin = a.clock;
  a.asleep_on = &l;
  l.sleepers.add(current_);
  set_key(current_, begin + bound);
  suspend();
  if (a.asleep_on != nullptr) {  // nobody wrote
    a.asleep_on = nullptr;
    l.sleepers.remove(current_);
    a.clock = begin + bound;
  }
  sites_[a.last_site].asleep += a.clock - begin;
  add_span(site_name(a.last_site), begin);
}

// -- Devices ----------------------------------------------------------------------------------------------------

void machine::sleep_until(picoseconds when) {
  actor& a = actors_[current_];
  set_key(current_, std::max(a.clock, when));
  a.idle = true;
  if (earliest() != current_) suspend();
  a.idle = false;
  a.clock = std::max(a.clock, keys_[current_] == never ? a.clock : keys_[current_]);
}

void machine::wake_actor(unsigned target, picoseconds when) {
  if (actors_[target].idle && keys_[target] > when) set_key(target, std::max(when, actors_[target].clock));
}

picoseconds machine::device_time(unsigned socket, const holders& h) const noexcept {
  const auto& d = topology_.distance;
  if (h.set.empty()) return d.memory;
  return h.set.within(socket_sets_[socket]) ? d.socket : d.remote;
}

void machine::device_write(const void* word, unsigned socket) {
  gate();
  actor& a = actors_[current_];
  line& l = line_of(word);
  const picoseconds asked = a.clock;
  wait_for_line(l);
  const picoseconds start = a.clock;
  const picoseconds cost = device_time(socket, l.now);
  granted(l, cost);
  l.now = holders{};
  a.clock += cost;
  ++l.counters.transfers;
  l.counters.queued += start - asked;
}

picoseconds machine::device_read(const void* word, unsigned socket) {
  gate();
  line& l = line_of(word);
  const picoseconds start = std::max(l.free_at, now());
  const picoseconds cost = device_time(socket, l.now);
  l.free_at = start + cost;
  ++l.counters.transfers;
  l.counters.queued += start - now();
  return start + cost;
}

// -- Results ----------------------------------------------------------------------------------------------------

std::vector<line_counters> machine::lines() const {
  std::vector<line_counters> out;
  out.reserve(lines_.size());
  for (const auto& l : lines_) out.push_back(l.counters);
  return out;
}

std::vector<std::string> machine::actor_names() const {
  std::vector<std::string> names;
  for (const auto& a : actors_) names.push_back(a.name);
  return names;
}

void machine::add_span(const char* name, picoseconds begin) {
  if (spans_ != nullptr && spans_->size() < most_spans) spans_->push_back({name, current_, begin, now()});
}

void machine::reset_counters() {
  sites_ = site_table{};
  for (auto& l : lines_) l.counters = {l.counters.first_site, 0, 0, 0};
}

}  // namespace cmdq::manycore
