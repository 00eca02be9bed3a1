// SPDX-License-Identifier: BSL-1.0
// Queues of other projects as the software half; CMake defines CMDQ_BENCH_* for those that it found.
#include "contender.hpp"
#include "pump.hpp"

#if defined(CMDQ_BENCH_BOOST_LOCKFREE)
#include <boost/lockfree/queue.hpp>
#endif
#if defined(CMDQ_BENCH_MOODYCAMEL)
#include <concurrentqueue/concurrentqueue.h>
#endif
#if defined(CMDQ_BENCH_TBB)
#include <tbb/concurrent_queue.h>
#endif
#if defined(CMDQ_BENCH_CK)
#include "ck_queue.h"
#endif
#if defined(CMDQ_BENCH_ATOMIC_QUEUE)
#include <atomic_queue/atomic_queue.h>
#endif
#if defined(CMDQ_BENCH_DPDK)
#include "dpdk_queue.h"
#endif

namespace bench {
namespace {

using baselines::request;

#if defined(CMDQ_BENCH_BOOST_LOCKFREE)
class boost_lockfree {
 public:
  void push(request* r) {
    while (!queue_.push(r)) std::this_thread::yield();
  }
  request* pop() {
    request* r = nullptr;
    return queue_.pop(r) ? r : nullptr;
  }

 private:
  boost::lockfree::queue<request*> queue_{most_threads};
};
#endif

#if defined(CMDQ_BENCH_MOODYCAMEL)
class moodycamel_queue {
 public:
  void push(request* r) { queue_.enqueue(r); }
  request* pop() {
    request* r = nullptr;
    return queue_.try_dequeue(r) ? r : nullptr;
  }

 private:
  moodycamel::ConcurrentQueue<request*> queue_;
};
#endif

#if defined(CMDQ_BENCH_TBB)
class tbb_queue {
 public:
  void push(request* r) { queue_.push(r); }
  request* pop() {
    request* r = nullptr;
    return queue_.try_pop(r) ? r : nullptr;
  }

 private:
  tbb::concurrent_queue<request*> queue_;
};
#endif

#if defined(CMDQ_BENCH_CK)
class ck_ring_queue {
 public:
  void push(request* r) {
    while (!cmdq_bench_ck_push(queue_.get(), r)) std::this_thread::yield();
  }
  request* pop() { return static_cast<request*>(cmdq_bench_ck_pop(queue_.get())); }

 private:
  struct freed {
    void operator()(cmdq_bench_ck* q) const { cmdq_bench_ck_free(q); }
  };
  std::unique_ptr<cmdq_bench_ck, freed> queue_{cmdq_bench_ck_make(2 * most_threads)};
};
#endif

#if defined(CMDQ_BENCH_ATOMIC_QUEUE)
class atomic_ring {
 public:
  void push(request* r) {
    while (!queue_.try_push(r)) std::this_thread::yield();
  }
  request* pop() {
    request* r = nullptr;
    return queue_.try_pop(r) ? r : nullptr;
  }

 private:
  atomic_queue::AtomicQueueB<request*> queue_{2 * most_threads};
};
#endif

#if defined(CMDQ_BENCH_DPDK)
class dpdk_ring {
 public:
  void push(request* r) {
    while (cmdq_bench_dpdk_push(queue_.get(), r) == 0) std::this_thread::yield();
  }
  request* pop() { return static_cast<request*>(cmdq_bench_dpdk_pop(queue_.get())); }

 private:
  struct freed {
    void operator()(cmdq_bench_dpdk* q) const { cmdq_bench_dpdk_free(q); }
  };
  std::unique_ptr<cmdq_bench_dpdk, freed> queue_{cmdq_bench_dpdk_make(2 * most_threads)};
};
#endif

}  // namespace

std::vector<entrant> third_party() {
  using namespace baselines;
  return {
#if defined(CMDQ_BENCH_BOOST_LOCKFREE)
    entrant_of<pumped_ring<boost_lockfree>>("boost_lockfree", side::pump),
#endif
#if defined(CMDQ_BENCH_MOODYCAMEL)
        entrant_of<pumped_ring<moodycamel_queue>>("moodycamel", side::pump),
#endif
#if defined(CMDQ_BENCH_TBB)
        entrant_of<pumped_ring<tbb_queue>>("onetbb", side::pump),
#endif
#if defined(CMDQ_BENCH_CK)
        entrant_of<pumped_ring<ck_ring_queue>>("ck_ring", side::pump),
#endif
#if defined(CMDQ_BENCH_ATOMIC_QUEUE)
        entrant_of<pumped_ring<atomic_ring>>("atomic_queue", side::pump),
#endif
#if defined(CMDQ_BENCH_DPDK)
        entrant_of<pumped_ring<dpdk_ring>>("dpdk_ring", side::pump),
#endif
  };
}

}  // namespace bench
