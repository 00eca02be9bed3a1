// SPDX-License-Identifier: BSL-1.0
// The simulated machine: one fiber per CPU, each with its own clock, and a cost model of the cache lines they share.
// Conservative discrete-event order: an access happens only when no other actor has an earlier clock. Ties go to the
// lower number. Same topology, seed and bodies: the same run, to the bit, on every host.
#pragma once

#include <array>
#include <boost/context/fiber.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "counters.hpp"
#include "cpu_set.hpp"
#include "random.hpp"
#include "topology.hpp"

namespace cmdq::manycore {

enum class access : std::uint8_t { read, write };

/// Who has a line. Nobody: it is in memory (or the last-level cache).
struct holders {
  cpu_set set;
  bool exclusive = false;
};

inline constexpr unsigned nobody = ~0U;

/// A transfer that waits for the line.
struct request {
  unsigned actor;
  unsigned passed_over;  ///< how often a younger one was granted before it
};

/// One cache line of 64 bytes.
struct line {
  holders now;
  picoseconds free_at = 0;       ///< when the next request may be granted
  std::vector<request> pending;  ///< in the order in which they were made
  unsigned last = 0;             ///< the actor that was granted last
  unsigned chosen = nobody;      ///< the actor whose turn it is now
  std::uint64_t version = 0;
  cpu_set sleepers;  ///< CPUs that wait for the next write
  line_counters counters;
};

class machine {
 public:
  static constexpr picoseconds never = ~picoseconds{0};
  /// Who never polls looks again after this long even if nobody wrote, so that deadlines are noticed.
  static constexpr picoseconds longest_sleep = 50'000'000;

  /// Uses the topology's first `cpus` CPUs: cluster by cluster, die by die. Throws std::invalid_argument.
  /// `arena_bytes`: room for allocate().
  machine(topology t, unsigned cpus, std::uint64_t seed, std::size_t arena_bytes = std::size_t{4} << 20);
  ~machine();
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  // -- Before the run -------------------------------------------------------------------------------------------

  /// Memory in the simulated machine, zeroed, freed with it; nothing else shares its lines. Where it lies relative to
  /// other objects depends only on the order of these calls.
  void* allocate(std::size_t bytes, std::size_t alignment = 64);

  /// An object there. Its destructor is not run.
  template <class T, class... A>
  T& make(A&&... args) {
    return *::new (allocate(sizeof(T), alignof(T) > 64 ? alignof(T) : 64)) T(std::forward<A>(args)...);
  }

  /// What CPU `cpu` runs, from time 0.
  void start(unsigned cpu, std::function<void()> body);

  /// An actor that is no CPU (a device). It may use sleep_until() and the device accesses. Returns its number.
  unsigned add_actor(std::string name, std::function<void()> body);

  /// Calls `what` once, before the first access of anybody at or after `when`.
  void at_time(picoseconds when, std::function<void()> what);

  void record_spans(std::vector<span>* spans) { spans_ = spans; }

  /// Runs until every CPU's body has returned, then tells the other actors through stopping(). Throws
  /// std::runtime_error naming a CPU and its last site when one is still running at `limit`, and whatever a body threw.
  void run(picoseconds limit);

  // -- From inside a body ---------------------------------------------------------------------------------------

  /// The machine whose body is running; null outside of run().
  static machine* running() noexcept { return running_; }

  [[nodiscard]] unsigned self() const noexcept { return current_; }
  [[nodiscard]] picoseconds now() const noexcept { return actors_[current_].clock; }
  [[nodiscard]] bool stopping() const noexcept { return stopping_; }
  random_source& random() noexcept { return random_; }
  [[nodiscard]] const topology& shape() const noexcept { return topology_; }

  /// Lets everybody with an earlier clock run, pays for the line, and returns at the moment at which the access
  /// happens: the caller touches the word next.
  void touch(const void* word, access a, unsigned site);
  /// touch() for a read-modify-write.
  void modify(const void* word, unsigned site) {
    drain(site);
    touch(word, access::write, site);
  }
  /// After a write that touch() paid for: wakes who sleeps on the line.
  void written(const void* word);
  void compare_failed(const void* word, unsigned site);
  /// As touch() for a plain store: with a store buffer the CPU goes on while an idle line is on its way to it, up to
  /// topology.misses at a time. Others get the line, and so the value, once it has arrived.
  void touch_store(const void* word, unsigned site);
  /// Waits until the lines of all stores so far have arrived: before a release, a read-modify-write, a fence, a device
  /// access.
  void drain(unsigned site);

  /// What lies between two looks at `word`: ends when its line changes from what this CPU last read there, at the
  /// latest after the time of so many polls (where the topology's CPUs poll; else after longest_sleep), or at
  /// quiet_until(). All polls are counted.
  void poll(const void* word, unsigned polls);
  /// A waiter says that it will do nothing but poll before `when`: its polls until then are counted, not run.
  void quiet_until(picoseconds when) noexcept { actors_[current_].quiet_until = when; }

