// SPDX-License-Identifier: BSL-1.0
// One producer stops for ever, anywhere in a call. Then the queue is rebuilt on fresh memory.
#include <cmdq/allocation/strategies.hpp>
#include <cmdq/model/hardware.hpp>
#include <cmdq/queue/command_queue.hpp>
#include <cmdq/queue/fixed_memory.hpp>
#include <memory>
#include <vector>

#include "support/one_thread.hpp"
#include "support/scheduled_platform.hpp"
#include "support/test.hpp"

namespace cmdq::test {
namespace {

constexpr unsigned log2_size = 5;
constexpr std::uint32_t longest = 3;
constexpr std::uint64_t budget_ns = 400'000;
constexpr std::uint64_t most_after = 600;  ///< accesses of a call after its deadline: see others.cpp
constexpr std::uint64_t step_limit = 1'000'000;
constexpr unsigned others = 2;

/// Knows whether some thread is in the combiner's window (allocation::delegated).
struct windowed_platform : scheduled_platform {
  static inline bool open = false;

  template <class T>
  class atomic : public scheduled_platform::atomic<T> {
    using base = scheduled_platform::atomic<T>;

   public:
    using base::base;
    template <class S>
    void store(T v, S where) {
      base::store(v, where);
      if (S::id == site::combiner_let_go) open = false;
    }
    template <class S>
    bool compare_exchange(T& expected, T v, S where) {
      const bool done = base::compare_exchange(expected, v, where);
      if (S::id == site::combiner_take && done) open = true;
      return done;
    }
  };
};

template <class Allocation>
struct stopping_config : freestanding_config {
  using platform = windowed_platform;
  using allocation = Allocation;
};

/// Times each command was executed, by its number.
struct counted_commands : model::null_hooks {
  std::vector<unsigned>* times = nullptr;
  void executed(position, const command& c, std::uint64_t) const {
    if (opcode_of(c.word[0]) != opcode_sync) ++times->at(c.word[1] >> 12);
  }
};

struct stopping_case {
  unsigned call = 0;  ///< 0 issue, 1 insert, 2 submit, 3 reserve and commit
  std::uint32_t n = 1;
  std::uint64_t point = 0;
  position first = 0;
  bool stands = false;  ///< the device consumes nothing more for the old queue
  unsigned later = 0;   ///< polls until the queue is retired
  choices interleaving;
};

template <class Allocation>
class house {
 public:
  using machine = model::hardware<windowed_platform, ring_entry<windowed_platform>, counted_commands>;

  /// The registers as one queue sees them. What the old one still writes to PROD is counted, and reaches nobody once
  /// the device is the other's: such a thread must have ended by then.
  struct bus {
    house& of;
    bool old;
    void write_prod(std::uint32_t v) {
      scheduled_platform::access();
      scheduled_platform::peeking = true;  // whose the device is, and the write, are one
      if (old && of.retired_) ++of.late_writes_;
      if (!old || !of.based_) of.device_.write_prod(v);
      scheduled_platform::peeking = false;
    }
    std::uint32_t read_cons() { return of.device_.read_cons(); }
    std::uint32_t read_gerror() { return of.device_.read_gerror(); }
    std::uint32_t read_gerrorn() { return of.device_.read_gerrorn(); }
    void write_gerrorn(std::uint32_t v) { of.device_.write_gerrorn(v); }
  };
  using queue_type = command_queue<bus, stopping_config<Allocation>>;
  using producer = typename queue_type::producer;
  using memory = fixed_memory<windowed_platform, log2_size, others + 1>;

  explicit house(const stopping_case& c) : case_(c), times_(1, 0), device_(model::device_drive::stepped, {}, hooks()) {
    windowed_platform::open = false;
    scheduled_platform::alone_ns = 0;
    scheduled_platform::idle = [] { scheduled_platform::alone_ns += scheduler::idle_round_ns; };
    // Whoever is stopped has what it uses for ever.
    old_ = new queue_type(planned(*new memory, 0x1000, c.first), old_bus_);
    victim_ = new producer;
    CMDQ_CHECK_EQ(old_->attach(*victim_), status::ok);
    for (auto& p : before_) CMDQ_CHECK_EQ(old_->attach(p), status::ok);
  }
  ~house() {
    scheduled_platform::idle = nullptr;
    if (hit_) return;
    delete victim_;
    for (auto& p : before_) p = producer();
  }
  house(const house&) = delete;
  house& operator=(const house&) = delete;

