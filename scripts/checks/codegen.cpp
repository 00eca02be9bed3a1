// SPDX-License-Identifier: BSL-1.0
// What codegen.py compiles for each architecture and looks at as instructions: with CMDQ_ROWS each row of the table of
// orderings that is not relaxed as a function per kind of access; the ring's entries beside the device's registers; and
// CMDQ_QUEUES of the strategies' queues: 0 none, 1 a few, 2 all. CMDQ_BROKEN, which must be found: 1 a device without
// barriers, 2 a platform whose accesses are all relaxed.
#include "codegen.hpp"

#include <cmdq/allocation/strategies.hpp>
#include <cmdq/queue/command_queue.hpp>
#include <cmdq/queue/fixed_memory.hpp>
#include <cmdq/reclaim/sync_locked.hpp>

using namespace cmdq;
using namespace cmdq::codegen;

#if CMDQ_ROWS
namespace {

constexpr bool loads(order o) { return o == order::relaxed || o == order::acquire || o == order::seq_cst; }
constexpr bool stores(order o) { return o == order::relaxed || o == order::release || o == order::seq_cst; }

template <class Row, class T>
T load_at(const P::atomic<T>& a) {
  if constexpr (loads(Row::required)) return a.load(Row{});
  return 0;
}
template <class Row, class T>
void store_at(P::atomic<T>& a, T v) {
  if constexpr (stores(Row::required)) a.store(v, Row{});
}

}  // namespace

// Names say what is asked for: row__SITE__ORDER__KIND__BITS.
#define CMDQ_ROW_OF(site_, order_, bits, T)                                                                           \
  CMDQ_SEEN T row__##site_##__##order_##__load__##bits(const P::atomic<T>& a) {                                       \
    return load_at<at_site<site::site_>>(a);                                                                          \
  }                                                                                                                   \
  CMDQ_SEEN void row__##site_##__##order_##__store__##bits(P::atomic<T>& a, T v) {                                    \
    store_at<at_site<site::site_>>(a, v);                                                                             \
  }                                                                                                                   \
  CMDQ_SEEN T row__##site_##__##order_##__exchange__##bits(P::atomic<T>& a, T v) {                                    \
    return a.exchange(v, at<site::site_>);                                                                            \
  }                                                                                                                   \
  CMDQ_SEEN bool row__##site_##__##order_##__compare__##bits(P::atomic<T>& a, T& e, T v) {                            \
    return a.compare_exchange(e, v, at<site::site_>);                                                                 \
  }                                                                                                                   \
  CMDQ_SEEN T row__##site_##__##order_##__add__##bits(P::atomic<T>& a, T v) {                                         \
    return a.fetch_add(v, at<site::site_>);                                                                           \
  }                                                                                                                   \
  CMDQ_SEEN T row__##site_##__##order_##__and__##bits(P::atomic<T>& a, T v) {                                         \
    return a.fetch_and(v, at<site::site_>);                                                                           \
  }                                                                                                                   \
  CMDQ_SEEN T row__##site_##__##order_##__or__##bits(P::atomic<T>& a, T v) { return a.fetch_or(v, at<site::site_>); } \
  CMDQ_SEEN T row__##site_##__##order_##__xor__##bits(P::atomic<T>& a, T v) { return a.fetch_xor(v, at<site::site_>); }
#define CMDQ_ROW_relaxed(site_)
#define CMDQ_ROW_acquire(site_) CMDQ_ROW_OF(site_, acquire, 32, uint32_t) CMDQ_ROW_OF(site_, acquire, 64, uint64_t)
#define CMDQ_ROW_release(site_) CMDQ_ROW_OF(site_, release, 32, uint32_t) CMDQ_ROW_OF(site_, release, 64, uint64_t)
#define CMDQ_ROW_acq_rel(site_) CMDQ_ROW_OF(site_, acq_rel, 32, uint32_t) CMDQ_ROW_OF(site_, acq_rel, 64, uint64_t)
#define CMDQ_ROW_seq_cst(site_) CMDQ_ROW_OF(site_, seq_cst, 32, uint32_t) CMDQ_ROW_OF(site_, seq_cst, 64, uint64_t)
#define CMDQ_ROW(site_, order_, partner_, why_, without_) CMDQ_ROW_##order_(site_)
CMDQ_ORDERING_SITES(CMDQ_ROW)
#endif

CMDQ_SEEN void fence__seq_cst() { P::fence(at<site::park_fence>); }

// Entries and registers; called from another file, too, so that link-time optimisation has something to see.
CMDQ_SEEN void put_entry(ring_entry<P>& e, const command& c) { e.put(c); }
CMDQ_SEEN void tell(device& d, uint32_t v) { d.write_prod(v); }
CMDQ_SEEN uint32_t look(device& d) { return d.read_cons(); }
CMDQ_SEEN void get_entry(const ring_entry<P>& e, command& c) { c = e.get(); }

CMDQ_SEEN void order__entry_then_prod(ring_entry<P>& e, const command& c, device& d, uint32_t v) {
  e.put(c);
  d.write_prod(v);
}
CMDQ_SEEN uint64_t order__cons_then_entry(const ring_entry<P>& e, device& d) {
  const uint32_t cons = d.read_cons();
  const command c = e.get();
  return cons + c.word[0] + c.word[1];
}

#if CMDQ_QUEUES
namespace {

template <class Allocation, class Completion, class Reclaim = reclaim::counted>
struct config : freestanding_config {
  using platform = P;
  using allocation = Allocation;
  using completion = Completion;
  using reclaim = Reclaim;
};

template <class Config>
status each_call(command_queue<device, Config>& queue, typename command_queue<device, Config>::producer& me,
                 const command* list, uint32_t n) {
  if (const outcome o = me.issue(list, n); !o.ok()) return o.code;
  if (const outcome o = me.insert(list, n); !o.ok()) return o.code;
  const auto t = me.submit(list, n);
  if (!t) return t.code();
  if (const status s = me.poll(*t); s != status::ok) return s;
  if (const status s = me.wait(*t, 1000); s != status::ok) return s;
  queue.acknowledge(1U << 5);
  if (const error_report r = queue.handle_errors(); r.code != status::ok) return r.code;
  return queue.recover();
}

}  // namespace

#define CMDQ_QUEUE(name, Config)                                                                               \
  CMDQ_SEEN status queue__##name(command_queue<device, Config>& q, command_queue<device, Config>::producer& p, \
                                 const command* list, uint32_t n) {                                            \
    return each_call<Config>(q, p, list, n);                                                                   \
  }
#define CMDQ_BOTH(strategy, locked)                                               \
  using strategy##_by_cons = config<allocation::strategy, completion::poll_cons>; \
  using strategy##_by_msi = config<allocation::strategy, completion::poll_msi>;   \
  CMDQ_QUEUE(strategy##_by_cons, strategy##_by_cons) CMDQ_QUEUE(strategy##_by_msi, strategy##_by_msi)
using cmpxchg_loop_locked = config<allocation::cmpxchg_loop, completion::poll_cons, reclaim::sync_locked>;
#if CMDQ_QUEUES == 2
CMDQ_FOR_EACH_STRATEGY(CMDQ_BOTH)
CMDQ_QUEUE(cmpxchg_loop_locked, cmpxchg_loop_locked)
#else
using combining_by_msi = config<allocation::combining, completion::poll_msi>;
CMDQ_QUEUE(combining_by_msi, combining_by_msi)
#endif
#endif
