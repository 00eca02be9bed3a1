// SPDX-License-Identifier: BSL-1.0
// map, unmap, on_timer and flush from interrupt handlers, at any access of any CPU: nobody waits for itself, and what
// strict and lazy promise holds. CPUs are fibers under the deterministic scheduler.
#include <boost/context/fiber.hpp>

#include "dma/interrupts.hpp"
#include "dma/smmu_rig.hpp"
#include "support/scheduled_platform.hpp"
#include "support/test.hpp"

using namespace cmdq;
using namespace cmdq::dma;

namespace {

constexpr uint32_t most_cpus = 3;

struct fiber_cpu {
  inline static test::interrupts of[most_cpus];
  static test::interrupts* here() {
    const test::scheduler* s = test::scheduler::current();
    return s == nullptr || test::scheduled_platform::peeking || s->cpu() >= most_cpus ? nullptr : &of[s->cpu()];
  }
};
using P = test::interrupted<test::scheduled_platform, fiber_cpu>;

struct config : freestanding_config {
  using platform = P;
};
using rig_type = test::smmu_rig<config>;

struct interrupt_case {
  bool lazy = false;
  bool untrusted = false;
  std::vector<std::vector<uint8_t>> programs;  ///< per CPU
  std::vector<std::vector<uint8_t>> handlers;  ///< what each of its interrupts does
  std::vector<uint32_t> gaps;
  test::choices interleaving;
};

/// One CPU's buffers, in one context: a slot is mapped or not; what is unmapped must be out of reach (strict).
class actor {
 public:
  actor(rig_type& rig, const device& dev, uint32_t cpu, uint64_t first_frame, std::vector<bool>& alive)
      : rig_(rig), device_(dev), cpu_(cpu), first_(first_frame), alive_(alive) {}
  static constexpr uint64_t slots = 3;
  static constexpr uint64_t frames = slots * 2;

  void act(uint8_t what) {
    const uint64_t slot = what / 8 % slots;
    if (what % 8 == 7) {
      ++(rig_.map.flush(cpu_) == status::ok ? done : refused);
    } else if (what % 8 == 6) {
      rig_.map.on_timer(cpu_, test::scheduled_platform::now_ns());
    } else if (iova_[slot] == 0) {
      map(slot, what % 2 + 1U);
    } else {
      unmap(slot);
    }
  }
  void unmap_all() {
    for (uint64_t slot = 0; slot < slots; ++slot)
      if (iova_[slot] != 0) unmap(slot);
  }
  uint64_t done = 0;
  uint64_t refused = 0;
  uint64_t stale = 0;

 private:
  uint64_t frame(uint64_t slot) const { return first_ + 2 * slot; }
  void set_alive(uint64_t slot, bool on) { alive_[frame(slot)] = alive_[frame(slot) + 1] = on; }
  void map(uint64_t slot, uint64_t pages) {
    set_alive(slot, true);
    const auto iova = rig_.map.map(cpu_, device_, frame(slot) << 12, pages << 12);
    if (!iova.ok()) {
      ++refused;
      return;
    }
    if (rig_.tlb.stale(*iova, frame(slot) << 12, pages << 12)) ++stale;
    iova_[slot] = *iova;
    pages_[slot] = pages;
  }
  void unmap(uint64_t slot) {
    const uint64_t iova = std::exchange(iova_[slot], 0);
    if (rig_.map.unmap(cpu_, device_, iova, pages_[slot] << 12) == status::ok) {
      ++done;
    } else {
      ++refused;
    }
    set_alive(slot, false);
  }