  /// Time that passes without touching shared memory; a CPU's is charged to `site`.
  void spend(picoseconds t, unsigned site);

  /// Lets everybody with an earlier clock run.
  void gate();

  // -- For devices ----------------------------------------------------------------------------------------------

  /// Sleeps until `when`, or until wake_actor().
  void sleep_until(picoseconds when);
  void wake_actor(unsigned actor, picoseconds when);
  /// A coherent write from a socket's I/O port: takes the line away from all who have it. Advances the actor's clock.
  void device_write(const void* word, unsigned socket);
  /// A read that the actor does not wait for: when its data will be there. The holders keep the line.
  [[nodiscard]] picoseconds device_read(const void* word, unsigned socket);
  /// What one way between a CPU and a socket costs more than within a socket.
  [[nodiscard]] picoseconds detour(unsigned cpu, unsigned socket) const noexcept;

  // -- Results --------------------------------------------------------------------------------------------------

  [[nodiscard]] unsigned cpus() const noexcept { return cpus_; }
  /// How often one actor had to stop for another: what a run costs the host.
  [[nodiscard]] std::uint64_t switches() const noexcept { return switches_; }
  [[nodiscard]] unsigned die_of(unsigned cpu) const noexcept { return cpu / topology_.cpus_per_die(); }
  [[nodiscard]] unsigned socket_of(unsigned cpu) const noexcept { return cpu / topology_.cpus_per_socket(); }
  [[nodiscard]] const site_table& sites() const noexcept { return sites_; }
  [[nodiscard]] site_counters& counters_of(unsigned site) noexcept { return sites_[site]; }
  /// In the order of first touch.
  [[nodiscard]] std::vector<line_counters> lines() const;
  [[nodiscard]] std::vector<std::string> actor_names() const;
  void add_span(const char* name, picoseconds begin);
  void reset_counters();

 private:
  struct seen_line {
    const line* which = nullptr;
    std::uint64_t version = 0;
  };
  struct actor {
    std::string name;
    boost::context::fiber fiber;
    picoseconds clock = 0;
    bool done = false;
    bool idle = false;  ///< a device that waits for work
    line* asleep_on = nullptr;
    picoseconds quiet_until = 0;
    std::deque<picoseconds> stores;  ///< when the lines of those in the store buffer arrive, in order
    unsigned last_site = other_work;
    std::array<seen_line, 4> seen{};
    unsigned next_seen = 0;
    std::function<void()> body;
  };
  struct place {
    cpu_set cluster, die, socket;
  };

  line& line_of(const void* word);
  line& add_line();
  void suspend();
  void prepare(actor& a);
  void set_key(unsigned actor, picoseconds when);
  [[nodiscard]] unsigned earliest() const noexcept { return tree_[1]; }
  void remember(actor& a, const line& l) noexcept;
  void wait_for_line(line& l);
  [[nodiscard]] std::size_t arbitrate(const line& l) const noexcept;
  [[nodiscard]] unsigned socket_of_actor(unsigned number) const noexcept;
  void granted(line& l, picoseconds busy);
  [[nodiscard]] picoseconds transfer_time(unsigned cpu, const holders& h, access kind) const noexcept;
  [[nodiscard]] picoseconds device_time(unsigned socket, const holders& h) const noexcept;
  static void grant(holders& h, unsigned cpu, access kind) noexcept;
  [[nodiscard]] static bool hit(const holders& h, unsigned cpu, access kind) noexcept;
  void wake_sleepers(line& l, unsigned writer);
  void sleep_on(line& l, picoseconds bound);
  [[noreturn]] void overrun(picoseconds limit) const;

  static thread_local constinit machine* running_;

  topology topology_;
  unsigned cpus_;
  random_source random_;
  std::vector<place> places_;
  std::vector<cpu_set> socket_sets_;
  std::vector<actor> actors_;
  std::vector<picoseconds> keys_;
  std::vector<unsigned> tree_;
  unsigned leaves_ = 1;
  unsigned current_ = 0;
  std::uint64_t switches_ = 0;
  bool stopping_ = false;
  boost::context::fiber scheduler_;
  std::exception_ptr failure_;
  std::size_t arena_bytes_;
  std::byte* arena_ = nullptr;
  std::size_t arena_used_ = 0;
  std::vector<std::uint32_t> arena_lines_;
  std::unordered_map<std::uintptr_t, std::uint32_t> other_lines_;
  std::deque<line> lines_;
  site_table sites_{};
  std::vector<span>* spans_ = nullptr;
};

}  // namespace cmdq::manycore
