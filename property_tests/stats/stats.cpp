// SPDX-License-Identifier: BSL-1.0
// What the counters count, and how they are written out.
#include <cmdq/stats/dump.hpp>
#include <cmdq/stats/trace_ring.hpp>
#include <string>

#include "support/one_thread.hpp"

using namespace cmdq;
using namespace cmdq::test;
using stats::event;

namespace {

template <class Stats, class Allocation = allocation::combining>
struct observed : one_thread_config {
  using allocation = Allocation;
  using stats = Stats;
};

template <class Value>
std::string text(const Value& v) {
  std::string out;
  stats::write_text(v, [&](const char* piece) { out += piece; });
  return out;
}
template <class Value>
std::string json(const Value& v) {
  std::string out;
  stats::write_json(v, [&](const char* piece) { out += piece; });
  return out;
}

/// Three lists, of 2 commands, of 1 without a wait, and of none.
template <class Config>
auto stats_of_three_lists() {
  one_thread<Config> r;
  auto me = r.producer();
  const command two[] = {numbered(1), numbered(2)};
  CMDQ_CHECK(me.issue(two, 2).ok());
  CMDQ_CHECK(me.insert(two, 1).ok());
  CMDQ_CHECK(me.issue(nullptr, 0).ok());
  return me.stats();
}

template <class Allocation>
void check_three_lists() {
  const stats::counters c = stats_of_three_lists<observed<stats::counters, Allocation>>();
  CMDQ_CHECK_EQ(c.of(event::list), 3U);
  CMDQ_CHECK_EQ(c.of(event::prod_write), 3U);
  CMDQ_CHECK_EQ(c.of(event::entries_told), 5U);  // 3 commands, 2 CMD_SYNCs
  CMDQ_CHECK_EQ(c.of(event::sync_sent), 2U);
  CMDQ_CHECK_EQ(c.of(event::cons_read), 2U);
  for (const event none : {event::claim_retry, event::space_wait, event::sync_wait, event::spin, event::park})
    CMDQ_CHECK_EQ(c.of(none), 0U);
}

}  // namespace

CMDQ_TEST(counters_of_a_quiet_queue) {
  check_three_lists<allocation::cmpxchg_loop>();
  check_three_lists<allocation::owner_bits>();
  check_three_lists<allocation::combining>();
}

CMDQ_TEST(fruitless_polls_are_counted) {
  one_thread<observed<stats::counters>> r;
  auto me = r.producer();
  r.device.stall();
  CMDQ_CHECK_EQ(me.issue(nullptr, 0).code, status::timeout);
  CMDQ_CHECK(me.stats().of(event::sync_wait) > 0);
  CMDQ_CHECK_EQ(me.stats().of(event::spin), me.stats().of(event::sync_wait));
  CMDQ_CHECK(me.stats().of(event::cons_read) > me.stats().of(event::sync_wait));
}

CMDQ_TEST(handled_errors_are_counted) {
  one_thread<observed<stats::counters>> r;
  auto me = r.producer();
  const command wrong = illegal();
  CMDQ_CHECK_EQ(me.issue(&wrong, 1).code, status::illegal_command);
  CMDQ_CHECK_EQ(me.stats().of(event::error_handled), 1U);
}

CMDQ_TEST(each_wait_is_timed) {
  const stats::timed_counters c = stats_of_three_lists<observed<stats::timed_counters>>();
  CMDQ_CHECK_EQ(c.waits().total(), 2U);
  CMDQ_CHECK_EQ(c.waits().in(7), 2U);  // one look at the clock: 100 ns
}

CMDQ_TEST(counters_add_up) {
  stats::timed_counters a, b;
  a.add(event::list, 3);
  b.add(event::list, 4);
  b.waited_ns(9);
  a += b;
  CMDQ_CHECK_EQ(a.of(event::list), 7U);
  CMDQ_CHECK_EQ(a.waits().total(), 1U);
}

CMDQ_TEST(counters_as_text_and_json) {
  stats::counters c;
  c.add(event::list, 12);
  c.add(event::error_handled, ~std::uint64_t{0});
  const std::string t = text(c);
  CMDQ_CHECK_EQ(t.substr(0, 8), std::string("list 12\n"));
  CMDQ_CHECK(t.find("\nerror_handled 18446744073709551615\n") != std::string::npos);
  const std::string j = json(c);
  CMDQ_CHECK_EQ(j.substr(0, 32), std::string("{\"list\": 12, \"claim_retry\": 0, \""));
  CMDQ_CHECK(j.find(", \"error_handled\": 18446744073709551615") != std::string::npos && j.back() == '}');
}

CMDQ_TEST(histogram_buckets) {
  property([](std::uint64_t v) {
    stats::histogram h;
    h.add(v);
    unsigned bucket = 0;
    while (h.in(bucket) == 0) ++bucket;
    CMDQ_CHECK(v <= stats::histogram::upper(bucket));
    CMDQ_CHECK(bucket == 0 || v > stats::histogram::upper(bucket - 1));
    CMDQ_CHECK_EQ(h.quantile(500), stats::histogram::upper(bucket));
  });
  stats::histogram h;
  CMDQ_CHECK_EQ(json(h), std::string("[]"));
  CMDQ_CHECK_EQ(h.quantile(999), 0U);
  for (std::uint64_t v = 0; v < 1000; ++v) h.add(v);
  h.add(1'000'000);
  CMDQ_CHECK_EQ(h.quantile(500), 511U);
  CMDQ_CHECK_EQ(h.quantile(999), 1023U);
  CMDQ_CHECK_EQ(h.quantile(1000), 1048575U);
  CMDQ_CHECK_EQ(json(h).substr(0, 15), std::string("[[0, 1], [1, 1]"));
  CMDQ_CHECK(json(h).find("], [1048575, 1]]") != std::string::npos);
}

CMDQ_TEST(trace_ring_keeps_the_last_events) {
  stats::trace_ring<counted_time, 4> t;
  CMDQ_CHECK_EQ(t.size(), 0U);
  for (std::uint64_t n = 1; n <= 3; ++n) t.add(event::list, n);
  CMDQ_CHECK_EQ(t.size(), 3U);
  CMDQ_CHECK_EQ(t.at(0).n, 1U);
  for (std::uint64_t n = 4; n <= 6; ++n) t.add(event::sync_sent, n);
  CMDQ_CHECK_EQ(t.size(), 4U);
  for (unsigned i = 0; i < 4; ++i) CMDQ_CHECK_EQ(t.at(i).n, i + 3U);
  CMDQ_CHECK(t.at(0).what == event::list && t.at(1).what == event::sync_sent);
  CMDQ_CHECK(t.at(0).ns < t.at(1).ns);
  CMDQ_CHECK_EQ(t.of(event::list), 6U);  // counted, too
}

CMDQ_TEST(a_traced_queue_shows_what_it_did) {
  const auto t = stats_of_three_lists<observed<stats::trace_ring<counted_time>>>();
  CMDQ_CHECK_EQ(t.of(event::list), 3U);
  CMDQ_CHECK(t.at(0).what == event::list);
  bool told = false;
  for (unsigned i = 0; i < t.size(); ++i) told = told || (t.at(i).what == event::entries_told && t.at(i).n == 3);
  CMDQ_CHECK(told);
}

static_assert(sizeof(one_thread<observed<stats::none>>::queue_type::producer) <
              sizeof(one_thread<observed<stats::counters>>::queue_type::producer));
