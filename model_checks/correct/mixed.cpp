// SPDX-License-Identifier: BSL-1.0
// The other ways into the ring, beside each other: lists filled in place, lists that nobody waits for, and a CMD_SYNC
// alone that covers them. In groups only the second kind gathers.
#include "../support/queue_scenario.hpp"

namespace cmdq::checks {
namespace {

template <class Config>
struct mixed_scenario : queue_scenario<Config> {
  using base = queue_scenario<Config>;
  using base::base;

  void produce(unsigned index) override {
    for (unsigned l = 0; l < this->work_.lists; ++l) {
      command list[max_commands];
      this->write_list(index, l, list);
      if (in_place(index, l)) {
        fill(index, l, list[0]);
      } else {
        check(this->producers_[index].insert(list, 1).code == status::ok, "insert succeeds");
      }
    }
    check(this->producers_[index].issue(nullptr, 0).code == status::ok, "a CMD_SYNC alone ends");
    for (unsigned l = 0; l < this->work_.lists; ++l)
      if (!in_place(index, l)) this->done(index, l);
  }

 private:
  static bool in_place(unsigned index, unsigned l) { return (index + l) % 2 == 0; }
  void fill(unsigned index, unsigned l, const command& c) {
    auto writer = this->producers_[index].reserve(1, true);
    check(writer.code() == status::ok, "a list may be filled in place");
    check(writer.push(c) == status::ok, "there is room for what was reserved");
    check(writer.commit() == status::ok, "a list filled in place ends");
    this->done(index, l);
  }
};

// clang-format off
#define CMDQ_MIXED_CASES(prefix, more)                                                                                \
  {                                                                                                                   \
    {{"mixed/" prefix, "all guarantees of the queue for each way into the ring",                                      \
      "2 producers, 3 lists of 1, in place and unsynced by turns, ring of 16, every start", 3, schedule::random, 3000},\
     {.log2 = 4, .lists = 3, more}},                                                                                  \
    {{"mixed/" prefix "_search", "all guarantees of the queue for each way into the ring",                            \
      "2 producers, 1 list of 1, one in place and one unsynced, ring of 16, start at 13", 3, schedule::bounded, 0, 1},  \
     {.log2 = 4, .first = 13, more}},                                                                                  \
  }
// clang-format on
const queue_case cmpxchg_loop[] = CMDQ_MIXED_CASES("cmpxchg_loop", );
const queue_case owner_bits[] = CMDQ_MIXED_CASES("owner_bits", );
const queue_case combining[] = CMDQ_MIXED_CASES("combining", );
const queue_case combining_msi[] = CMDQ_MIXED_CASES("combining_msi", );
#define CMDQ_GROUPS .groups = 2
const queue_case grouped[] = CMDQ_MIXED_CASES("combining_grouped", CMDQ_GROUPS);
const queue_case grouped_msi[] = CMDQ_MIXED_CASES("combining_grouped_msi", CMDQ_GROUPS);
using by_cons = mixed_scenario<checked_config<allocation::combining>>;
using by_msi = mixed_scenario<checked_config<allocation::combining, completion::poll_msi>>;
const queue_family<mixed_scenario<checked_config<allocation::cmpxchg_loop>>> r1(cmpxchg_loop);
const queue_family<mixed_scenario<checked_config<allocation::owner_bits>>> r2(owner_bits);
const queue_family<by_cons> r3(combining);
const queue_family<by_msi> r4(combining_msi);
const queue_family<by_cons> r5(grouped);
const queue_family<by_msi> r6(grouped_msi);

}  // namespace
}  // namespace cmdq::checks
