// SPDX-License-Identifier: BSL-1.0
// Small fixed cases for the tests of single bugs.
#pragma once

#include "generators.hpp"
#include "worker.hpp"

namespace cmdq::test {

inline setup small_ring(strategy which, unsigned log2, std::uint32_t batch, std::uint32_t producers) {
  setup s;
  s.allocation = which;
  s.opts.log2_size = log2;
  s.opts.batch_limit = batch;
  s.opts.producers = producers;
  s.opts.deadline_ns = test_deadline_ns;
  s.opts.fetch_retries = 3;
  return s;
}

/// `f(setup)` for each strategy, completion mode and kind of reclaim; those whose reclaim is their own with groups
/// in place of the second kind.
template <class F>
void for_all_policies(unsigned log2, std::uint32_t batch, std::uint32_t producers, F f) {
  for (const strategy which : all_strategies)
    for (const bool msi : {false, true})
      for (const bool locked : {false, true}) {
        setup s = small_ring(which, log2, batch, producers);
        s.msi = msi;
        s.locked = locked;
        if (locked && shares_syncs(which)) s.opts.groups = s.opts.cpus_per_group = 2;
        f(s);
      }
}

/// One thread with several producers, none of them expecting more harm than `expected`.
struct stage {
  explicit stage(const setup& s) : r(s) {
    for (unsigned i = 0; i < s.opts.producers; ++i) {
      workers.emplace_back(r, i, expected);
      workers.back().attach();
    }
  }
  worker& operator[](unsigned i) { return workers[i]; }
  /// Virtual time that `f` takes.
  template <class F>
  static std::uint64_t time_of(F f) {
    const std::uint64_t began = scheduled_platform::alone_ns;
    f();
    return scheduled_platform::alone_ns - began;
  }
  /// The device consumes `n` commands, no more.
  void consume(unsigned n) {
    for (unsigned i = 0; i < 4 * n; ++i) r.device.step();
  }

  rig r;
  harm expected = harm::none;
  std::vector<worker> workers;
};

/// A case under generated interleavings, with generated groups where there are groups, unless the case has some.
inline void under_any_interleaving(const crew_case& fixed) {
  property([&] {
    crew_case c = fixed;
    if (c.what.opts.groups == 1) draw_groups(c.what);
    c.interleaving = *interleavings();
    RC_LOG() << shown(c) << '\n';
    run_crew(c);
  });
}

/// Command kinds written as letters: t TLBI, c CFGI, a ATC_INV, D ATC_INV that is never answered, I illegal.
inline std::vector<kind> kinds(const char* letters) {
  std::vector<kind> out;
  for (; *letters != '\0'; ++letters) out.push_back(static_cast<kind>(std::string("tcaDI").find(*letters)));
  return out;
}

inline op issue(const char* letters) { return {op::what::issue, kinds(letters)}; }
inline op insert(const char* letters) { return {op::what::insert, kinds(letters)}; }

/// The executed commands as letters, CMD_SYNC as S.
inline std::string executed(const rig& r) {
  std::string out;
  for (const executed_command& e : r.log.log) {
    switch (class_of(e.what.word[0])) {
      case command_class::sync:
        out += 'S';
        break;
      case command_class::tlb:
        out += 't';
        break;
      case command_class::configuration:
        out += 'c';
        break;
      case command_class::atc:
        out += 'a';
        break;
      default:
        out += '?';
    }
  }
  return out;
}

}  // namespace cmdq::test
