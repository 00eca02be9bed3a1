// SPDX-License-Identifier: BSL-1.0
// What each strategy goes through, and the table of how it went.
#pragma once

#include "workloads.hpp"

namespace producers {

constexpr uint32_t log2_at_least(uint32_t entries) {
  uint32_t log2 = cmdq::min_log2_size;
  while ((1U << log2) < entries) ++log2;
  return log2;
}

/// One strategy under test: Config with its name.
template <class Config>
class trial {
 public:
  using platform = typename Config::platform;
  using registers = typename registers_of<platform>::type;
  using device_type = cmdq::smmuv3::device<registers>;
  using queue_type = cmdq::command_queue<device_type, Config>;
  using hand_type = hand<queue_type>;
  using does = workload<hand_type>;

  trial(const char* name, uint32_t cpus, uint32_t& phases) : name_(name), crew_(cpus), phases_(phases) {}

  /// All scenarios. False when one failed.
  bool run(uint32_t lists) {
    const uint32_t few = lists / crew_ < 4 ? 4 : lists / crew_;
    const uint32_t rounds = few < 32 ? 32 : few;  // enough for many laps
    const uint32_t small = log2_at_least(crew_ * 4);
    bool ok =
        both("wrap", {.cpus = crew_, .rounds = rounds, .opts = {.log2_size = small, .batch_limit = 3}}, &does::wrap);
    ok = both("unsynced", {.cpus = crew_, .rounds = rounds, .opts = {.log2_size = small + 2, .batch_limit = 3}},
              &does::unsynced) &&
         ok;
    ok = both("batches", {.cpus = crew_, .rounds = few / 8 + 2, .opts = {.log2_size = log2_at_least(crew_ * 65) + 1}},
              &does::batches) &&
         ok;
    ok = both("illegal",
              {.cpus = crew_, .rounds = few / 4 + 1, .opts = {.log2_size = small, .batch_limit = 3}, .provokes = true},
              &does::illegal) &&
         ok;
    ok = both("tickets", {.cpus = crew_, .rounds = few, .opts = {.log2_size = small + 2, .batch_limit = 3}},
              &does::tickets) &&
         ok;
    if constexpr (!Config::allocation::claims_before_space)
      ok = both("crowded", {.cpus = crew_, .rounds = rounds, .opts = {.log2_size = 3, .batch_limit = 3}},
                &does::unsynced) &&
           ok;
    ok = largest_ring() && ok;
    ok = fill() && ok;
    return fetch_abort() && ok;
  }

 private:
  using body = void (*)(hand_type&, const phase&);

  struct work {
    queue_type& queue;
    const phase& what;
    body act;
  };
  static void act(void* context, uint32_t cpu) {
    const work& w = *static_cast<work*>(context);
    hand_type h(w.queue, w.what, cpu);
    w.act(h, w.what);
  }
  void all(queue_type& queue, const phase& p, body b) {
    work w{queue, p, b};
    if constexpr (requires { platform::stirring; }) platform::stirring = true;
    board::all_do(&act, &w, p.cpus);
    if constexpr (requires { platform::stirring; }) platform::stirring = false;
  }

  // ---- scenarios ----

  /// Nothing but concurrent CPUs.
  bool both(const char* scenario, phase p, body b) {
    p.opts.deadline_ns = cmdq::no_deadline;  // the emulated clock runs while an emulated CPU has no real one
    const auto plan = begin(p);
    if (!plan) return refused(scenario, plan.why());
    const auto up = bring_up(p, address());
    if (!up) return refused(scenario, up.why());
    queue_type queue(*plan, device_);
    const uint64_t start = platform::now_ns();
    all(queue, p, b);
    return row(scenario, p, platform::now_ns() - start);
  }

  /// The largest ring there is, from just before the end of both the ring and the 32-bit positions.
  bool largest_ring() {
    return both("largest", {.cpus = crew_, .rounds = 4, .opts = {.log2_size = largest_log2, .first = 0U - 64}},
                &does::unsynced);
  }

