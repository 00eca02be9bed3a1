// SPDX-License-Identifier: BSL-1.0
// The SAFE signal between the display and the SMMU: bugs S01 to S07 and the properties behind them.
#include <cmdq/model/safe_gate.hpp>
#include <cmdq/model/scanout.hpp>

#include <array>

#include "rig.hpp"

using namespace cmdq;
using namespace cmdq::test;
using model::display;
using model::passage;
using model::pipe_use;
using model::safe_gate;
using model::signal_tables;

namespace {

constexpr uint64_t max_delay = 1'500'000;

/// Waits at the gate while memory feeds the display.
model::gate_result wait_fed(safe_gate& gate, display& d) {
  return gate.wait([&] { return d.safe(); }, [&](uint64_t ns) { d.advance(ns, true); });
}

signal_tables safe_for_all(uint32_t lut) { return {{lut, lut, lut}, {0, 0, 0}}; }

display at_level(const signal_tables& t, pipe_use use, uint64_t level, display::rates r = {}) {
  display d(t, use, r);
  d.set_fill(level * r.buffer_bytes / model::fill_levels);
  return d;
}

}  // namespace

CMDQ_TEST(bug_S01_safe_table_0_takes_the_maximum_delay) {
  property([](bool fed) {
    const auto level = *rc::gen::inRange<uint64_t>(0, 16);
    display d = at_level(safe_for_all(0), pipe_use::linear, level);
    safe_gate gate(max_delay);
    const auto r = gate.wait([&] { return d.safe(); }, [&](uint64_t ns) { d.advance(ns, fed); });
    CMDQ_CHECK(r.how == passage::forced);
    CMDQ_CHECK_EQ(r.waited_ns, max_delay);
    CMDQ_CHECK_EQ(gate.forced(), 1u);
  });
}

