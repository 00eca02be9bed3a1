// SPDX-License-Identifier: BSL-1.0
#include "crew.hpp"

#include "worker.hpp"

namespace cmdq::test {

namespace {

constexpr std::uint64_t step_limit = 2'000'000;
constexpr std::uint64_t lateness_ns = test_deadline_ns / 4;  ///< for the others' steps between two looks at the clock

/// Every call ends within its budget.
void run_program(worker& w, const program& p) {
  w.attach();
  for (const op& o : p) {
    if (o.cpu != op::stays) w.move_to(o.cpu);
    const std::uint64_t began = scheduled_platform::now_ns();
    std::uint64_t budget = test_deadline_ns;
    switch (o.call) {
      case op::what::issue:
        w.issue(o.kinds);
        break;
      case op::what::insert:
        w.insert(o.kinds);
        break;
      case op::what::fill:
        w.fill(o.kinds);
        budget += test_deadline_ns;  // it may issue a CMD_SYNC first
        break;
      case op::what::fill_and_leave:
        w.fill_and_leave(o.kinds);
        break;
      default: {
        const auto t = w.submit(o.kinds);
        if (t && o.call == op::what::submit_and_wait && w.poll(*t) == status::would_block) {
          w.wait(*t, test_deadline_ns);
          budget += test_deadline_ns;
        }
      }
    }
    if (scheduled_platform::now_ns() - began > budget + lateness_ns) throw failure("a call outlived its budget");
  }
}

void run_device(rig& r, const crew_case& c) {
  std::size_t next_pause = 0;
  std::uint64_t steps = 0;
  while (scheduler::current()->running_threads() > 1) {
    if (next_pause < c.pauses.size() && steps >= c.pauses[next_pause].after_steps) {
      stand_still(c.pauses[next_pause].ns);
      steps = 0;
      ++next_pause;
    }
    if (c.service_failure && steps == 3) r.device.raise_global(gerror::sfm);
    if (model::rests(r.device.step())) scheduled_platform::yield();
    ++steps;
  }
}

/// After a case without a broken device: nothing is left behind that a later call could fall over.
void check_aftermath(rig& r, const crew_case& c) {
  r.device.plan.abort_count = 0;
  // What calls that ended had left may be told only now: then the device has something to do again.
  for (int i = 0; i < 3 && r->recover() == status::stalled; ++i) drain(r);
  CMDQ_CHECK_EQ(r->recover(), status::ok);
  CMDQ_CHECK_EQ(r->prod_register(), r->cons_register());
  const std::uint32_t rounds = 2 * r.shape().entries() / r.longest() + 2;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    const unsigned who = i % static_cast<unsigned>(c.programs.size());
    const std::size_t list = r.log.ask(who, {kind::tlb});
    const std::vector<command> one = r.log.commands(list);
    const outcome o = r->issue(who, one.data(), 1);
    if (!o.ok()) {
      // What an earlier list earned may still be owed to its producer.
      CMDQ_CHECK(o.code == status::illegal_command || o.code == status::atc_timeout);
      CMDQ_CHECK(i < c.programs.size());
    }
    r.log.lists[list].inserted = o.inserted;
    r.log.check_done(list, o.inserted);
  }
}

}  // namespace

void stand_still(std::uint64_t ns) {
  scheduler& s = *scheduler::current();
  for (const std::uint64_t end = s.now_ns() + ns; s.now_ns() < end;) s.wait_until(end);
}

void run_crew(const crew_case& c) {
  rig r(c.what, c.seed);
  for (std::uint32_t i = 0; c.what.opts.groups != 1 && i < c.what.opts.groups; ++i) {
    const position last = c.what.opts.first - c.idle_groups;
    r.memory().groups[i].done.store(last, at<site::setup>);
    r.memory().groups[i].claimed.set(last);
    r.memory().groups[i].looked.set(last - 100);
  }
  for (const auto& [offset, times] : c.aborts) r.device.plan.abort_fetch(c.what.opts.first + offset, times);
  r.device.plan.kill_stream(dead_stream_id, c.dead_reports);
  if (c.msi_failures) r.device.plan.failing_msis = model::for_ever;
  if (c.lie == model::lie::by_user) {
    r.bus.cons_filter = [x = c.seed, mask = 2 * r.shape().entries() - 1](std::uint32_t honest) mutable {
      x = x * 1664525U + 1013904223U;
      return ((x >> 16) & 1U) == 0 ? (honest & ~mask) | ((x >> 17) & mask) : honest;
    };
  } else {
    r.bus.liar.set(c.lie);
  }

  scheduler s(c.interleaving, step_limit);
  std::vector<worker> workers;
  for (unsigned i = 0; i < c.programs.size(); ++i) workers.emplace_back(r, i, c.expected);
  for (unsigned i = 0; i < c.programs.size(); ++i)
    s.spawn([&workers, &c, i] { run_program(workers[i], c.programs[i]); });
  s.spawn([&r, &c] { run_device(r, c); });
  if (s.run() != scheduler::ending::finished) throw failure("a call does not end");

  r.watch();
  CMDQ_CHECK(!r.cons_went_back);
  if (c.expected == harm::lies) {
    check_prods(r);
    return;
  }
  r.log.check_order();
  check_prods(r);
  CMDQ_CHECK_EQ(r.device.odd.total(), 0U);
  drain(r);
  if (r.device.read_gerror() != r.device.read_gerrorn() || c.service_failure) return;  // broken for good
  r.log.check_complete();
  check_aftermath(r, c);
  r.log.check_complete();
}

std::string shown(const crew_case& c) {
  std::ostringstream out;
  out << shown(c.what);
  const char* calls[] = {"issue", "insert", "fill", "fill+leave", "submit+wait", "submit"};
  const char letters[] = {'t', 'c', 'a', 'D', 'I'};
  for (std::size_t i = 0; i < c.programs.size(); ++i) {
    out << "\n  producer " << i << ":";
    for (const op& o : c.programs[i]) {
      out << ' ';
      if (o.cpu != op::stays) out << "on CPU " << o.cpu << ' ';
      out << calls[static_cast<unsigned>(o.call)] << '(';
      for (const kind k : o.kinds) out << letters[static_cast<unsigned>(k)];
      out << ')';
    }
  }
  if (c.idle_groups != 0) out << "\n  groups idle for " << c.idle_groups << " entries";
  out << "\n  device:";
  for (const auto& p : c.pauses) out << " stands " << p.ns << " ns after " << p.after_steps << " steps;";
  for (const auto& [offset, times] : c.aborts) out << " abort at +" << offset << " x " << times << ';';
  if (c.dead_reports != 1) out << " reports ATC time-outs " << c.dead_reports << " times;";
  if (c.service_failure) out << " service failure;";
  if (c.msi_failures) out << " MSIs fail;";
  if (c.lie != model::lie::none) out << " lie " << static_cast<unsigned>(c.lie) << ", seed " << c.seed << ';';
  out << "\n  interleaving:";
  for (const std::uint8_t x : c.interleaving) out << ' ' << +x;
  return out.str();
}

}  // namespace cmdq::test
