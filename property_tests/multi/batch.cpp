// SPDX-License-Identifier: BSL-1.0
// Batches: commands gathered and handed on in full lists; and lists filled in place by a writer.
#include <cmdq/queue/batch.hpp>

#include "support/asked.hpp"
#include "support/one_thread.hpp"

using namespace cmdq;
using namespace cmdq::test;

namespace {
using rig_type = one_thread<>;
template <std::uint32_t Capacity>
using batch_of = batch<rig_type::queue_type, Capacity>;
}  // namespace

CMDQ_TEST(batch_hands_on_all_of_it_in_order) {
  property([] {
    const auto n = *rc::gen::inRange<std::uint32_t>(0, 40);
    rig_type r;
    auto me = r.producer();
    batch_of<5> b(me);
    for (std::uint32_t i = 0; i < n; ++i) {
      CMDQ_CHECK_EQ(b.add(numbered(i)), status::ok);
      CMDQ_CHECK(b.gathered() <= 5 && r.executed.size() + b.gathered() == i + 1);
    }
    const outcome o = b.finish();
    CMDQ_CHECK_EQ(o.code, status::ok);
    CMDQ_CHECK_EQ(o.inserted, n);
    CMDQ_CHECK_EQ(o.done, n);
    CMDQ_CHECK_EQ(o.lists, n == 0 ? 1U : (n + 4) / 5);
    CMDQ_CHECK_EQ(r.executed.size(), std::size_t{n});
    for (std::uint32_t i = 0; i < n; ++i) CMDQ_CHECK(r.executed[i] == numbered(i));
  });
}

CMDQ_TEST(batch_can_be_used_again) {
  rig_type r;
  auto me = r.producer();
  batch_of<4> b(me);
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t i = 0; i < 6; ++i) CMDQ_CHECK_EQ(b.add(numbered(i)), status::ok);
    const outcome o = b.finish();
    CMDQ_CHECK(o.ok() && o.inserted == 6 && o.done == 6 && o.lists == 2);
  }
  CMDQ_CHECK_EQ(r.executed.size(), std::size_t{18});
}

CMDQ_TEST(batch_takes_no_sync) {
  rig_type r;
  auto me = r.producer();
  batch_of<4> b(me);
  CMDQ_CHECK_EQ(b.add(make_sync(sync_signal::none)), status::invalid_argument);
  CMDQ_CHECK_EQ(b.gathered(), 0U);
  CMDQ_CHECK(b.finish().ok());
}

// The CMD_SYNC of finish() answers for the lists that were handed on before.
CMDQ_TEST(batch_tells_an_error_of_an_earlier_list) {
  rig_type r;
  auto me = r.producer();
  batch_of<2> b(me);
  CMDQ_CHECK_EQ(b.add(illegal()), status::ok);
  for (std::uint64_t i = 0; i < 5; ++i) CMDQ_CHECK_EQ(b.add(numbered(i)), status::ok);
  const outcome o = b.finish();
  CMDQ_CHECK_EQ(o.code, status::illegal_command);
  CMDQ_CHECK_EQ(o.inserted, 6U);
  CMDQ_CHECK_EQ(r.executed.size(), std::size_t{5});
}

CMDQ_TEST(r21_batch_that_is_left_alone_is_delivered) {
  property([] {
    const auto n = *rc::gen::inRange<std::uint32_t>(0, 20);
    rig_type r;
    auto me = r.producer();
    {
      batch_of<5> b(me);
      for (std::uint32_t i = 0; i < n; ++i) CMDQ_CHECK_EQ(b.add(numbered(i)), status::ok);
    }
    CMDQ_CHECK_EQ(r.executed.size(), std::size_t{n});
    for (std::uint32_t i = 0; i < n; ++i) CMDQ_CHECK(r.executed[i] == numbered(i));
    // Waited for, as by finish(): a CMD_SYNC stands behind the last list, and none where nothing was left.
    CMDQ_CHECK_EQ(r.device.syncs, n == 0 ? 0U : 1U);
  });
}

CMDQ_TEST(r21_batch_that_was_finished_sends_nothing_more) {
  rig_type r;
  auto me = r.producer();
  {
    batch_of<2> b(me);
    for (std::uint64_t i = 0; i < 5; ++i) CMDQ_CHECK_EQ(b.add(numbered(i)), status::ok);
    CMDQ_CHECK(b.finish().ok());
  }
  {
    batch_of<2> b(me);
    CMDQ_CHECK_EQ(b.add(illegal()), status::ok);
    CMDQ_CHECK_EQ(b.finish().code, status::illegal_command);
  }
  CMDQ_CHECK_EQ(r.device.syncs, 3U);  // one of them is what the illegal command became
}