  /// True: the victim was stopped inside its call.
  bool stop_one() {
    scheduler s(case_.interleaving, step_limit);
    s.spawn([this] { victim_calls(); });
    for (auto& p : before_)
      s.spawn([this, &p] {
        for (unsigned k = 0; k < 3; ++k) call(p, k, false);
      });
    s.spawn([this] { run_device(); });
    s.stop(0, case_.point);
    if (s.run() != scheduler::ending::finished) throw failure("a call does not end");
    hit_ = s.stopped(0);
    return hit_;
  }

  /// Others' calls that were not ok.
  [[nodiscard]] unsigned disturbed() const { return disturbed_; }

  /// The steps of command_queue::retire(), while the others still call, and new producers as soon as they can.
  void rebuild() {
    rebuilding_ = true;
    scheduler s(case_.interleaving, step_limit);
    for (auto& p : before_)
      s.spawn([this, &p] {
        for (unsigned k = 0; k < 3; ++k) call(p, k, true);
      });
    s.spawn([this] { run_device(); });
    s.spawn([this] { replace(); });
    for (auto& p : after_) {
      s.spawn([this, &p] {
        while (!replaced_) scheduled_platform::yield();
        for (unsigned k = 0; k < 12; ++k) CMDQ_CHECK_EQ(call(p, k, false), status::ok);
      });
    }
    if (s.run() != scheduler::ending::finished) throw failure("a call does not end after the rebuild");
    CMDQ_CHECK(late_writes_ <= 1);
    CMDQ_CHECK_EQ(device_.odd.total(), 0U);
    const command c = next();
    for (auto& p : before_) CMDQ_CHECK_EQ(p.issue_for(&c, 1, budget_ns).code, status::device_fault);
    CMDQ_CHECK_EQ(old_->recover(), status::device_fault);
    producer refused;
    CMDQ_CHECK_EQ(old_->attach(refused), status::device_fault);
    for (auto& p : after_) CMDQ_CHECK_EQ(p.issue_for(&c, 1, 0).code, status::timeout);  // the device does not run here
    for (auto& p : after_) p = producer();
  }

 private:
  counted_commands hooks() {
    counted_commands h;
    h.times = &times_;
    return h;
  }
  plan<windowed_platform> planned(memory& m, std::uint64_t address, position first) {
    options o;
    o.log2_size = log2_size;
    o.batch_limit = longest;
    o.producers = others + 1;
    o.deadline_ns = budget_ns;
    o.first = first;
    const ring_memory<windowed_platform> r = m.at_device_address(address);
    // CR0.CMDQEN off, wait for CR0ACK, base and indices, CR0.CMDQEN on, wait: the device steps in it.
    CMDQ_CHECK_EQ(device_.attach(r.entries, log2_size, address, o.first), status::ok);
    const auto p = make_plan<stopping_config<Allocation>>(o, r);
    CMDQ_CHECK(p.ok());
    return *p;
  }
  command next() {
    times_.push_back(0);
    return numbered(times_.size() - 1);
  }

  void replace() {
    for (unsigned i = 0; i < case_.later; ++i) scheduled_platform::yield();
    old_->retire();
    retired_ = true;
    wants_off_ = true;
    while (!off_) scheduled_platform::yield();
    based_ = true;
    // The device begins where the old queue has lists that are not done: its CONS is no word on them.
    const plan<windowed_platform> p = planned(fresh_memory_, 0x2000, old_->cons_register());
    fresh_ = std::make_unique<queue_type>(p, fresh_bus_);
    for (auto& a : after_) CMDQ_CHECK_EQ(fresh_->attach(a), status::ok);
    wants_off_ = false;
    replaced_ = true;
  }

  void victim_calls() {
    command list[longest];
    for (auto& c : list) c = next();
    if (case_.call == 0) static_cast<void>(victim_->issue(list, case_.n));
    if (case_.call == 1) static_cast<void>(victim_->insert(list, case_.n));
    if (case_.call == 2) static_cast<void>(victim_->submit(list, case_.n));
    if (case_.call == 3) {
      auto w = victim_->reserve(case_.n, true);
      for (std::uint32_t i = 0; i < case_.n; ++i) static_cast<void>(w.push(list[i]));
      static_cast<void>(w.commit());
    }
  }

