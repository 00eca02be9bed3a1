// SPDX-License-Identifier: BSL-1.0
// What the algorithm may ask of the world. A platform is a type with the members listed here; the same queue text runs
// on each of them (hosted threads, bare metal, Relacy, the simulated many-core machine).
#pragma once

#include <cmdq/platform/orderings.hpp>

#include <stdint.h>

namespace cmdq {

namespace detail {
template <class A, class B>
inline constexpr bool same = false;
template <class A>
inline constexpr bool same<A, A> = true;
template <class A, class B>
concept same_as = same<A, B>;
struct any_predicate {
  bool operator()() const noexcept;
};
}  // namespace detail

/// `P::atomic<T>`: each access names its site; a failed compare-exchange is relaxed and updates `expected`.
template <class A, class T>
concept atomic_cell = requires(A a, const A c, T v, T& expected) {
  { c.load(at<site::cons_look>) } -> detail::same_as<T>;
  a.store(v, at<site::told_store>);
  { a.exchange(v, at<site::handler_lock>) } -> detail::same_as<T>;
  { a.compare_exchange(expected, v, at<site::cons_advance>) } -> detail::same_as<bool>;
  { a.fetch_add(v, at<site::claim_add>) } -> detail::same_as<T>;
  { a.fetch_and(v, at<site::gather_close>) } -> detail::same_as<T>;
  { a.fetch_or(v, at<site::health_stall>) } -> detail::same_as<T>;
  { a.fetch_xor(v, at<site::valid_mark>) } -> detail::same_as<T>;
};

/// `P::plain<T>`: data that must never be raced on; a checker's platform reports it when it is.
template <class A, class T>
concept plain_cell = requires(A a, const A c, T v) {
  { c.get() } -> detail::same_as<T>;
  a.set(v);
};

/// The platform concept.
///  - `pause(line, round)`: between two fruitless polls of the atomic at `line` (nullptr: a device register). Must let
///    others run where that is what the wait needs (Relacy, the simulator); never blocks for ever.
///  - `yield()`: give the processor to another thread; a no-op where there are none.
///  - `now_ns()`: monotonic nanoseconds. A constant 0 means "no clock": deadlines never end there.
///  - `fence(at<site>)`: a thread fence of that order.
///  - `critical_section`: held from claim to publication; interrupts off on bare metal, empty on a hosted system.
///  - optional, `index()`: number of the current CPU; CPUs near each other should have near numbers
///    (options.groups); where a system numbers them otherwise, map them here.
///  - optional, `cpus()`: how many CPUs index() counts, 0 where that is not known; with it groups are chosen by
///    themselves (automatic_groups).
///  - optional, `process()` and `process_gone(number)`: see process_platform.
template <class P>
concept platform_type = requires(const void* line, unsigned round) {
  requires atomic_cell<typename P::template atomic<uint32_t>, uint32_t>;
  requires atomic_cell<typename P::template atomic<uint64_t>, uint64_t>;
  requires plain_cell<typename P::template plain<uint64_t>, uint64_t>;
  P::pause(line, round);
  P::yield();
  { P::now_ns() } -> detail::same_as<uint64_t>;
  P::fence(at<site::park_fence>);
  typename P::critical_section;
};

/// A platform that knows which CPU it is on: needed by options.groups > 1 only.
template <class P>
concept placed_platform = platform_type<P> && requires {
  { P::index() } -> detail::same_as<uint32_t>;
};

template <class P>
concept counted_platform = placed_platform<P> && requires {
  { P::cpus() } -> detail::same_as<uint32_t>;
};

/// A platform that tells processes apart, for queues that several of them share: `process()` is a number, not 0, that
/// names the calling process and never another one, and `process_gone(number)` is true once that process runs no more
/// instructions (false while that cannot be told). Both may cost a system call.
template <class P>
concept process_platform = platform_type<P> && requires(uint64_t number) {
  { P::process() } -> detail::same_as<uint64_t>;
  { P::process_gone(number) } -> detail::same_as<bool>;
};

namespace detail {
template <class P>
struct holder {
  using type = uint32_t;
  static constexpr type me() noexcept { return 1; }
};
template <process_platform P>
struct holder<P> {
  using type = uint64_t;
  static type me() noexcept { return P::process(); }
};
}  // namespace detail

/// A platform whose threads can sleep: needed by wait::park only.
template <class P>
concept sleeping_platform = platform_type<P> && requires(uint64_t ns) {
  typename P::mutex;
  typename P::condition;
  P::sleep_ns(ns);
};

/// The device as the queue sees it: the registers that say up to where the driver has produced and the device has
/// consumed, in the format of its family, which may ask for more (its `drives`). Each access carries the barrier that
/// the device needs: what was stored before write_prod() is visible to the device when it sees the new value; what the
/// device wrote before it moved is visible after read_cons().
template <class D>
concept ring_device = requires(D& d, uint32_t v) {
  d.write_prod(v);
  { d.read_cons() } -> detail::same_as<uint32_t>;
};

}  // namespace cmdq