CMDQ_TEST(r22_batch_refuses_an_asid_that_the_device_does_not_have) {
  model::capabilities narrow;
  narrow.asid16 = false;
  rig_type r(8, 2, smmuv3::fit({}, asked(narrow)));
  auto me = r.producer();
  batch_of<4> b(me);
  const command wide{{0x11 | 0x1234ULL << 48, 0}};
  CMDQ_CHECK_EQ(b.add(wide), status::out_of_range);
  const refusal why = me.permits(wide);
  CMDQ_CHECK(std::string(why.field) == "asid" && why.value == 0x1234 && why.limit == 0xff);
  CMDQ_CHECK_EQ(b.add({{0x11 | 0x34ULL << 48, 0}}), status::ok);
  CMDQ_CHECK_EQ(b.gathered(), 1U);
}

CMDQ_TEST(r23_batch_refuses_what_a_guests_queue_may_not_issue) {
  model::capabilities guest;
  guest.part = smmuv3::find_quirk("tegra241_guest")->flags;
  rig_type r(8, 2, smmuv3::fit({}, asked(guest)));
  auto me = r.producer();
  batch_of<4> b(me);
  const command nh_all{{0x10, 0}};
  CMDQ_CHECK_EQ(b.add(nh_all), status::invalid_argument);
  CMDQ_CHECK(std::string(me.permits(nh_all).field) == "opcode" && me.permits(nh_all).value == 0x10);
  CMDQ_CHECK_EQ(b.add(numbered(1)), status::ok);
  CMDQ_CHECK(b.finish().ok());
  CMDQ_CHECK_EQ(r.executed.size(), std::size_t{1});
}

// What could not be inserted is kept, and goes on once the queue has recovered.
CMDQ_TEST(batch_keeps_what_a_stalled_queue_refuses) {
  rig_type r;
  auto me = r.producer();
  r.device.stall();
  CMDQ_CHECK_EQ(me.issue(nullptr, 0).code, status::timeout);
  batch_of<2> b(me);
  CMDQ_CHECK_EQ(b.add(numbered(1)), status::ok);
  CMDQ_CHECK_EQ(b.add(numbered(2)), status::ok);
  CMDQ_CHECK_EQ(b.add(numbered(3)), status::stalled);
  CMDQ_CHECK_EQ(b.gathered(), 2U);
  CMDQ_CHECK_EQ(b.finish().code, status::stalled);
  CMDQ_CHECK_EQ(b.gathered(), 2U);
  r.device.resume();
  CMDQ_CHECK_EQ(r.queue().recover(), status::ok);
  const outcome o = b.finish();
  CMDQ_CHECK(o.ok() && o.inserted == 2 && o.done == 2);
  CMDQ_CHECK(r.executed.size() == 2 && r.executed[0] == numbered(1) && r.executed[1] == numbered(2));
}

CMDQ_TEST(writer_publishes_what_was_pushed) {
  rig_type r;
  auto me = r.producer();
  auto w = me.reserve(3, true);
  CMDQ_CHECK_EQ(w.code(), status::ok);
  CMDQ_CHECK_EQ(me.issue(nullptr, 0).code, status::busy);  // one at a time
  CMDQ_CHECK_EQ(w.push(make_sync(sync_signal::none)), status::invalid_argument);
  for (std::uint64_t i = 0; i < 3; ++i) CMDQ_CHECK_EQ(w.push(numbered(i)), status::ok);
  CMDQ_CHECK_EQ(w.push(numbered(3)), status::out_of_range);
  CMDQ_CHECK_EQ(r.executed.size(), std::size_t{0});
  CMDQ_CHECK_EQ(w.commit(), status::ok);
  CMDQ_CHECK_EQ(w.commit(), status::invalid_argument);
  CMDQ_CHECK_EQ(r.executed.size(), std::size_t{3});
  CMDQ_CHECK(me.issue(nullptr, 0).ok());
}

CMDQ_TEST(writer_left_alone_keeps_nobody_waiting) {
  rig_type r;
  auto me = r.producer();
  auto other = r.producer();
  {
    auto w = me.reserve(3, false);
    CMDQ_CHECK_EQ(w.push(numbered(7)), status::ok);
  }
  const command c = numbered(8);
  CMDQ_CHECK(other.issue(&c, 1).ok());
  CMDQ_CHECK(r.executed.size() == 2 && r.executed[0] == numbered(7) && r.executed[1] == c);
}

CMDQ_TEST(writer_refuses_bad_sizes) {
  rig_type r(8);
  auto me = r.producer();
  CMDQ_CHECK_EQ(me.reserve(0, true).code(), status::invalid_argument);
  CMDQ_CHECK_EQ(me.reserve(9, true).code(), status::out_of_range);
  CMDQ_CHECK(me.issue(nullptr, 0).ok());
}
