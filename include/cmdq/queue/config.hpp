// SPDX-License-Identifier: BSL-1.0
// The named policies that a queue is built from. Derive and replace what should differ:
//   struct config : cmdq::default_config { using allocation = cmdq::allocation::owner_bits; };
#pragma once

#include <cmdq/allocation/cmpxchg_loop.hpp>
#include <cmdq/allocation/combining.hpp>
#include <cmdq/allocation/delegated.hpp>
#include <cmdq/allocation/owner_bits.hpp>
#include <cmdq/completion/policy.hpp>
#include <cmdq/completion/poll_cons.hpp>
#include <cmdq/completion/poll_msi.hpp>
#include <cmdq/platform/builtins.hpp>
#include <cmdq/reclaim/counted.hpp>
#include <cmdq/stats/none.hpp>
#include <cmdq/wait/spin.hpp>

namespace cmdq {

/// Everything freestanding. Hosted programs take `hosted_config` from <cmdq/cmdq.hpp>.
struct freestanding_config {
  using family = default_family;
  using platform = cmdq::platform::builtins;
  using wait = cmdq::wait::spin;
  using allocation = cmdq::allocation::combining;
  using completion = cmdq::completion::poll_cons;
  using reclaim = cmdq::reclaim::counted;
  using stats = cmdq::stats::none;
};

/// A wait policy that not every platform can serve says by works_on<P> which can.
template <class W, class P>
concept wait_policy = requires {
  typename W::template channel<P>;
  typename W::template waiter<P>;
}
&&(
    !requires { W::template works_on<P>; } || requires { requires W::template works_on<P>; });

template <class A>
concept allocation_policy = requires {
  { A::claims_before_space } -> detail::same_as<const bool&>;
  { A::needs_range_ends } -> detail::same_as<const bool&>;
  { A::spreads_valid_bits } -> detail::same_as<const bool&>;
  { A::gathers_in_groups } -> detail::same_as<const bool&>;
  { A::delegates } -> detail::same_as<const bool&>;
};

template <class C, class P>
concept completion_policy = requires(const completion::state_of<C, P> c) {
  { C::ways } -> detail::same_as<const uint8_t&>;  // bits of completes
  { C::in_memory } -> detail::same_as<const bool&>;
  { c.may_trail() } -> detail::same_as<bool>;
};

template <class R, class P, class W>
concept reclaim_policy = requires {
  typename R::template state<P, W>;
};

template <class S>
concept stats_policy = requires(S& s) {
  s.add(stats::event::cons_read, uint64_t{1});
};

/// Each field is checked by name, so that a wrong one is reported as itself.
template <class C>
concept queue_config = device_family<typename C::family> && platform_type<typename C::platform> &&
    wait_policy<typename C::wait, typename C::platform> && allocation_policy<typename C::allocation> &&
    completion_policy<typename C::completion, typename C::platform> &&
    reclaim_policy<typename C::reclaim, typename C::platform, typename C::wait> && stats_policy<typename C::stats>;

namespace detail {
template <class R, class A>
concept goes_with = !requires {
  R::needs_own_syncs;
}
|| (!A::needs_range_ends && !A::delegates);
}  // namespace detail

/// A field in words: what is missing or wrong with it. Instantiated by each queue, before anything else of it.
template <class C>
struct config_check {
  static_assert(
      requires { typename C::family; } && requires { typename C::platform; } && requires { typename C::wait; } &&
          requires { typename C::allocation; } && requires { typename C::completion; } &&
          requires { typename C::reclaim; } && requires { typename C::stats; },
      "configuration: a field is missing; it has family, platform, wait, allocation, completion, reclaim and stats: "
      "derive from cmdq::default_config or cmdq::freestanding_config and replace what should differ");
  // Names that people give to a field that they mean to replace: it would be left as it was, in silence.
  static_assert(
      !requires { typename C::strategy; } && !requires { typename C::alocation; } &&
          !requires { typename C::allocator; } && !requires { typename C::allocate; },
      "configuration: strategy, alocation, allocator or allocate is no field: it is called allocation");
  static_assert(
      !requires { typename C::complete; } && !requires { typename C::completions; } &&
          !requires { typename C::poll; } && !requires { typename C::polling; },
      "configuration: complete, completions, poll or polling is no field: it is called completion");
  static_assert(
      !requires { typename C::waits; } && !requires { typename C::waiter; } && !requires { typename C::waiting; },
      "configuration: waits, waiter or waiting is no field: it is called wait");
  static_assert(
      !requires { typename C::stat; } && !requires { typename C::statistics; } &&
          !requires { typename C::reclamation; } && !requires { typename C::atomics; },
      "configuration: the fields are called stats, reclaim and platform");

  static_assert(device_family<typename C::family>,
                "configuration: family is none: cmdq/core/family.hpp lists what it has");
  static_assert(platform_type<typename C::platform>,
                "configuration: platform lacks a part of what cmdq/platform/concepts.hpp lists: atomic, plain, pause, "
                "yield, now_ns, fence, critical_section");
  static_assert(wait_policy<typename C::wait, typename C::platform>,
                "configuration: this platform cannot wait like that: wait::park needs a hosted platform (boost_atomic, "
                "std_atomic), wait::wfe one with wait_for_event() and signal_event(); wait::spin works with each");
  static_assert(allocation_policy<typename C::allocation>,
                "configuration: allocation is no strategy: it has the constants that cmdq/queue/config.hpp lists under "
                "allocation_policy");
  static_assert(completion_policy<typename C::completion, typename C::platform>,
                "configuration: completion is none: it has ways, in_memory and may_trail()");
  static_assert(reclaim_policy<typename C::reclaim, typename C::platform, typename C::wait>,
                "configuration: reclaim is none: it has state<platform, wait>");
  static_assert(
      detail::goes_with<typename C::reclaim, typename C::allocation>,
      "configuration: reclaim::sync_locked counts the CMD_SYNCs of lists, and with this allocation lists share "
      "one: take reclaim::counted, or allocation::cmpxchg_loop or owner_bits");
  static_assert(stats_policy<typename C::stats>, "configuration: stats is none: it has add(stats::event, uint64_t)");
  static constexpr bool ok = true;
};

static_assert(queue_config<freestanding_config>);

namespace detail {
/// Can a caller see with this policy that a sync command of this family is done?
template <class C>
constexpr bool sees_completion() noexcept {
  constexpr uint8_t missing = C::completion::ways & static_cast<uint8_t>(~C::family::ways);
  static_assert((missing & completes::by_register) == 0,
                "the consumer's register of this family is no completion (it moves when a command is fetched): choose "
                "completion::status_word");
  static_assert((missing & completes::in_entry) == 0,
                "a sync command of this family cannot write to its own entry: choose completion::status_word");
  static_assert((missing & completes::in_word) == 0,
                "a sync command of this family cannot write to memory: choose completion::poll_cons");
  return missing == 0;
}
}  // namespace detail

}  // namespace cmdq