CMDQ_TEST(bug_S03_safe_table_set_waits_below_10_us) {
  for (const model::display_soc& soc : model::display_socs) {
    if (soc.tables.safe[0] == 0) continue;  // before its fix
    for (uint64_t level = 1; level < model::fill_levels; ++level) {
      display d = at_level(soc.tables, pipe_use::linear, level);
      safe_gate gate(soc.max_delay_ns);
      const auto r = wait_fed(gate, d);
      CMDQ_CHECK(r.how != passage::forced);
      CMDQ_CHECK(r.waited_ns < 10'000);
      CMDQ_CHECK(d.safe());
    }
  }
}

CMDQ_TEST(safe_at_every_level_never_waits) {
  for (uint64_t level = 0; level < model::fill_levels; ++level) {
    display d = at_level(safe_for_all(0xffff), pipe_use::macrotile, level);
    safe_gate gate(max_delay);
    const auto r = wait_fed(gate, d);
    CMDQ_CHECK(r.how == passage::safe_at_once);
    CMDQ_CHECK_EQ(r.waited_ns, 0u);
  }
}

CMDQ_TEST(bug_S04_gate_off_never_waits) {
  display d = at_level(safe_for_all(0), pipe_use::linear, 3);
  safe_gate gate(max_delay);
  CMDQ_CHECK_EQ(gate.switch_to(false, [](bool) { return 0; }), 0);
  const auto r = wait_fed(gate, d);
  CMDQ_CHECK(r.how == passage::gate_off);
  CMDQ_CHECK_EQ(r.waited_ns, 0u);
}

CMDQ_TEST(bug_S02_failed_switch_is_reported_and_leaves_the_gate_on) {
  safe_gate gate(max_delay);
  CMDQ_CHECK_EQ(gate.switch_to(false, [](bool) { return -22; }), -22);
  CMDQ_CHECK(gate.on());
  CMDQ_CHECK_EQ(gate.switch_to(false, [](bool on) { return on ? -1 : 0; }), 0);
  CMDQ_CHECK(!gate.on());
  CMDQ_CHECK_EQ(gate.switch_to(true, [](bool) { return -5; }), -5);
  CMDQ_CHECK(!gate.on());
}

CMDQ_TEST(bug_S05_status_shows_each_signal_as_itself) {
  const signal_tables t{{0xff00, 0xff00, 0xffff}, {0x000f, 0x000f, 0}};
  for (uint64_t level = 0; level < model::fill_levels; ++level) {
    const display d = at_level(t, pipe_use::linear, level);
    CMDQ_CHECK_EQ(d.status().safe, level >= 8);
    CMDQ_CHECK_EQ(d.status().danger, level < 4);
  }
}

CMDQ_TEST(bug_S06_partly_missing_table_warns) {
  for (const model::display_soc& soc : model::display_socs) {
    const bool qcm2290 = std::string(soc.name) == "qcm2290";
    CMDQ_CHECK_EQ(model::check(soc.tables).never_safe, qcm2290 ? 6u : 0u);
    CMDQ_CHECK_EQ(model::check(soc.tables).safe_missing, std::string(soc.name).ends_with("-unfixed"));
  }
  const auto missing = model::check({});
  CMDQ_CHECK(missing.safe_missing && missing.any());
  CMDQ_CHECK_EQ(missing.never_safe, 0u);
}

CMDQ_TEST(bug_S07_danger_wider_than_16_levels_is_masked_and_warned_of) {
  const model::display_soc* x1e = model::find_display_soc("x1e80100");
  CMDQ_CHECK(x1e != nullptr);
  CMDQ_CHECK_EQ(model::check(x1e->tables).danger_too_wide, 3u);
  const model::display_soc* sdm = model::find_display_soc("sdm845");
  CMDQ_CHECK(!model::check(sdm->tables).any());
  const signal_tables only_beyond{{0, 0, 0}, {0x30000, 0x30000, 0}};
  for (uint64_t level = 0; level < model::fill_levels; ++level)
    CMDQ_CHECK(!at_level(only_beyond, pipe_use::linear, level).danger());
}

CMDQ_TEST(socs_are_those_of_the_catalogues) {
  CMDQ_CHECK_EQ(sizeof model::display_socs / sizeof model::display_socs[0], 37u);
  CMDQ_CHECK(model::find_display_soc("sc8280") == nullptr);
  CMDQ_CHECK(model::find_display_soc("") == nullptr);
  const model::display_soc* s = model::find_display_soc("sc8280xp");
  CMDQ_CHECK(s != nullptr && s->tables.safe[0] == 0xfe00 && s->tables.safe[2] == 0xffff &&
             s->tables.danger[1] == 0xffff);
  const model::display_soc* sm7150 = model::find_display_soc("sm7150");
  CMDQ_CHECK(sm7150 != nullptr && sm7150->tables.safe[0] == 0xfff8 && sm7150->tables.safe[1] == 0xf000);
}

/// Waits at the gate of a screen whose fetches each invalidation holds up, one after another.
CMDQ_TEST(the_table_decides_how_long_a_screen_makes_wait_and_what_it_risks) {
  const model::display_soc& soc = *model::find_display_soc("sm8150");
  const auto run = [&](uint32_t lut, bool gated) {
    signal_tables t = soc.tables;
    t.safe[1] = lut;
    model::scanout screen(t, pipe_use::macrotile, model::scanout_for(soc, pipe_use::macrotile));
    safe_gate gate(soc.max_delay_ns);
    if (!gated) gate.switch_to(false, [](bool) { return 0; });
    uint64_t waited = 0;
    uint32_t lowest = model::fill_levels;
    for (int i = 0; i < 2000; ++i) {
      waited += gate.wait([&] { return screen.safe(); }, [&](uint64_t ns) { screen.advance(ns, true); }).waited_ns;
      screen.advance(3000, false);
      screen.advance(500, true);
      if (i > 200 && screen.level() < lowest) lowest = screen.level();
    }
    return std::array<uint64_t, 3>{waited, lowest, screen.underruns()};
  };
  const auto late = run(0xfff8, true);
  const auto middle = run(0xff00, true);
  const auto early = run(0xfe00, true);
  const auto never = run(0xffff, false);
  CMDQ_CHECK(late[1] < middle[1] && middle[1] < early[1]);  // how near to empty it comes
  CMDQ_CHECK_EQ(late[2] + middle[2] + early[2], 0U);
  CMDQ_CHECK(never[0] == 0 && never[2] > 0);
  CMDQ_CHECK(late[0] != middle[0] && middle[0] != early[0] && late[0] != early[0]);
}

CMDQ_TEST(urgent_fetches_follow_the_priority_table) {
  const model::display_soc& soc = *model::find_display_soc("sm8150");  // 0x11222222223357: 7 at level 0, 0 at 14
  model::scanout screen(soc.tables, pipe_use::linear, model::scanout_for(soc, pipe_use::linear));
  CMDQ_CHECK_EQ(screen.priority(), 0U);
  CMDQ_CHECK(!screen.danger());
  uint32_t before = 0;
  while (screen.level() > 0) {
    screen.advance(100, false);
    CMDQ_CHECK(screen.priority() >= before);
    before = screen.priority();
  }
  CMDQ_CHECK_EQ(screen.priority(), 7U);
  CMDQ_CHECK(screen.danger() && !screen.safe());
}

CMDQ_TEST(nrt_signalling_is_forced_off) {
  display d = at_level({{0, 0, 0}, {0xffff, 0xffff, 0xffff}}, pipe_use::nrt, 0);
  CMDQ_CHECK(d.safe());
  CMDQ_CHECK(!d.danger());
  d.advance(1000, false);  // and nobody sees it starve
  CMDQ_CHECK_EQ(d.underruns(), 0u);
}

CMDQ_TEST(display_counts_each_famine_once) {
  display d(safe_for_all(0xffff), pipe_use::linear, {.buffer_bytes = 16000, .drain = 2000, .feed = 6000});
  CMDQ_CHECK_EQ(d.level(), 15u);
  d.advance(8000, false);  // exactly empty
  CMDQ_CHECK_EQ(d.underruns(), 0u);
  CMDQ_CHECK_EQ(d.fill_bytes(), 0u);
  d.advance(1, false);
  d.advance(500, false);
  CMDQ_CHECK_EQ(d.underruns(), 1u);
  d.advance(1000, true);
  CMDQ_CHECK_EQ(d.fill_bytes(), 4000u);
  d.advance(2001, false);
  CMDQ_CHECK_EQ(d.underruns(), 2u);
  d.advance(1'000'000, true);
  CMDQ_CHECK_EQ(d.fill_bytes(), 16000u);
}

/// With a table that promises no more than the buffer holds, an invalidation that was let through while safe empties no
/// buffer, whatever the fill was before.
CMDQ_TEST(safe_invalidation_causes_no_underrun) {
  property([](const std::vector<uint8_t>& trace) {
    const display::rates rates{
        .buffer_bytes = 64 * 1024, .drain = *rc::gen::inRange<uint64_t>(500, 3000), .feed = 6000};
    const uint64_t pause_ns = *rc::gen::inRange<uint64_t>(100, 15000);
    const uint64_t needed = rates.drain * pause_ns / 1000 + 1;
    uint32_t lut = 0;
    for (uint32_t level = 0; level < model::fill_levels; ++level)
      if (level * rates.buffer_bytes / model::fill_levels >= needed) lut |= 1u << level;
    display d(safe_for_all(lut), pipe_use::linear, rates);
    safe_gate gate(max_delay);
    for (const uint8_t fill : trace) {
      d.set_fill(fill * rates.buffer_bytes / 255);
      const auto r = wait_fed(gate, d);
      RC_PRE(lut != 0);
      CMDQ_CHECK(r.how != passage::forced);
      d.advance(pause_ns, false);
      CMDQ_CHECK_EQ(d.underruns(), 0u);
    }
  });
}

/// An invalidation passes only while safe or at the maximum delay, for any table and any traffic.
CMDQ_TEST(passes_only_while_safe_or_at_the_maximum_delay) {
  property([](uint16_t lut, const std::vector<bool>& traffic) {
    const auto delay = *rc::gen::inRange<uint64_t>(0, 100'000);
    display d = at_level(safe_for_all(lut), pipe_use::linear, *rc::gen::inRange<uint64_t>(0, 16));
    safe_gate gate(delay);
    size_t i = 0;
    const auto r = gate.wait([&] { return d.safe(); },
                             [&](uint64_t ns) { d.advance(ns, traffic.empty() || traffic[i++ % traffic.size()]); });
    CMDQ_CHECK(r.waited_ns <= delay);
    CMDQ_CHECK_EQ(r.how == passage::forced, !d.safe());
    if (r.how == passage::forced) CMDQ_CHECK_EQ(r.waited_ns, delay);
  });
}

CMDQ_TEST(gate_holds_syncs_that_complete_an_invalidation) {
  model::gated_syncs g;
  CMDQ_CHECK(!g.holds(make_sync(sync_signal::none)));
  CMDQ_CHECK(!g.holds(tlbi(1)));
  CMDQ_CHECK(!g.holds(tlbi(2)));
  CMDQ_CHECK(g.holds(make_sync(sync_signal::none)));
  CMDQ_CHECK(!g.holds(make_sync(sync_signal::none)));
  CMDQ_CHECK(!g.holds(made(smmuv3::cfgi_ste{.sid = 1})));
  CMDQ_CHECK(!g.holds(make_sync(sync_signal::none)));
}
