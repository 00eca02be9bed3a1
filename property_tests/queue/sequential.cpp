// SPDX-License-Identifier: BSL-1.0
// State machine tests with one thread: calls of several producers, steps of the device and its faults in any order, and
// the invariants of the algorithm after each of them.
#include <rapidcheck/state.h>

#include "generators.hpp"
#include "worker.hpp"

using namespace cmdq;
using namespace cmdq::test;

namespace {

/// What a command needs to know of the state in which it runs.
struct model_state {
  setup what;
  bool stands = false;   ///< the device does nothing, not even while a call waits
  unsigned tickets = 0;  ///< asked for (a refused one stays unused)
  unsigned aborts = 0;
};

struct world {
  explicit world(const setup& s) : r(s) {
    r.device.plan.kill_stream(dead_stream_id);
    for (unsigned i = 0; i < s.opts.producers; ++i) {
      workers.emplace_back(r, i, expected);
      workers.back().attach();
    }
  }

  /// After each step. Software CONS never goes back and never passes the device.
  void check() {
    r.log.check_order();
    check_prods(r);
    r.watch();
    CMDQ_CHECK(!r.cons_went_back);
    const geometry g = r.shape();
    const std::uint32_t cons = r->cons_register();
    const std::uint32_t msi_first = r.what.msi ? 1 : 0;  // its completion word comes before the device moves on
    CMDQ_CHECK(g.ahead(cons, g.to_register(r.device.next() + msi_first)) <= g.entries() + msi_first);
    CMDQ_CHECK(g.ahead(cons, r->prod_register()) <= g.entries());
    CMDQ_CHECK_EQ(r.device.odd.total(), 0U);
  }

  /// A call has ended; it may not have taken longer than its one budget.
  void ended(status s, std::uint64_t began) {
    if (s == status::timeout || s == status::device_fault || s == status::fetch_abort) stalled = true;
    CMDQ_CHECK(scheduled_platform::alone_ns - began <= test_deadline_ns + 20 * scheduler::idle_round_ns);
    update();
  }
  /// Without a standing device or a stalled queue every call must succeed or report its own errors.
  void update() { expected = stalled || !r.device_runs || broken ? harm::breaks : harm::none; }

  void finish() {
    r.device_runs = true;
    r.device.plan.abort_count = 0;
    drain(r);
    status recovered = status::stalled;
    for (int i = 0; i < 40 && recovered == status::stalled; ++i) {
      r.device.drain();
      recovered = r->recover();
    }
    CMDQ_CHECK_EQ(recovered, status::ok);
    r.log.check_complete();
    stalled = broken = false;
    update();
    for (worker& w : workers) w.issue({});  // what is still owed
    check();
    for (worker& w : workers) CMDQ_CHECK_EQ(w.issue({kind::tlb}), status::ok);
    r.log.check_complete();
  }

