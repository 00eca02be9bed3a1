// SPDX-License-Identifier: BSL-1.0
// What a line costs, who is woken when, and that a run is the same every time.
#include <cmdq/smmuv3/wire.hpp>
#include <numeric>

#include "../device.hpp"
#include "../platform.hpp"
#include "check.hpp"

namespace cmdq::manycore {
namespace {

using word = platform::atomic<std::uint64_t>;

/// 2 sockets x 2 dies x 2 clusters x 2 CPUs, times that tell themselves apart, nothing random.
topology plain_shape() {
  topology t;
  t.name = "test";
  t.sockets = 2;
  t.dies_per_socket = 2;
  t.clusters_per_die = 2;
  t.cpus_per_cluster = 2;
  t.distance = {1'000, 10'000, 30'000, 70'000, 150'000, 90'000};
  t.retry = 5'000;
  t.share = 20'000;
  t.device = {1, 40'000, 200'000, 7'000, 100'000, 3'000, 300'000, 25'000};
  return t;
}

picoseconds took(const std::function<void()>& f) {
  const picoseconds begin = machine::running()->now();
  f();
  return machine::running()->now() - begin;
}

/// Time for CPU `reader` to do `f` on a word that CPU `writer` wrote last, long before.
picoseconds transfer(unsigned writer, unsigned reader, const std::function<void(word&)>& f) {
  machine m(plain_shape(), 16, 1);
  auto& w = m.make<word>();
  picoseconds t = 0;
  m.start(writer, [&] { w.store(1, at<site::told_store>); });
  m.start(reader, [&] {
    m.spend(1'000'000, other_work);
    t = took([&] { f(w); });
  });
  m.run(10'000'000);
  return t;
}

void load(word& w) { static_cast<void>(w.load(at<site::told_wait>)); }
void add(word& w) { w.fetch_add(1, at<site::claim_add>); }

}  // namespace

CHECKED_TEST(a_transfer_costs_by_distance) {
  for (const auto& f : {load, add}) {
    CHECK_EQUAL(transfer(0, 1, f), 10'000U);
    CHECK_EQUAL(transfer(0, 2, f), 30'000U);
    CHECK_EQUAL(transfer(0, 4, f), 70'000U);
    CHECK_EQUAL(transfer(0, 8, f), 150'000U);
    CHECK_EQUAL(transfer(15, 7, f), 150'000U);
  }
}

CHECKED_TEST(who_has_the_line_pays_the_cache_only) {
  machine m(plain_shape(), 2, 1);
  auto& w = m.make<word>();
  m.start(0, [&] {
    CHECK_EQUAL(took([&] { load(w); }), 90'000U + 80'000U);  // memory, at the device's socket: the other one
    CHECK_EQUAL(took([&] { load(w); }), 1'000U);
    CHECK_EQUAL(took([&] { add(w); }), 1'000U);
    CHECK_EQUAL(took([&] { add(w); }), 1'000U);
  });
  m.run(1'000'000);
}

CHECKED_TEST(a_write_waits_for_the_farthest_sharer) {
  machine m(plain_shape(), 16, 1);
  auto& w = m.make<word>();
  for (unsigned c : {1U, 3U, 9U}) m.start(c, [&] { load(w); });
  m.start(0, [&] {
    m.spend(1'000'000, other_work);
    load(w);
    CHECK_EQUAL(took([&] { add(w); }), 150'000U);
    CHECK_EQUAL(took([&] { add(w); }), 1'000U);
  });
  m.run(10'000'000);
}

CHECKED_TEST(requests_for_a_line_queue) {
  machine m(plain_shape(), 4, 1);
  auto& w = m.make<word>();
  std::array<picoseconds, 4> done{};
  m.start(0, [&] { add(w); });
  for (unsigned c = 1; c < 4; ++c)
    m.start(c, [&m, &w, &done, c] {
      m.spend(1'000'000, other_work);
      add(w);
      done[c] = m.now();
    });
  m.run(10'000'000);
  CHECK_EQUAL(done[1], 1'010'000U);
  CHECK_EQUAL(done[2], 1'010'000U + 30'000U);
  CHECK_EQUAL(done[3], 1'010'000U + 30'000U + 10'000U);
  CHECK_EQUAL(m.sites()[static_cast<unsigned>(site::claim_add)].transfers, 4U);
  CHECK_EQUAL(m.sites()[static_cast<unsigned>(site::claim_add)].queued, 10'000U + 40'000U);
}

CHECKED_TEST(the_owners_socket_goes_first_but_not_for_ever) {
  for (const unsigned limit : {0U, 1U, 2U}) {
    topology t = plain_shape();
    t.near_first = limit;
    machine m(t, 16, 1);
    auto& w = m.make<word>();
    std::vector<unsigned> order;
    m.start(0, [&] { add(w); });  // has the line until 170 ns: all others ask meanwhile
    for (const unsigned c : {8U, 1U, 2U, 3U})
      m.start(c, [&m, &w, &order, c] {
        m.spend(c == 8 ? 10'000 : 10'000 + c * 1'000, other_work);
        add(w);
        order.push_back(c);
      });
    m.run(10'000'000);
    const auto remote = std::find(order.begin(), order.end(), 8U);
    CHECK_EQUAL(static_cast<unsigned>(remote - order.begin()), limit);
  }
}

CHECKED_TEST(readers_of_a_shared_line_overlap) {
  machine m(plain_shape(), 4, 1);
  auto& w = m.make<word>();
  picoseconds last = 0;
  m.start(0, [&] { add(w); });
  for (unsigned c = 1; c < 4; ++c)
    m.start(c, [&] {
      m.spend(1'000'000, other_work);
      load(w);
      last = std::max(last, m.now());
    });
  m.run(10'000'000);
  // The first takes it from the owner (10); of the others one waits 10 and the next 20 more, then has its transfer.
  CHECK_EQUAL(last, 1'010'000U + 20'000U + 10'000U);
}

CHECKED_TEST(a_sleeper_is_woken_by_the_next_write) {
  machine m(plain_shape(), 2, 1);
  auto& w = m.make<word>();
  picoseconds seen = 0;
  m.start(0, [&] {
    while (w.load(at<site::told_wait>) == 0) platform::pause(&w, 0);
    seen = m.now();
  });
  m.start(1, [&] {
    m.spend(3'000'000, other_work);
    add(w);
  });
  m.run(10'000'000);
  CHECK_EQUAL(seen, 3'000'000U + 10'000U + 10'000U);  // the write's transfer, then the read miss
  const auto& c = m.sites()[static_cast<unsigned>(site::told_wait)];
  CHECK_EQUAL(c.accesses, 2U);
}

CHECKED_TEST(a_change_between_poll_and_pause_is_not_slept_over) {
  machine m(plain_shape(), 2, 1);
  auto& w = m.make<word>();
  picoseconds slept = 0;
  m.start(0, [&] {
    load(w);
    m.spend(1'000'000, other_work);
    m.gate();
    slept = took([&] { platform::pause(&w, 0); });
  });
  m.start(1, [&] {
    m.spend(500'000, other_work);
    add(w);
  });
  m.run(100'000'000);
  CHECK_EQUAL(slept, 1'000U);
}

CHECKED_TEST(a_sleep_ends_by_itself) {
  machine m(plain_shape(), 1, 1);
  auto& w = m.make<word>();
  m.start(0, [&] {
    load(w);
    CHECK_EQUAL(took([&] { platform::pause(&w, 0); }), machine::longest_sleep);
  });
  m.run(100'000'000);
}

namespace {

/// CPU 0 polls a word that CPU 1 writes at 3000 ns; 20 ns from poll to poll. Returns the counters of the polled site.
site_counters polls_until_written(const std::function<void(machine&)>& before) {
  topology t = plain_shape();
  t.poll = 20'000;
  machine m(t, 2, 1);
  auto& w = m.make<word>();
  picoseconds seen = 0;
  m.start(0, [&] {
    while (w.load(at<site::told_wait>) == 0) {
      before(m);
      platform::pause(&w, 0);
    }
    seen = m.now();
  });
  m.start(1, [&] {
    m.spend(3'000'000, other_work);
    add(w);
  });
  m.run(10'000'000);
  CHECK_EQUAL(seen, 3'000'000U + 10'000U + 10'000U);  // as for a sleeper: the change ends the pause
  return m.sites()[static_cast<unsigned>(site::told_wait)];
}

}  // namespace

CHECKED_TEST(polls_take_time_and_happen) {
  unsigned rounds = 0;
  const auto c = polls_until_written([&](machine& m) {
    ++rounds;
    CHECK(m.now() <= 3'000'000U);
  });
  // From the first read (170 ns, from memory) on one poll every 21 ns: 20 between polls and 1 for the read.
  CHECK_EQUAL(rounds, 2'830U / (21 * platform::polls_per_pause) + 1);
  CHECK(c.accesses >= 2'830U / 21 && c.accesses <= 2'830U / 21 + 4);
}

CHECKED_TEST(a_quiet_waiters_polls_are_counted_and_not_run) {
  unsigned rounds = 0;
  const auto c = polls_until_written([&](machine& m) {
    ++rounds;
    m.quiet_until(2'000'000);
  });
  CHECK_EQUAL(rounds, 1 + 1'000U / (21 * platform::polls_per_pause) + 1);
  CHECK(c.accesses >= 2'830U / 21 && c.accesses <= 2'830U / 21 + 4);
}

CHECKED_TEST(stores_wait_in_the_buffer_while_their_cpu_goes_on) {
  // Four lines that CPU 8 has, 150 ns away each; then a store that releases.
  for (const unsigned misses : {0U, 1U, 2U}) {
    topology t = plain_shape();
    t.store_buffer = misses == 0 ? 0 : 8;
    t.misses = std::max(1U, misses);
    machine m(t, 16, 1);
    std::array<word*, 4> w{};
    for (auto& p : w) p = &m.make<word>();
    auto& flag = m.make<word>();
    m.start(8, [&] {
      for (auto* p : w) p->store(1, at<site::entry_word0>);
      m.drain(other_work);
    });
    m.start(0, [&] {
      add(flag);
      m.spend(10'000'000, other_work);
      const picoseconds stores = took([&] {
        for (auto* p : w) p->store(2, at<site::entry_word0>);
      });
      CHECK_EQUAL(stores, misses == 0 ? 4 * 150'000U : 4 * 1'000U);
      const picoseconds all = stores + took([&] { flag.store(1, at<site::told_store>); });
      CHECK_EQUAL(all, (misses == 0 ? 4 : 4 / misses) * 150'000U + (misses == 2 ? 1'000U : 0U) + 1'000U);
    });
    picoseconds seen = 0;
    m.start(1, [&] {
      m.spend(10'200'000, other_work);
      load(*w[3]);
      seen = m.now();
    });
    m.run(100'000'000);
    if (misses == 1) CHECK(seen >= 10'600'000U);  // not before the line has arrived
  }
}

CHECKED_TEST(the_clock_is_not_free) {
  topology t = plain_shape();
  t.clock = 7'000;
  machine m(t, 1, 1);
  m.start(0, [&] {
    m.spend(993'000, other_work);
    CHECK_EQUAL(platform::now_ns(), 1'000U);
    CHECK_EQUAL(m.now(), 1'000'000U);
  });
  m.run(10'000'000);
}

CHECKED_TEST(compare_exchanges_fail_when_another_was_first) {
  machine m(plain_shape(), 16, 1);
  auto& w = m.make<word>();
  unsigned wins = 0;
  for (unsigned c = 0; c < 16; ++c)
    m.start(c, [&] {
      std::uint64_t v = w.load(at<site::claim_look>);
      while (!w.compare_exchange(v, v + 1, at<site::claim_packed>)) continue;
      ++wins;
    });
  m.run(1'000'000'000);
  CHECK_EQUAL(wins, 16U);
  CHECK_EQUAL(w.load(at<site::claim_look>), 16U);
  CHECK(m.sites()[static_cast<unsigned>(site::claim_packed)].failed >= 15);
}

CHECKED_TEST(a_hold_longer_than_the_retry_lets_compare_exchanges_through) {
  std::array<std::uint64_t, 2> failed{};
  for (unsigned i = 0; i < 2; ++i) {
    topology t = plain_shape();
    t.hold = i == 0 ? 1'000 : 50'000;
    machine m(t, 16, 1);
    auto& w = m.make<word>();
    for (unsigned c = 0; c < 16; ++c)
      m.start(c, [&] {
        for (int k = 0; k < 20; ++k) {
          std::uint64_t v = w.load(at<site::claim_look>);
          while (!w.compare_exchange(v, v + 1, at<site::claim_packed>)) continue;
        }
      });
    m.run(10'000'000'000);
    failed[i] = m.sites()[static_cast<unsigned>(site::claim_packed)].failed;
  }
  CHECK(failed[0] > 4 * failed[1]);
}

CHECKED_TEST(hold_times_have_their_mean_on_every_host) {
  random_source r(7);
  std::uint64_t sum = 0;
  for (int i = 0; i < 100'000; ++i) sum += r.exponential(1'000'000);
  CHECK(sum > 99'000'000'000 && sum < 101'000'000'000);
  CHECK_EQUAL(sum, 100242247087U);
  CHECK_EQUAL(r.next(), 13970643370541881387U);
}

CHECKED_TEST(an_overrun_names_the_cpu_and_its_site) {
  machine m(plain_shape(), 2, 1);
  auto& w = m.make<word>();
  m.start(0, [] {});
  m.start(1, [&] {
    while (w.load(at<site::valid_wait>) == 0) platform::pause(&w, 0);
  });
  std::string text;
  try {
    m.run(1'000'000'000);
  } catch (const std::runtime_error& e) {
    text = e.what();
  }
  CHECK_EQUAL(text, "CPU 1 had not finished at 1000000 ns; it was last at site valid_wait");
}

namespace {

struct ring_of_8 {
  alignas(128) std::array<std::array<platform::atomic<std::uint64_t>, 2>, 8> entry{};
  void set(unsigned slot, const command& c) {
    entry[slot][1].store(c.word[1], at<site::entry_word0>);
    entry[slot][0].store(c.word[0], at<site::entry_word0>);
  }
};

}  // namespace

CHECKED_TEST(the_device_executes_in_order_and_takes_its_time) {
  machine m(plain_shape(), 1, 1);
  auto& ring = m.make<ring_of_8>();
  device d(m, &ring, 3);
  m.start(0, [&] {
    ring.set(0, {{0x12, 0}});
    ring.set(1, make_sync(sync_signal::none));
    const picoseconds asked = m.now();
    d.write_prod(2);
    std::uint32_t cons = 0;
    picoseconds first = 0;
    while ((cons = d.read_cons()) != 2) {
      if (cons == 1 && first == 0) first = m.now();
      platform::pause(nullptr, 0);
    }
    // Issue 3, doorbell 100 and the way to the other socket 80; fetch from there 150 and 7; 40 and 200 to execute.
    const picoseconds executed = asked + 3'000 + 180'000 + 157'000 + 240'000;
    CHECK(m.now() >= executed + 150'000 + 80'000);  // at the earliest a read that was served just then
    CHECK(m.now() <= executed + 230'000 + 470'000);
    CHECK(first != 0);
  });
  m.run(100'000'000);
  CHECK_EQUAL(d.commands(), 2U);
  CHECK_EQUAL(d.syncs(), 1U);
  CHECK_EQUAL(d.prod_writes(), 1U);
  CHECK_EQUAL(d.busy(), 157'000U + 240'000U);
}

CHECKED_TEST(the_device_fetches_ahead_while_it_executes) {
  // Two lines of four: each is fetched in 157 and executed in 160 ns. One line ahead hides the second fetch.
  for (const unsigned ahead : {0U, 1U}) {
    topology t = plain_shape();
    t.device.fetch_ahead = ahead;
    machine m(t, 1, 1);
    auto& ring = m.make<ring_of_8>();
    device d(m, &ring, 3);
    m.start(0, [&] {
      for (unsigned i = 0; i < 8; ++i) ring.set(i, {{0x12, 0}});
      d.write_prod(8);
      while (d.read_cons() != 8) platform::pause(nullptr, 0);
    });
    m.run(100'000'000);
    CHECK_EQUAL(d.commands(), 8U);
    CHECK_EQUAL(d.busy(), (ahead == 0 ? 2 * 157'000U : 157'000U) + 320'000U);
  }
}

CHECKED_TEST(the_devices_message_wakes_the_poller) {
  machine m(plain_shape(), 1, 1);
  auto& ring = m.make<ring_of_8>();
  device d(m, &ring, 3);
  picoseconds woken = 0;
  m.start(0, [&] {
    auto& w = ring.entry[0][0];
    ring.set(0, make_msi_sync(reinterpret_cast<std::uintptr_t>(&w), 0));
    const picoseconds asked = m.now();
    d.write_prod(1);
    while ((w.load(at<site::msi_poll>) & 0xffffffffU) != 0) platform::pause(&w, 0);
    woken = m.now() - asked;
  });
  m.run(100'000'000);
  // As above to the end of the sync; then the MSI takes the line from the poller's socket (150), who reads it back from
  // memory at the device (90 and 80).
  CHECK_EQUAL(woken, 3'000U + 180'000U + 157'000U + 200'000U + 150'000U + 170'000U);
}

CHECKED_TEST(register_reads_delay_each_other) {
  machine m(plain_shape(), 16, 1);
  auto& ring = m.make<ring_of_8>();
  device d(m, &ring, 3);
  picoseconds last = 0;
  for (unsigned c = 8; c < 12; ++c)
    m.start(c, [&] {
      d.read_cons();
      last = std::max(last, m.now());
    });
  m.run(100'000'000);
  CHECK_EQUAL(last, 300'000U + 3 * 25'000U);
}

CHECKED_TEST(a_run_repeats_to_the_bit) {
  const auto run = [](std::uint64_t seed) {
    topology t = plain_shape();
    t.hold = 8'000;
    t.spin = 4'000;
    machine m(t, 16, seed);
    auto& w = m.make<word>();
    picoseconds end = 0;
    for (unsigned c = 0; c < 16; ++c)
      m.start(c, [&] {
        for (int k = 0; k < 50; ++k) {
          m.spend(m.random().exponential(500'000), other_work);
          std::uint64_t v = w.load(at<site::claim_look>);
          while (!w.compare_exchange(v, v + 1, at<site::claim_packed>)) continue;
        }
        end = m.now();
      });
    m.run(10'000'000'000);
    return end;
  };
  CHECK_EQUAL(run(1), run(1));
  CHECK(run(1) != run(2));
}

}  // namespace cmdq::manycore
