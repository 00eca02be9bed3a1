// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace cmdq::completion {

namespace detail {
template <class C, class P>
struct state_of {
  using type = C;
};
template <class C, class P>
requires requires { typename C::template state<P>; }
struct state_of<C, P> {
  using type = typename C::template state<P>;
};
}  // namespace detail

/// What a queue holds of a completion policy: the policy itself, or the state<P> of one that has more than constants.
template <class C, class P>
using state_of = typename detail::state_of<C, P>::type;

}  // namespace cmdq::completion
