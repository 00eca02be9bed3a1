// SPDX-License-Identifier: BSL-1.0
// Several queues behind one face: the choice of a queue, what must reach all of them, and errors that stay in one.
#include <cmdq/multi/queue_set.hpp>

#include "support/one_thread.hpp"

using namespace cmdq;
using namespace cmdq::test;

namespace {
using rig_type = one_thread<>;
using queue_type = rig_type::queue_type;
using set_type = multi::queue_set<queue_type, 3>;

struct three {
  rig_type q[3];
  set_type set;
  three() {
    for (auto& r : q) CMDQ_CHECK_EQ(set.add(r.queue()), status::ok);
  }
};
constexpr std::uint64_t budget_ns = 1'000'000;
}  // namespace

CMDQ_TEST(set_has_limits) {
  set_type empty;
  set_type::member nobody;
  CMDQ_CHECK_EQ(empty.join(nobody), status::out_of_range);
  three t;
  rig_type one_more;
  CMDQ_CHECK_EQ(t.set.add(one_more.queue()), status::out_of_range);
  CMDQ_CHECK_EQ(t.set.size(), 3U);
}

CMDQ_TEST(a_group_keeps_to_its_queue) {
  three t;
  set_type::member me;
  CMDQ_CHECK_EQ(t.set.join(me), status::ok);
  for (std::uint32_t group = 0; group < 7; ++group) {
    const command c = numbered(group);
    CMDQ_CHECK(me.of(group).issue(&c, 1).ok());
    CMDQ_CHECK(t.q[group % 3].executed.back() == c);
  }
  CMDQ_CHECK_EQ(t.q[0].executed.size(), std::size_t{3});
  CMDQ_CHECK_EQ(t.q[1].executed.size(), std::size_t{2});
  CMDQ_CHECK_EQ(t.q[2].executed.size(), std::size_t{2});
}

// The last queue is full: what was attached before is given back.
CMDQ_TEST(who_cannot_join_all_joins_none) {
  three t;
  auto first = t.q[2].producer();
  auto second = t.q[2].producer();
  set_type::member me;
  CMDQ_CHECK_EQ(t.set.join(me), status::too_many_producers);
  auto a = t.q[0].producer();
  auto b = t.q[0].producer();  // both places of queue 0 are free again
  a = {};
  b = {};
  first = {};
  CMDQ_CHECK_EQ(t.set.join(me), status::ok);
}

CMDQ_TEST(issue_to_all_reaches_each) {
  three t;
  set_type::member me;
  CMDQ_CHECK_EQ(t.set.join(me), status::ok);
  const command list[] = {numbered(1), numbered(2)};
  status each[3] = {status::stalled, status::stalled, status::stalled};
  CMDQ_CHECK_EQ(me.issue_to_all(list, 2, budget_ns, each), status::ok);
  for (unsigned i = 0; i < 3; ++i) {
    CMDQ_CHECK_EQ(each[i], status::ok);
    CMDQ_CHECK(t.q[i].executed.size() == 2 && t.q[i].executed[1] == list[1]);
  }
}

CMDQ_TEST(a_stalled_queue_leaves_the_others_alone) {
  three t;
  set_type::member me;
  CMDQ_CHECK_EQ(t.set.join(me), status::ok);
  t.q[1].device.stall();
  const command c = numbered(1);
  status each[3] = {status::stalled, status::stalled, status::stalled};
  CMDQ_CHECK_EQ(me.issue_to_all(&c, 1, budget_ns, each), status::timeout);
  CMDQ_CHECK(each[0] == status::ok && each[1] == status::timeout && each[2] == status::ok);
  CMDQ_CHECK_EQ(t.q[2].executed.size(), std::size_t{1});
  CMDQ_CHECK(me.of(0).issue(&c, 1).ok() && me.of(2).issue(&c, 1).ok());
  t.q[1].device.resume();
  CMDQ_CHECK_EQ(me.of(1).issue(&c, 1).code, status::ok);
}

CMDQ_TEST(an_error_stays_in_its_queue) {
  three t;
  set_type::member me;
  CMDQ_CHECK_EQ(t.set.join(me), status::ok);
  const command wrong = illegal();
  CMDQ_CHECK_EQ(me.of(1).issue(&wrong, 1).code, status::illegal_command);
  const command c = numbered(1);
  status each[3] = {status::stalled, status::stalled, status::stalled};
  CMDQ_CHECK_EQ(me.issue_to_all(&c, 1, budget_ns, each), status::ok);
  CMDQ_CHECK_EQ(me.issue_to_all(&wrong, 1, budget_ns, each), status::illegal_command);
  for (const status s : each) CMDQ_CHECK_EQ(s, status::illegal_command);
}

// Lists that submit() does not take as one: longer than the batch limit, cut by a quirk, of several classes.
CMDQ_TEST(r20_issue_to_all_takes_what_issue_takes) {
  const command t = numbered(1), c{{0x03, 0}}, a{{0x40, 52}};
  const std::vector<std::vector<command>> lists = {
      {t}, {t, c}, {c, t, c}, {t, a}, {t, a, t}, std::vector<command>(20, t), std::vector<command>(9, c)};
  options quirks[4];
  quirks[1].sync_every_batch = true;
  quirks[2].repeat_invalidations = true;
  quirks[3].sync_every_batch = quirks[3].repeat_invalidations = true;
  for (const options& base : quirks) {
    rig_type alone(8, 2, base);
    auto lone = alone.producer();
    rig_type one(8, 2, base), other(8, 2, base);
    set_type set;
    CMDQ_CHECK(set.add(one.queue()) == status::ok && set.add(other.queue()) == status::ok);
    set_type::member me;
    CMDQ_CHECK_EQ(set.join(me), status::ok);
    for (const auto& list : lists) {
      const auto n = static_cast<std::uint32_t>(list.size());
      CMDQ_CHECK_EQ(lone.issue(list.data(), n).code, status::ok);
      status each[2] = {status::stalled, status::stalled};
      CMDQ_CHECK_EQ(me.issue_to_all(list.data(), n, budget_ns, each), status::ok);
      CMDQ_CHECK(each[0] == status::ok && each[1] == status::ok);
      CMDQ_CHECK(one.executed == alone.executed && other.executed == alone.executed);
    }
    const command sync = make_sync(sync_signal::none);
    CMDQ_CHECK_EQ(me.issue_to_all(&sync, 1, budget_ns), status::invalid_argument);
    CMDQ_CHECK_EQ(me.issue_to_all(nullptr, 1, budget_ns), status::invalid_argument);
  }
}