  rig r;
  harm expected = harm::none;
  bool stalled = false;
  bool broken = false;  ///< a fault that may end in device_fault was injected
  std::vector<worker> workers;
  std::vector<std::optional<kept_ticket>> tickets;
};

using step = rc::state::Command<model_state, world>;

std::string letters(const std::vector<kind>& kinds) {
  std::string s;
  for (const kind k : kinds) s += "tcaDI"[static_cast<unsigned>(k)];
  return s;
}

struct insertion : step {
  explicit insertion(const model_state& m)
      : producer(*rc::gen::inRange(0U, m.what.opts.producers)),
        cpu(*rc::gen::inRange(0U, m.what.opts.groups * m.what.opts.cpus_per_group)) {}
  [[nodiscard]] worker& caller(world& w) const {
    w.workers[producer].move_to(cpu);
    return w.workers[producer];
  }
  std::ostream& who(std::ostream& o) const { return o << "producer " << producer << " on CPU " << cpu; }
  unsigned producer;
  std::uint32_t cpu;
  std::vector<kind> kinds;
};

struct issue_step : insertion {
  explicit issue_step(const model_state& m) : insertion(m) { kinds = *lists(2 * m.what.opts.batch_limit + 1, true); }
  void run(const model_state&, world& w) const override {
    const std::uint64_t began = scheduled_platform::alone_ns;
    w.update();
    w.ended(caller(w).issue(kinds), began);
    w.check();
  }
  void show(std::ostream& o) const override { who(o) << " issues " << letters(kinds); }
};

struct insert_step : insertion {
  explicit insert_step(const model_state& m) : insertion(m) { kinds = *lists(m.what.opts.batch_limit, true); }
  void run(const model_state&, world& w) const override {
    const std::uint64_t began = scheduled_platform::alone_ns;
    w.update();
    w.ended(caller(w).insert(kinds), began);
    w.check();
  }
  void show(std::ostream& o) const override { who(o) << " inserts " << letters(kinds); }
};

struct fill_step : insertion {
  explicit fill_step(const model_state& m) : insertion(m), leaves(*rc::gen::inRange(0, 2) == 1) {
    kinds = *whole_lists(m.what, true);
  }
  void checkPreconditions(const model_state& m) const override {
    RC_PRE(!kinds.empty() && !m.what.opts.sync_every_batch);
  }
  void run(const model_state&, world& w) const override {
    const std::uint64_t began = scheduled_platform::alone_ns;
    w.update();
    const bool atc = kinds[0] == kind::atc || kinds[0] == kind::dead_atc;
    w.ended(leaves && !atc ? caller(w).fill_and_leave(kinds) : caller(w).fill(kinds), began);
    w.check();
  }
  void show(std::ostream& o) const override { who(o) << (leaves ? " fills and leaves " : " fills ") << letters(kinds); }
  bool leaves;
};

struct submit_step : insertion {
  explicit submit_step(const model_state& m) : insertion(m) { kinds = *whole_lists(m.what, true); }
  void apply(model_state& m) const override { ++m.tickets; }
  void run(const model_state&, world& w) const override {
    const std::uint64_t began = scheduled_platform::alone_ns;
    w.update();
    w.tickets.push_back(caller(w).submit(kinds));
    // In a ring too small for tickets the list was waited for: the queue may have stalled all the same.
    const bool may_have_stalled = !w.tickets.back() || !w.r.device_runs || w.broken;
    w.ended(may_have_stalled ? status::timeout : status::ok, began);
    w.check();
  }
  void show(std::ostream& o) const override { who(o) << " submits " << letters(kinds); }
};

struct ticket_step : step {
  explicit ticket_step(const model_state& m)
      : which(m.tickets == 0 ? 0 : *rc::gen::inRange(0U, m.tickets)), waits(*rc::gen::inRange(0, 2) == 1) {}
  void checkPreconditions(const model_state& m) const override { RC_PRE(which < m.tickets); }
  void run(const model_state&, world& w) const override {
    if (!w.tickets[which]) return;
    const harm before = w.expected;
    if (waits) w.expected = !w.r.device_runs || w.expected == harm::breaks ? harm::breaks : harm::none;
    worker& asks = w.workers[w.r.log.lists[w.tickets[which]->list].producer];
    const std::uint64_t began = scheduled_platform::alone_ns;
    const status s = waits ? asks.wait(*w.tickets[which], test_deadline_ns) : asks.poll(*w.tickets[which]);
    CMDQ_CHECK(waits || scheduled_platform::alone_ns == began);
    w.expected = before;
    w.check();
    if (s == status::device_fault || s == status::fetch_abort) w.stalled = true;
  }
  void show(std::ostream& o) const override { o << (waits ? "wait for ticket " : "poll ticket ") << which; }
  unsigned which;
  bool waits;
};

struct device_step : step {
  explicit device_step(const model_state&) : steps(*rc::gen::inRange(1U, 12U)) {}
  void checkPreconditions(const model_state& m) const override { RC_PRE(!m.stands); }
  void run(const model_state&, world& w) const override {
    for (unsigned i = 0; i < steps; ++i) w.r.device.step();
    w.check();
  }
  void show(std::ostream& o) const override { o << "device: " << steps << " steps"; }
  unsigned steps;
};

struct stand_step : step {
  explicit stand_step(const model_state& m) : stands(!m.stands) {}
  void checkPreconditions(const model_state& m) const override { RC_PRE(m.stands != stands); }
  void apply(model_state& m) const override { m.stands = stands; }
  void run(const model_state&, world& w) const override {
    w.r.device_runs = !stands;
    // A stall ends once CONS has moved: until then calls fail fast.
    for (const std::uint32_t before = w.r.device.read_cons(); !stands && w.r.device.read_cons() == before;)
      if (model::rests(w.r.device.step())) break;
    w.update();
  }
  void show(std::ostream& o) const override { o << (stands ? "device: stands still" : "device: goes on"); }
  bool stands;
};

struct abort_step : step {
  explicit abort_step(const model_state&)
      : offset(*rc::gen::inRange(0U, 8U)), times(*rc::gen::inRange(0, 6) == 5 ? model::for_ever : 1U) {}
  void checkPreconditions(const model_state& m) const override { RC_PRE(m.aborts < model::faults::capacity); }
  void apply(model_state& m) const override { ++m.aborts; }
  void run(const model_state&, world& w) const override {
    w.r.device.plan.abort_fetch(w.r.device.next() + offset, times);
    w.broken = w.broken || times == model::for_ever || w.r.device.plan.abort_count > 2;
    w.update();
  }
  void show(std::ostream& o) const override { o << "device: " << times << " fetch aborts at +" << offset; }
  std::uint32_t offset;
  std::uint32_t times;
};

struct global_error_step : step {
  explicit global_error_step(const model_state&) : bit(1U << *rc::gen::inRange(2U, 8U)) {}
  /// An MSI that is said to be aborted does not come late.
  void checkPreconditions(const model_state& m) const override {
    RC_PRE(bit != gerror::msi_cmdq_abt || m.what.speed.msi_late_steps == 0);
  }
  void run(const model_state&, world& w) const override {
    w.r.device.raise_global(bit);
    w.check();
  }
  void show(std::ostream& o) const override { o << "device: raises GERROR " << bit; }
  std::uint32_t bit;
};

struct handle_step : step {
  explicit handle_step(const model_state&) {}
  void run(const model_state&, world& w) const override {
    const std::uint64_t acknowledged = w.r.bus.acknowledgements;
    const std::uint64_t looked = w.r.bus.cons_reads;
    const status s = w.r->handle_errors().code;
    CMDQ_CHECK(w.r.bus.acknowledgements - acknowledged <= 1);  // bounded work
    CMDQ_CHECK(w.r.bus.cons_reads - looked <= 2);
    CMDQ_CHECK(s == status::ok || w.broken || w.stalled);
    if (s != status::ok) w.stalled = true;
    w.check();
  }
  void show(std::ostream& o) const override { o << "handle_errors()"; }
};

struct recover_step : step {
  explicit recover_step(const model_state&) {}
  void run(const model_state&, world& w) const override {
    // With MSIs the last CMD_SYNC may be known to be done before the device has moved on.
    const auto reached_by = [&](position p) { return w.r.shape().to_register(p) == w.r->prod_register(); };
    const bool caught_up = reached_by(w.r.device.next()) || (w.r.what.msi && reached_by(w.r.device.next() + 1));
    const status s = w.r->recover();
    if (s == status::ok) {
      CMDQ_CHECK(caught_up);  // before that an unconsumed entry could be overwritten
      w.stalled = false;
    } else {
      // A lazy CONS may lag behind what is executed.
      CMDQ_CHECK(!reached_by(w.r.device.next()) || w.r.what.speed.cons_every > 1 ||
                 w.r.what.speed.msi_late_steps != 0 || w.broken || w.stalled);
    }
    w.update();
    w.check();
  }
  void show(std::ostream& o) const override { o << "recover()"; }
};

void sequential(strategy which) {
  property([=] {
    model_state start;
    start.what = *setups(which, *rc::gen::inRange(1U, 4U));
    RC_LOG() << shown(start.what) << '\n';
    world w(start.what);
    rc::state::check(start, w,
                     rc::state::gen::execOneOfWithArgs<issue_step, issue_step, insert_step, fill_step, submit_step,
                                                       ticket_step, device_step, device_step, stand_step, abort_step,
                                                       global_error_step, handle_step, recover_step>());
    w.finish();
  });
}

}  // namespace

CMDQ_TEST(sequential_cmpxchg_loop) { sequential(strategy::cmpxchg_loop); }
CMDQ_TEST(sequential_owner_bits) { sequential(strategy::owner_bits); }
CMDQ_TEST(sequential_combining) { sequential(strategy::combining); }
