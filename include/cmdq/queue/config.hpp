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

template <class W, class P>
concept wait_policy = requires {
  typename W::template channel<P>;
  typename W::template waiter<P>;
};

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