  /// A call of somebody else: ends by its budget; ok only when what it says is done is done, once.
  status call(producer& p, unsigned k, bool retired) {
    command list[longest];
    const std::uint32_t n = 1 + k % longest;
    for (std::uint32_t i = 0; i < n; ++i) list[i] = next();
    const std::size_t first = times_.size() - n;
    scheduler::current()->count_after(scheduled_platform::now_ns() + budget_ns);
    const outcome o = p.issue(list, n);
    if (scheduler::current()->points_after() > most_after)
      throw failure(std::to_string(scheduler::current()->points_after()) + " accesses after the deadline");
    const bool fits = o.code == status::ok || (retired && o.code == status::device_fault) ||
                      o.code == status::timeout || o.code == status::stalled;
    if (!fits)
      throw failure(std::string("call ") + std::to_string(k) + (retired ? ", retired" : "") + ": " + name(o.code));
    if (o.code != status::ok) ++disturbed_;
    for (std::uint32_t i = 0; i < n; ++i) {
      CMDQ_CHECK(times_[first + i] <= 1);
      if (o.code == status::ok) CMDQ_CHECK_EQ(times_[first + i], 1U);
      if (o.inserted == 0) CMDQ_CHECK_EQ(times_[first + i], 0U);
    }
    return o.code;
  }

  void run_device() {
    while (scheduler::current()->running_threads() > 1) {
      off_ = wants_off_;
      const bool stands = case_.stands && rebuilding_ && !replaced_;
      if (off_ || stands || model::rests(device_.step())) scheduled_platform::yield();
    }
  }

  stopping_case case_;
  std::vector<unsigned> times_;
  machine device_;
  bus old_bus_{*this, true};
  bus fresh_bus_{*this, false};
  memory fresh_memory_;
  std::unique_ptr<queue_type> fresh_;
  bool rebuilding_ = false;
  bool retired_ = false;
  bool wants_off_ = false;
  bool off_ = false;
  bool based_ = false;
  bool replaced_ = false;
  unsigned late_writes_ = 0;
  queue_type* old_ = nullptr;
  producer* victim_ = nullptr;
  producer before_[others];
  producer after_[others];
  bool hit_ = false;
  unsigned disturbed_ = 0;
};

stopping_case drawn() {
  stopping_case c;
  c.call = *rc::gen::inRange(0U, 4U);
  c.n = *rc::gen::inRange(1U, longest + 1);
  c.point = *rc::gen::inRange<std::uint64_t>(0, 60);
  c.first = *rc::gen::element<position>(0, 0U - 20, 7);
  c.stands = *rc::gen::arbitrary<bool>();
  c.later = *rc::gen::inRange(0U, 40U);
  c.interleaving = *rc::gen::container<choices>(200, rc::gen::arbitrary<std::uint8_t>());
  return c;
}

template <class Allocation>
void stop_and_rebuild() {
  property([] {
    const stopping_case c = drawn();
    RC_LOG() << "call " << c.call << ", " << c.n << " commands, stopped at point " << c.point << ", first " << c.first
             << '\n';
    auto* const h = new house<Allocation>(c);
    const bool hit = h->stop_one();
    RC_CLASSIFY(hit, "stopped");
    h->rebuild();
    if (!hit) delete h;
  });
}

}  // namespace

CMDQ_TEST(cmpxchg_loop_is_rebuilt_after_a_stop_anywhere) { stop_and_rebuild<allocation::cmpxchg_loop>(); }
CMDQ_TEST(owner_bits_is_rebuilt_after_a_stop_anywhere) { stop_and_rebuild<allocation::owner_bits>(); }
CMDQ_TEST(combining_is_rebuilt_after_a_stop_anywhere) { stop_and_rebuild<allocation::combining>(); }
CMDQ_TEST(delegated_is_rebuilt_after_a_stop_anywhere) { stop_and_rebuild<allocation::delegated>(); }

// Unless it is in the combiner's window, nobody notices the stop.
CMDQ_TEST(delegated_a_stop_outside_of_the_window_disturbs_nobody) {
  property([] {
    const stopping_case c = drawn();
    RC_LOG() << "call " << c.call << ", " << c.n << " commands, stopped at point " << c.point << ", first " << c.first
             << '\n';
    auto* const h = new house<allocation::delegated>(c);
    const bool hit = h->stop_one();
    const bool in_window = windowed_platform::open;
    RC_CLASSIFY(hit && !in_window, "stopped outside of the window");
    RC_CLASSIFY(hit && in_window, "stopped in the window");
    if (!in_window) CMDQ_CHECK_EQ(h->disturbed(), 0U);
    if (!hit) delete h;
  });
}

}  // namespace cmdq::test
