// SPDX-License-Identifier: BSL-1.0
// What a scenario is: a few threads over shipped headers, what it proves, its bounds, and how it is explored.
#pragma once

#include "orders.hpp"

#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <vector>

namespace cmdq::checks {

/// full: every interleaving and every stale read. bounded: every execution with at most K preemptions and K stale
/// reads, fair. random: fair with probability 1, a number of iterations.
enum class schedule : std::uint8_t { full, bounded, random };
const char* name(schedule s);

/// How an exploration may end.
enum class ending : std::uint8_t { passed, assertion, data_race, deadlock, livelock, uninitialised, other };
const char* name(ending o);

inline constexpr unsigned min_threads = 2;
inline constexpr unsigned max_threads = 5;

struct facts {
  const char* name;    ///< "folder/what", unique
  const char* proves;  ///< for a wrong variant: the bug
  const char* bounds;  ///< threads, lists, ring, start position
  unsigned threads;
  schedule how;                     ///< default schedule
  std::uint64_t iterations = 5000;  ///< random: CI size
  unsigned bound = 2;               ///< bounded: preemptions and stale reads in one execution
  ending expected = ending::passed;
  sabotage broken = {};   ///< wrong variants: what is broken in the shipped code
  unsigned depth = 2000;  ///< scheduling points after which an execution counts as a livelock
};

/// One execution's worth of shared state and its threads. Never allocates: Relacy would explore reuse of the memory.
class scenario {
 public:
  virtual ~scenario() = default;
  virtual void thread(unsigned index) = 0;
  [[nodiscard]] virtual unsigned daemons() const { return 0; }  ///< last threads, which need not end where P says so
  virtual void finish() {}                                      ///< after all threads; sees everything they did
};

struct registered {
  const facts* about;
  scenario* (*construct)(const void* parameter, void* storage);
  const void* parameter = nullptr;
};

/// All scenarios, sorted by name.
const std::vector<registered>& all_scenarios();
const registered* find_scenario(std::string_view name);

inline constexpr std::size_t scenario_storage = 256 * 1024;
inline constexpr std::size_t scenario_alignment = 256;

void add_scenario(registered r);

/// A static object of this type puts `S` (which has `static constexpr facts about`) into the list.
template <class S>
class registration {
 public:
  registration() { add_scenario({&S::about, construct}); }

 private:
  static scenario* construct(const void*, void* storage) {
    static_assert(sizeof(S) <= scenario_storage && alignof(S) <= scenario_alignment);
    return ::new (storage) S;
  }
};

/// A number below `n` that the search chooses; the explorer takes the largest.
std::uint32_t any_number(std::uint32_t n);

/// Assertion inside a scenario: fails the execution with `what` in its history.
void check(bool holds, const char* what);

}  // namespace cmdq::checks
