// SPDX-License-Identifier: BSL-1.0
// The machinery checks itself: the smallest scenario in which an order is needed.
#include "../support/platform.hpp"
#include "../support/scenario.hpp"

namespace cmdq::checks {
namespace {

struct message_passing : scenario {
  static constexpr facts about{.name = "self/message_passing",
                               .proves = "a mark set with release and seen with acquire carries plain data",
                               .bounds = "2 threads, 1 message",
                               .threads = 2,
                               .how = schedule::full};
  P::plain<std::uint32_t> data;
  P::atomic<std::uint32_t> mark;

  void thread(unsigned index) override {
    if (index == 0) {
      data.set(7);
      mark.fetch_xor(1, at<site::valid_mark>);
    } else {
      while (mark.load(at<site::valid_wait>) == 0) P::pause(&mark, 0);
      check(data.get() == 7, "message arrived");
    }
  }
};
const registration<message_passing> r1;

}  // namespace
}  // namespace cmdq::checks
