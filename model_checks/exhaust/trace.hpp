// SPDX-License-Identifier: BSL-1.0
// What an execution leaves behind: its events with their happens-before, and at each point the choices that were made
// and are still to be made.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace cmdq::exhaust {

inline constexpr unsigned max_threads = 7;
inline constexpr unsigned time_slot = max_threads;  ///< time counts as a thread of its own
inline constexpr unsigned slots = max_threads + 1;

/// Events of each thread that happen before some point, that point included.
struct vector_clock {
  std::array<std::uint16_t, slots> of{};
  void join(const vector_clock& other) {
    for (unsigned i = 0; i < slots; ++i)
      if (other.of[i] > of[i]) of[i] = other.of[i];
  }
};

/// A step that a scheduler may choose: the next access of a thread; or the end of its deadline, which a thread that
/// has polled in vain then finds; or time going on for all.
using choice = std::uint8_t;
constexpr choice access_of(unsigned thread) { return static_cast<choice>(thread); }
constexpr choice time_out_of(unsigned thread) { return static_cast<choice>(thread + slots); }
inline constexpr choice tick = time_slot;
inline constexpr choice no_choice = 0xff;
constexpr unsigned thread_of(choice c) { return c % slots; }
constexpr bool is_time_out(choice c) { return c >= slots; }
using choice_set = std::uint32_t;
constexpr choice_set only(choice c) { return choice_set{1} << c; }

enum class access : std::uint8_t { none, load, store, modify, deadline, time };

/// Where an access goes. Words are numbered in order of construction, the same in each execution.
struct word {
  std::uint32_t id = 0;  ///< 0: none
  std::uint8_t size = 0;
  const void* object = nullptr;  ///< the atomic, as its user names it
  const void* value = nullptr;
};
inline constexpr std::uint32_t time_out_budget = 1;  ///< the word that all time-outs take from
inline constexpr std::uint32_t first_word = 2;

struct event {
  choice what = no_choice;
  access kind = access::none;
  bool wrote = false;
  const char* site = "";
  word where;
  std::uint64_t value = 0;         ///< read by a load, else left behind
  vector_clock before;             ///< of its thread
  vector_clock clock;              ///< with itself
  int previous_read = -1;          ///< what it replaced among the word's reads
  int previous_write = -1;         ///< of the same word, where it wrote
  std::array<int, slots> races{};  ///< earlier events that it conflicts with, with nothing in between
  unsigned race_count = 0;
  bool forced = false;  ///< given, or an alternative to what was explored before
  [[nodiscard]] unsigned thread() const { return thread_of(what); }
  [[nodiscard]] std::uint16_t number() const { return clock.of[thread()]; }
  [[nodiscard]] bool happens_before(const vector_clock& c) const { return c.of[thread()] >= number(); }
  [[nodiscard]] bool conflicts(std::uint32_t word_id, bool writes) const {
    return kind == access::time || (where.id != 0 && where.id == word_id && (wrote || writes));
  }
};

/// The step of a thread that need not be tried: it was, and nothing since has conflicted with it.
struct sleeper {
  choice what;
  std::uint32_t word;
  bool writes;
};

/// A point between two events.
struct node {
  choice chosen = no_choice;
  choice_set backtrack = 0;  ///< to be explored from here
  choice_set done = 0;       ///< explored, or found to be impossible
  bool branched = false;     ///< something was explored from here: only `backtrack` says what follows
  std::vector<sleeper> sleep;
  std::vector<std::uint8_t> in_vain;  ///< threads that polled here and found nothing, in order
  void clear() {
    chosen = no_choice;
    backtrack = done = 0;
    branched = false;
    sleep.clear();
    in_vain.clear();
  }
  [[nodiscard]] bool asleep(choice c) const {
    for (const sleeper& s : sleep)
      if (s.what == c) return true;
    return false;
  }
};

}  // namespace cmdq::exhaust
