// SPDX-License-Identifier: BSL-1.0
// A queue in one block: what opens, what is refused, and that nothing in it depends on where it is mapped. The
// processes themselves are played by numbers here; real ones are in examples/processes.
#include <cmdq/allocation/strategies.hpp>
#include <cmdq/cmdq.hpp>
#include <cmdq/multi/shared_queue.hpp>
#include <cmdq/platform/hosted_processes.hpp>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/one_thread.hpp"
#include "support/test.hpp"

namespace cmdq::test {
namespace {

/// Processes are numbers, and a test says which are gone.
struct named_processes : counted_time {
  static inline std::uint64_t now_process = 1;
  static inline std::set<std::uint64_t> gone;
  static std::uint64_t process() noexcept { return now_process; }
  static bool process_gone(std::uint64_t number) noexcept { return gone.count(number) != 0; }
};
static_assert(process_platform<named_processes> && !process_platform<counted_time>);
static_assert(sizeof(producer_cell<named_processes>) == sizeof(producer_cell<counted_time>));

/// Consumes in the PROD write while it runs; no addresses in it.
struct block_device {
  void write_prod(std::uint32_t v) {
    prod = v;
    if (runs) cons = v;
    if (const auto act = std::exchange(at_write, nullptr)) act();
  }
  [[nodiscard]] std::uint32_t read_cons() const {
    if (const auto act = std::exchange(at_read, nullptr)) act();
    return cons;
  }
  static std::uint32_t read_gerror() noexcept { return 0; }
  static std::uint32_t read_gerrorn() noexcept { return 0; }
  static void write_gerrorn(std::uint32_t) noexcept {}
  void go_on() noexcept {
    runs = true;
    cons = prod;
  }
  static inline std::function<void()> at_read;   ///< once
  static inline std::function<void()> at_write;  ///< once
  std::uint32_t prod = 0;
  std::uint32_t cons = 0;
  bool runs = true;
};

template <class Allocation>
struct in_block : freestanding_config {
  using platform = named_processes;
  using allocation = Allocation;
};
template <class Allocation>
using shared = multi::shared_queue<block_device, in_block<Allocation>>;

options small(std::uint32_t producers = 2) {
  options o;
  o.log2_size = 6;
  o.batch_limit = 4;
  o.producers = producers;
  o.deadline_ns = 100'000;
  return o;
}

/// Memory that can be mapped twice.
class block {
 public:
  explicit block(std::uint64_t bytes) : bytes_((bytes + 4095) / 4096 * 4096), fd_(memfd_create("block", 0)) {
    CMDQ_CHECK(fd_ >= 0 && ftruncate(fd_, static_cast<off_t>(bytes_)) == 0);
  }
  ~block() { close(fd_); }
  block(const block&) = delete;
  block& operator=(const block&) = delete;
  void* map() const {
    void* const p = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    CMDQ_CHECK(p != MAP_FAILED);
    return p;
  }
  void unmap(void* p) const { munmap(p, bytes_); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  std::uint64_t bytes_;
  int fd_;
};

template <class F>
void for_all_strategies(const F& f) {
  named_processes::now_process = 1;
  named_processes::gone.clear();
#define CMDQ_ONE(name, locked) f.template operator()<allocation::name>();
  CMDQ_FOR_EACH_STRATEGY(CMDQ_ONE)
#undef CMDQ_ONE
}

void check_refusal(const refusal& r, status code, const std::string& field, std::uint64_t value, std::uint64_t limit) {
  CMDQ_CHECK_EQ(r.code, code);
  CMDQ_CHECK_EQ(std::string(r.field), field);
  CMDQ_CHECK_EQ(r.value, value);
  CMDQ_CHECK_EQ(r.limit, limit);
}

using any = shared<allocation::combining>;

}  // namespace

// What it was created at is mapped no more: an address that is left in it would be one into nothing.
CMDQ_TEST(works_at_another_address) {
  for_all_strategies([]<class A>() {
    using queue = shared<A>;
    const auto where = queue::layout(small(), 0);
    CMDQ_CHECK(where.ok());
    const block b(where->bytes);
    void* const first = b.map();
    CMDQ_CHECK(queue::create(first, b.bytes(), small(), 0).ok());
    void* const second = b.map();
    CMDQ_CHECK(first != second);
    b.unmap(first);
    const auto q = queue::open(second, b.bytes());
    CMDQ_CHECK(q.ok());
    {
      typename queue::producer p;
      typename queue::producer also;
      CMDQ_CHECK_EQ(q->queue().attach(p), status::ok);
      CMDQ_CHECK_EQ(q->queue().attach(also), status::ok);
      for (std::uint32_t i = 0; i < 200; ++i) {
        const command list[] = {numbered(i), numbered(i), numbered(i)};
        CMDQ_CHECK_EQ(p.issue(list, 1 + i % 3).code, status::ok);
        CMDQ_CHECK_EQ(also.insert(list, 1 + i % 2).code, status::ok);
        const auto t = p.submit(list, 2);
        CMDQ_CHECK(t.ok());
        CMDQ_CHECK_EQ(p.wait(*t, 1'000'000), status::ok);
      }
      CMDQ_CHECK_EQ(also.issue(nullptr, 0).code, status::ok);
      CMDQ_CHECK(q->device().prod == q->queue().prod_register());
    }
    b.unmap(second);
  });
}

CMDQ_TEST(the_device_sees_the_entries_aligned) {
  for (const std::uint64_t base : {0ULL, 64ULL, 4096ULL, 0x80000040ULL}) {
    const auto where = any::layout(small(), base);
    CMDQ_CHECK(where.ok());
    CMDQ_CHECK((base + where->entries) % 1024 == 0);
    CMDQ_CHECK(where->entries >= where->range_ends + 64 * 4);
    const block b(where->bytes);
    void* const at = b.map();
    const auto q = any::create(at, b.bytes(), small(), base);
    CMDQ_CHECK(q.ok());
    CMDQ_CHECK_EQ(reinterpret_cast<std::uintptr_t>(q->entries()),
                  reinterpret_cast<std::uintptr_t>(at) + where->entries);
    b.unmap(at);
  }
}

CMDQ_TEST(creating_is_refused_with_value_and_limit) {
  alignas(4096) static char memory[1 << 16];
  const std::uint64_t bytes = any::layout(small(), 0)->bytes;
  check_refusal(any::create(nullptr, bytes, small(), 0).why(), status::invalid_argument, "memory", 0, 0);
  const auto address = reinterpret_cast<std::uintptr_t>(memory + 8);
  check_refusal(any::create(memory + 8, bytes, small(), 0).why(), status::misaligned, "memory", address, 64);
  check_refusal(any::create(memory, bytes - 1, small(), 0).why(), status::no_space, "size", bytes - 1, bytes);
  check_refusal(any::create(memory, bytes, small(), 32).why(), status::misaligned, "device_base", 32, 64);
  check_refusal(any::create(memory, bytes, small(5000), 0).why(), status::out_of_range, "producers", 5000,
                max_producers);
  options wide = small(64);
  check_refusal(any::create(memory, sizeof memory, wide, 0).why(), status::ring_too_small, "producers x longest list",
                64 * 5, 64);
  check_refusal(any::open(memory, sizeof memory).why(), status::invalid_argument, "magic", 0, multi::block_magic);
  CMDQ_CHECK(any::create(memory, bytes, small(), 0).ok());
}

CMDQ_TEST(opening_is_refused_with_value_and_limit) {
  alignas(4096) static char memory[1 << 16];
  const std::uint64_t bytes = any::layout(small(), 0)->bytes;
  check_refusal(any::open(nullptr, bytes).why(), status::invalid_argument, "memory", 0, 0);
  CMDQ_CHECK(any::create(memory, bytes, small(), 0).ok());
  CMDQ_CHECK(any::open(memory, bytes).ok());
  using header = multi::block_header<named_processes>;
  check_refusal(any::open(memory, sizeof(header) - 1).why(), status::out_of_range, "size", sizeof(header) - 1,
                sizeof(header));
  check_refusal(any::open(memory, bytes - 1).why(), status::out_of_range, "size", bytes - 1, bytes);
  const auto print = reinterpret_cast<header*>(memory)->fingerprint;
  const auto other = shared<allocation::owner_bits>::open(memory, bytes);
  CMDQ_CHECK_EQ(other.code(), status::invalid_argument);
  CMDQ_CHECK_EQ(std::string(other.why().field), std::string("fingerprint"));
  CMDQ_CHECK_EQ(other.why().value, print);
  reinterpret_cast<header*>(memory)->version = 7;
  check_refusal(any::open(memory, bytes).why(), status::out_of_range, "version", 7, multi::block_version);
}

// Every bit of the header counts, except those that nothing is read from.
CMDQ_TEST(a_header_that_was_written_to_is_refused) {
  alignas(4096) static char memory[1 << 16];
  const std::uint64_t bytes = any::layout(small(), 0)->bytes;
  CMDQ_CHECK(any::create(memory, bytes, small(), 0).ok());
  using header = multi::block_header<named_processes>;
  const std::size_t used = offsetof(header, opts) + sizeof(options);
  for (std::size_t i = 0; i < used * 8; ++i) {
    memory[i / 8] = static_cast<char>(memory[i / 8] ^ (1 << i % 8));
    CMDQ_CHECK(!any::open(memory, bytes).ok());
    memory[i / 8] = static_cast<char>(memory[i / 8] ^ (1 << i % 8));
  }
  CMDQ_CHECK(any::open(memory, bytes).ok());
}

namespace {
/// A block in static memory, and who acts.
template <class A>
struct stage {
  using queue = shared<A>;
  using producer = typename queue::producer;
  explicit stage(std::uint32_t producers) {
    const auto made = queue::create(memory, sizeof memory, small(producers), 0);
    CMDQ_CHECK(made.ok());
    q = *made;
  }
  void as(std::uint64_t process) { named_processes::now_process = process; }
  /// A producer that is never destroyed: its process, which is the caller's from now on, is to end.
  producer& attached_as(std::uint64_t process) {
    as(process);
    auto* const of_process = new (leaked) producer;
    CMDQ_CHECK_EQ(q.queue().attach(*of_process), status::ok);
    return *of_process;
  }
  alignas(producer) char leaked[sizeof(producer)];
  alignas(4096) char memory[1 << 16] = {};
  queue q;
};
}  // namespace

// A process that ends between two calls gives its cell back at once; one that lives keeps its own.
CMDQ_TEST(a_cell_whose_process_is_gone_comes_back) {
  for_all_strategies([]<class A>() {
    auto s = std::make_unique<stage<A>>(2);
    using producer = typename stage<A>::queue::producer;
    producer& of_7 = s->attached_as(7);
    const command c = numbered(1);
    CMDQ_CHECK_EQ(of_7.issue(&c, 1).code, status::ok);
    s->as(8);
    producer mine;
    CMDQ_CHECK_EQ(s->q.queue().attach(mine), status::ok);
    producer next;
    CMDQ_CHECK_EQ(s->q.queue().attach(next), status::too_many_producers);
    CMDQ_CHECK_EQ(s->q.queue().take_back().cells, 0U);
    named_processes::gone = {7};
    CMDQ_CHECK_EQ(s->q.queue().attach(next), status::ok);
    CMDQ_CHECK_EQ(next.issue(&c, 1).code, status::ok);
    CMDQ_CHECK_EQ(mine.issue(&c, 1).code, status::ok);
    producer more;
    CMDQ_CHECK_EQ(s->q.queue().attach(more), status::too_many_producers);
    named_processes::gone.clear();
  });
}

// What it has inserted is a debt of its cell: nobody gets the cell before the device has consumed it.
CMDQ_TEST(a_cell_comes_back_once_its_debt_is_settled) {
  for_all_strategies([]<class A>() {
    auto s = std::make_unique<stage<A>>(1);
    using producer = typename stage<A>::queue::producer;
    producer& of_7 = s->attached_as(7);
    s->q.device().runs = false;
    const command c = numbered(1);
    CMDQ_CHECK_EQ(of_7.issue(&c, 1).code, status::timeout);
    named_processes::gone = {7};
    s->as(8);
    producer next;
    CMDQ_CHECK_EQ(s->q.queue().attach(next), status::would_block);
    CMDQ_CHECK_EQ(s->q.queue().attach(next), status::would_block);
    s->q.device().go_on();
    CMDQ_CHECK_EQ(s->q.queue().attach(next), status::ok);
    CMDQ_CHECK_EQ(next.issue(&c, 1).code, status::ok);
    named_processes::gone.clear();
  });
}

// Seen by the others while it waits for the device: its cell is nobody's before the device has consumed all that it can
// have claimed.
CMDQ_TEST(a_process_that_ends_inside_a_call_leaves_a_debt) {
  for_all_strategies([]<class A>() {
    auto s = std::make_unique<stage<A>>(1);
    using producer = typename stage<A>::queue::producer;
    producer& of_7 = s->attached_as(7);
    s->q.device().runs = false;
    bool seen = false;
    block_device::at_read = [&] {
      named_processes::gone = {7};
      s->as(8);
      producer next;
      CMDQ_CHECK_EQ(s->q.queue().attach(next), status::would_block);
      const gone_report again = s->q.queue().take_back();
      CMDQ_CHECK_EQ(again.cells, 0U);
      CMDQ_CHECK_EQ(again.owing, 1U);
      CMDQ_CHECK_EQ(s->q.queue().attach(next), status::would_block);
      s->q.device().go_on();
      CMDQ_CHECK_EQ(s->q.queue().take_back().owing, 0U);
      CMDQ_CHECK_EQ(s->q.queue().attach(next), status::ok);
      const command c = numbered(2);
      CMDQ_CHECK_EQ(next.issue(&c, 1).code, status::ok);
      seen = true;
    };
    const command c = numbered(1);
    static_cast<void>(of_7.issue(&c, 1));
    CMDQ_CHECK(seen);
    named_processes::gone.clear();
  });
}

// All is consumed, but whoever comes next would wait for ever for its turn.
CMDQ_TEST(a_process_that_ends_before_it_hands_on_its_turn_leaves_a_hole) {
  for_all_strategies([]<class A>() {
    auto s = std::make_unique<stage<A>>(1);
    using producer = typename stage<A>::queue::producer;
    producer& of_7 = s->attached_as(7);
    bool seen = false;
    block_device::at_write = [&] {
      named_processes::gone = {7};
      s->as(8);
      producer next;
      for (unsigned i = 0; i < 3; ++i) {
        CMDQ_CHECK_EQ(s->q.queue().attach(next), status::would_block);
        CMDQ_CHECK_EQ(s->q.queue().take_back().owing, 1U);
      }
      seen = true;
    };
    const command c = numbered(1);
    static_cast<void>(of_7.issue(&c, 1));
    CMDQ_CHECK(seen);
    named_processes::gone.clear();
  });
}

// Between claim and publication: nobody can fill that, others' calls end by their budgets, and the queue is rebuilt.
// Where nobody claims it is no hole.
CMDQ_TEST(a_claim_that_is_never_published_stays_a_hole) {
  for_all_strategies([]<class A>() {
    auto s = std::make_unique<stage<A>>(2);
    using queue = typename stage<A>::queue;
    using producer = typename queue::producer;
    using open_writer = writer<typename queue::queue_type>;
    alignas(open_writer) char leaked_writer[sizeof(open_writer)];
    s->as(9);
    producer other;
    CMDQ_CHECK_EQ(s->q.queue().attach(other), status::ok);
    producer& of_7 = s->attached_as(7);
    auto* const open = new (leaked_writer) open_writer(of_7.reserve(2, true));
    CMDQ_CHECK_EQ(open->push(numbered(1)), status::ok);
    named_processes::gone = {7};
    s->as(9);
    const command c = numbered(2);
    producer next;
    if (!A::delegates) {
      CMDQ_CHECK_EQ(s->q.queue().attach(next), status::would_block);
      for (unsigned i = 0; i < 3; ++i) {
        CMDQ_CHECK_EQ(other.issue(&c, 1).code, status::timeout);
        CMDQ_CHECK_EQ(s->q.queue().take_back().owing, 1U);
      }
      s->q.queue().retire();
      CMDQ_CHECK_EQ(other.issue(&c, 1).code, status::device_fault);
      CMDQ_CHECK_EQ(s->q.queue().attach(next), status::device_fault);
      auto fresh = std::make_unique<stage<A>>(2);
      CMDQ_CHECK_EQ(fresh->q.queue().attach(next), status::ok);
      CMDQ_CHECK_EQ(next.issue(&c, 1).code, status::ok);
      next = producer();
    } else {
      CMDQ_CHECK_EQ(s->q.queue().attach(next), status::ok);
      CMDQ_CHECK_EQ(other.issue(&c, 1).code, status::ok);
      CMDQ_CHECK_EQ(next.issue(&c, 1).code, status::ok);
    }
    named_processes::gone.clear();
  });
}

// A real process, killed: gone while nobody has waited for it, and afterwards.
CMDQ_TEST(linux_knows_who_is_gone) {
  using P = platform::hosted_processes<platform::boost_atomic>;
  const std::uint64_t me = P::process();
  CMDQ_CHECK(me != 0);
  CMDQ_CHECK_EQ(P::process(), me);
  CMDQ_CHECK(!P::process_gone(me));
  CMDQ_CHECK((me & 0x3fffff) == static_cast<std::uint64_t>(getpid()));
  CMDQ_CHECK(P::process_gone(me + (1ULL << 22)));  // the number of an earlier process with this one's pid
  int ends[2];
  CMDQ_CHECK(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::uint64_t number = P::process();
    static_cast<void>(!write(ends[1], &number, sizeof number));
    for (;;) pause();
  }
  std::uint64_t number = 0;
  CMDQ_CHECK(read(ends[0], &number, sizeof number) == sizeof number);
  CMDQ_CHECK(number != me);
  CMDQ_CHECK(!P::process_gone(number));
  kill(child, SIGKILL);
  siginfo_t unused;
  CMDQ_CHECK(waitid(P_PID, static_cast<id_t>(child), &unused, WEXITED | WNOWAIT) == 0);
  CMDQ_CHECK(P::process_gone(number));
  CMDQ_CHECK(waitpid(child, nullptr, 0) == child);
  CMDQ_CHECK(P::process_gone(number));
  close(ends[0]);
  close(ends[1]);
}

}  // namespace cmdq::test