  /// Fills a ring of 16 to the last entry while the device stands, lets time-outs happen, goes on.
  bool fill() {
    const uint32_t cpus = crew_ < 2 ? crew_ : 2;
    phase p{.cpus = cpus, .opts = {.log2_size = 4, .batch_limit = 16 / cpus - 1, .deadline_ns = 300000000, .first = 9}};
    const auto plan = begin(p);
    if (!plan) return refused("fill", plan.why());
    const auto up = bring_up(p, address());
    if (!up) return refused("fill", up.why());
    static queue_type* filled;
    static uint32_t ready;
    queue_type queue(*plan, device_);
    filled = &queue;
    ready = 0;
    const uint64_t start = platform::now_ns();
    record& mine = records[0];
    mine.expect(device_.template set_consuming<platform>(false, board::patience_ns) == status::ok, "stop",
                status::timeout);
    platform::hold_time_until(cmdq::geometry{p.opts.log2_size}.to_register(p.opts.first + 16));
    all(queue, p, [](hand_type& h, const phase& ph) {
      __atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
      while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) != ph.cpus) platform::yield();
      // One after the other, so that combining makes two ranges of it.
      const uint32_t before = cmdq::geometry{ph.opts.log2_size}.to_register(ph.opts.first);
      while (h.cpu() == 1 && filled->prod_register() == before) platform::yield();
      h.issue_in_vain(ph.opts.batch_limit);
    });
    static_cast<void>(platform::now_ns());  // both lists are told: time goes on, also for who need not look at it
    const cmdq::platform::mmio64 page{board::smmu_base};
    const uint32_t prod = page.read32(cmdq::smmuv3::registers::offset::cmdq_prod);
    const uint32_t cons = page.read32(cmdq::smmuv3::registers::offset::cmdq_cons);
    mine.expect(cmdq::geometry{p.opts.log2_size}.full(prod, cons), "the ring is not full to the last entry",
                status::out_of_range);
    mine.expect(queue.recover() == status::stalled, "recovered while the device stands", status::ok);
    go_on(queue);
    all(queue, p, [](hand_type& h, const phase&) { h.issue(1, true); });
    bool ok = row("fill", p, platform::now_ns() - start);
    if constexpr (!Config::allocation::claims_before_space) ok = overfill() && ok;
    return ok;
  }

  /// Claims only what fits: the entry after the last free one is refused, and nothing is overwritten.
  bool overfill() {
    phase p{.cpus = 1, .opts = {.log2_size = 4, .batch_limit = 3, .deadline_ns = 30000000}};
    const auto plan = begin(p);
    if (!plan) return refused("overfill", plan.why());
    const auto up = bring_up(p, address());
    if (!up) return refused("overfill", up.why());
    queue_type queue(*plan, device_);
    const uint64_t start = platform::now_ns();
    static_cast<void>(device_.template set_consuming<platform>(false, board::patience_ns));
    all(queue, p, [](hand_type& h, const phase&) {
      for (uint32_t i = 0; i < 5; ++i) h.insert_ok(3);
      status s = h.insert(2);
      h.rec().expect(s == status::timeout, "two entries into one free one", s);
    });
    go_on(queue);
    all(queue, p, [](hand_type& h, const phase&) { h.issue(1, true); });
    return row("overfill", p, platform::now_ns() - start);
  }

  void go_on(queue_type& queue) {
    records[0].expect(device_.template set_consuming<platform>(true, board::patience_ns) == status::ok, "restart",
                      status::timeout);
    const status s = queue.recover();
    records[0].expect(s == status::ok, "recover", s);
  }

  /// The ring's base leads nowhere at first. Then the device is reset with the right one and finds all that was
  /// inserted.
  bool fetch_abort() {
    phase p{.cpus = crew_, .opts = {.log2_size = log2_at_least(crew_ * 4), .batch_limit = 3}};
    p.opts.deadline_ns = board::patience_ns;
    const auto plan = begin(p);
    if (!plan) return refused("abort", plan.why());
    const auto up = bring_up(p, board::unbacked_address);
    if (!up) return refused("abort", up.why());
    queue_type queue(*plan, device_);
    const uint64_t start = platform::now_ns();
    all(queue, p, [](hand_type& h, const phase&) { h.issue_unreadable(); });
    uint32_t told = 0;
    for (uint32_t i = 0; i < p.cpus; ++i) told += records[i].errors;
    records[0].expect(told >= 1, "nobody was told of the abort", status::ok);
    phase again = p;
    again.opts.first = queue.cons_register();
    records[0].expect(bring_up(again, address()).ok(), "second bring-up", status::device_fault);
    device_.write_prod(queue.prod_register());
    const status s = queue.recover();
    records[0].expect(s == status::ok, "recover", s);
    all(queue, p, [](hand_type& h, const phase&) { h.issue(1, true); });
    return row("abort", p, platform::now_ns() - start);
  }

  // ---- around a phase ----

  static uint64_t address() { return storage<platform>.memory().device_address; }

  auto begin(phase& p) {
    p.number = ++phases_;
    cmdq::platform::mmio64{board::smmu_base}.write32(mark_phase, p.number);
    p.opts.producers = p.cpus;
    if constexpr (requires { Config::groups; }) {
      p.opts.groups = Config::groups;
      p.opts.cpus_per_group = (p.cpus + Config::groups - 1) / Config::groups;
    }
    p.opts = cmdq::smmuv3::fit(p.opts, device_.read_capabilities());
    if (p.provokes) p.opts.device.opcodes = {};  // else the queue refuses what the device would
    const auto memory = storage<platform>.memory();
    for (uint32_t i = 0; i < (1U << p.opts.log2_size); ++i) memory.entries[i].put({{unused_entry, ~uint64_t{0}}});
    for (uint32_t i = 0; i < board::max_cpus; ++i) records[i] = {};
    return cmdq::make_plan<Config>(p.opts, memory);
  }

  auto bring_up(const phase& p, uint64_t base) {
    return device_.template bring_up<platform>(
        {.queue_base = base, .queue_log2 = p.opts.log2_size, .first = p.opts.first, .timeout_ns = board::patience_ns});
  }

  bool refused(const char* scenario, const cmdq::refusal& why) {
    board::print(name_);
    board::print(", ");
    board::print(scenario);
    board::print(": refused: ");
    board::print(why.field);
    board::print(" is ");
    board::print_hex(why.value);
    board::print(", limit ");
    board::print_hex(why.limit);
    board::print("\n");
    return false;
  }

  bool row(const char* scenario, const phase& p, uint64_t ns) {
    record sum;
    for (uint32_t i = 0; i < p.cpus; ++i) {
      const record& r = records[i];
      sum.commands += r.commands;
      sum.lists += r.lists;
      sum.errors += r.errors;
      sum.stats += r.stats;
      sum.expect(r.wrong == nullptr, r.wrong, r.code);
    }
    using cmdq::stats::event;
    board::print_number(p.number, 5);
    board::print(" | ");
    board::print_padded(name_, 24);
    board::print(" | ");
    board::print_padded(scenario, 8);
    board::print(" |");
    const uint64_t numbers[] = {p.cpus,
                                sum.lists,
                                sum.commands,
                                sum.stats.of(event::error_handled),
                                sum.stats.of(event::sync_sent),
                                sum.stats.of(event::prod_write),
                                ns / 1000};
    const unsigned widths[] = {5, 6, 9, 7, 6, 6, 9};
    for (unsigned i = 0; i < 7; ++i) {
      board::print_number(numbers[i], widths[i]);
      board::print(" |");
    }
    board::print(sum.wrong == nullptr ? " ok\n" : " failed\n");
    if (sum.wrong == nullptr) return true;
    board::print("      ");
    board::print(sum.wrong);
    board::print(": ");
    board::print(cmdq::name(sum.code));
    board::print("\n");
    return false;
  }

  const char* name_;
  uint32_t crew_;
  uint32_t& phases_;
  device_type device_{registers{board::smmu_base}};
};

inline void print_head(uint32_t cpus) {
  board::print("CPUs: ");
  board::print_number(cpus);
  board::print(
      "\nphase | strategy                 | scenario | CPUs | lists | commands | errors | syncs | PRODs |"
      "       us | result\n");
}

}  // namespace producers