  rig_type& rig_;
  const device device_;
  uint32_t cpu_;
  uint64_t first_;
  std::vector<bool>& alive_;
  uint64_t iova_[slots] = {};
  uint64_t pages_[slots] = {};
};

struct outcome_of_case {
  uint64_t done = 0, refused = 0, stale = 0, dead = 0, interrupts = 0, hits = 0;
  test::scheduler::ending end = test::scheduler::ending::finished;
  refusal closed;
  uint64_t used_pages = 0;
};

outcome_of_case run(const interrupt_case& c) {
  const auto cpus = static_cast<uint32_t>(c.programs.size());
  constexpr uint64_t step_limit = 3'000'000;
  auto rig = std::make_unique<rig_type>(8, cpus, model::device_drive::stepped,
                                        rig_type::ways{.by_hand = true, .deadline_ns = no_deadline});
  test::scheduled_platform::idle = [&] { rig->device.step(); };
  if (c.lazy) {
    rig_type::require(rig->map.set_mode(mode::lazy, rig->memory, {.cpus = cpus, .entries = 3, .period_ns = 20'000}));
  }
  const device dev{!c.untrusted, {huge_pages::never, false}};
  const bool strict = !c.lazy || c.untrusted;
  std::vector<bool> alive(cpus * 2 * actor::frames);
  std::vector<std::unique_ptr<actor>> actors;
  outcome_of_case r;
  for (uint32_t i = 0; i < 2 * cpus; ++i)
    actors.push_back(std::make_unique<actor>(*rig, dev, i / 2, i * actor::frames, alive));
  std::vector<std::size_t> next(cpus);
  uint32_t running = cpus;
  test::scheduler s(c.interleaving, step_limit);
  for (uint32_t cpu = 0; cpu < cpus; ++cpu) {
    fiber_cpu::of[cpu] = {};
    const auto& does = c.handlers[cpu];
    fiber_cpu::of[cpu].start(
        [&, cpu] {
          if (!does.empty()) actors[2 * cpu + 1]->act(does[next[cpu]++ % does.size()]);
        },
        c.gaps);
    s.spawn([&, cpu] {
      for (const uint8_t what : c.programs[cpu]) actors[2 * cpu]->act(what);
      actors[2 * cpu]->unmap_all();
      fiber_cpu::of[cpu].stop();
      actors[2 * cpu + 1]->unmap_all();
      --running;
    });
  }
  s.spawn([&] { rig->device.run_until([&] { return running == 0; }); });
  s.spawn([&] {  // the device behind the SMMU reaches what it can
    for (uint32_t at = 0; running != 0; at = (at + 7) % 64) {
      rig->tlb.translate(rig_type::base + at * uint64_t{4096}, [&](const translation& t) {
        if (!t.valid) return;
        ++r.hits;
        if (strict && !alive[t.pa >> 12]) ++r.dead;
      });
      test::scheduled_platform::pause(nullptr, 0);
    }
  });
  r.end = s.run();
  for (auto& cpu : fiber_cpu::of) {
    r.interrupts += cpu.taken;
    cpu.stop();
  }
  for (const auto& a : actors) {
    r.done += a->done;
    r.refused += a->refused;
    r.stale += a->stale;
  }
  if (r.end == test::scheduler::ending::finished) {
    r.closed = rig->map.close(0);
    r.used_pages = rig->map.iova().space().used_pages();
  } else {
    static_cast<void>(rig.release());  // fibers stand in it
  }
  test::scheduled_platform::idle = nullptr;
  return r;
}

uint64_t all_interrupts = 0;

void check_case(const interrupt_case& c) {
  const outcome_of_case r = run(c);
  CMDQ_CHECK(r.end == test::scheduler::ending::finished);  // else somebody waits for itself
  CMDQ_CHECK_EQ(r.refused, 0U);
  CMDQ_CHECK_EQ(r.stale, 0U);
  CMDQ_CHECK_EQ(r.dead, 0U);
  CMDQ_CHECK_EQ(r.closed.code, status::ok);
  CMDQ_CHECK_EQ(r.used_pages, 0U);
  all_interrupts += r.interrupts;
}

void check_all(bool lazy, bool untrusted) {
  all_interrupts = 0;
  cmdq::test::property([&] {
    interrupt_case c;
    c.lazy = lazy;
    c.untrusted = untrusted;
    const auto cpus = *rc::gen::inRange<std::size_t>(1, most_cpus + 1);
    const auto program = rc::gen::resize(30, rc::gen::container<std::vector<uint8_t>>(rc::gen::arbitrary<uint8_t>()));
    c.programs = *rc::gen::container<std::vector<std::vector<uint8_t>>>(cpus, program);
    c.handlers = *rc::gen::container<std::vector<std::vector<uint8_t>>>(cpus, program);
    c.gaps = *rc::gen::resize(
        10, rc::gen::nonEmpty(rc::gen::container<std::vector<uint32_t>>(rc::gen::inRange<uint32_t>(1, 60))));
    c.interleaving = *rc::gen::arbitrary<test::choices>();
    check_case(c);
  });
  CMDQ_CHECK(all_interrupts > 1000);  // the handlers did run
}

}  // namespace

CMDQ_TEST(handlers_map_and_unmap_strictly_at_any_point) { check_all(false, false); }

CMDQ_TEST(handlers_map_unmap_and_flush_lazily_at_any_point) { check_all(true, false); }

CMDQ_TEST(handlers_unmap_for_an_untrusted_device_beside_lazy_mode) { check_all(true, true); }
