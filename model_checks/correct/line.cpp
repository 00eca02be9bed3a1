// SPDX-License-Identifier: BSL-1.0
// The line for space, and the one ways to write GERRORN and the tail, without any queue around them.
#include "../support/fixtures.hpp"

#include <cmdq/allocation/line.hpp>
#include <cmdq/queue/tail_writer.hpp>
#include <cmdq/smmuv3/acknowledge.hpp>
#include <cmdq/smmuv3/error_bits.hpp>

namespace cmdq::checks {
namespace {

/// Each thread takes a place in line and goes: in its turn, or before it. Nobody polls. Some come back once.
template <unsigned Threads, unsigned Rounds>
struct standing_in_line : scenario {
  using ring_type = ring<prod_only_device, ring_config<>>;

  prod_only_device device;
  ring_storage memory;
  ring_type ring_{device, {{.log2_size = 3, .producers = Threads}, memory.at_device_address(ring_address)}};
  allocation::line<ring_type> line{ring_};

  void thread(unsigned index) override {
    auto& cell = ring_.cell(index);
    for (unsigned i = 0; i < Rounds; ++i) {
      const std::uint32_t place = line.enter(cell);
      if (line.is_turn(place)) {
        line.leave(place);
      } else {
        line.give_up(place, cell);
      }
    }
  }
  void finish() override { check(line.empty(), "the line moves on over those who have gone"); }
};

struct line_two : standing_in_line<2, 1> {
  static constexpr facts about{.name = "line/two",
                               .proves = "the line moves on over who has gone before its turn",
                               .bounds = "2 threads, 1 place each",
                               .threads = 2,
                               .how = schedule::bounded,
                               .bound = 4};
};
struct line_two_twice : standing_in_line<2, 2> {
  static constexpr facts about{.name = "line/two_twice",
                               .proves = "the line moves on over who has gone before its turn, and comes back",
                               .bounds = "2 threads, 2 places each",
                               .threads = 2,
                               .how = schedule::bounded,
                               .bound = 3};
};
struct line_three : standing_in_line<3, 1> {
  static constexpr facts about{.name = "line/three",
                               .proves = "the line moves on over who has gone before its turn",
                               .bounds = "3 threads, 1 place each",
                               .threads = 3,
                               .how = schedule::bounded,
                               .bound = 2};
};

/// GERROR with errors that two threads see to. The plain word: two unordered writers of GERRORN are a race.
class failing_device {
 public:
  std::uint32_t read_gerror() { return errors; }
  std::uint32_t read_gerrorn() { return gerrorn_.load(at<site::device_ack_read>); }
  void write_gerrorn(std::uint32_t v) {
    check(((v ^ errors) & ~(gerrorn_.load(at<site::device_ack_read>) ^ errors)) == 0, "no error is made active again");
    writer_.set(v);
    gerrorn_.store(v, at<site::device_ack_write>);
  }
  [[nodiscard]] bool all_seen_to() { return read_gerrorn() == errors; }

 private:
  static constexpr std::uint32_t errors = gerror::cmdq_err | gerror::msi_cmdq_abt;
  P::plain<std::uint32_t> writer_;
  P::atomic<std::uint32_t> gerrorn_;
};

struct two_acknowledge : scenario {
  static constexpr facts about{.name = "acknowledge/two_writers",
                               .proves = "no acknowledgement of GERRORN's two writers is undone or lost",
                               .bounds = "2 threads; one asks, the other tries again until it is let in",
                               .threads = 2,
                               .how = schedule::full};
  failing_device device;
  acknowledgement<P> both;

  void thread(unsigned index) override {
    if (index == 0) return both.request(device, gerror::msi_cmdq_abt);
    while (!both.acknowledge(device, gerror::cmdq_err)) P::pause(nullptr, 0);
  }
  void finish() override { check(device.all_seen_to(), "both errors are acknowledged"); }
};
struct two_ask : scenario {
  static constexpr facts about{.name = "acknowledge/two_ask",
                               .proves = "what is asked for while another is inside is acknowledged by it",
                               .bounds = "2 threads that ask once each",
                               .threads = 2,
                               .how = schedule::full};
  failing_device device;
  acknowledgement<P> both;

  void thread(unsigned index) override { both.request(device, index == 0 ? gerror::msi_cmdq_abt : gerror::cmdq_err); }
  void finish() override { check(device.all_seen_to(), "both errors are acknowledged"); }
};

/// An owner tells of an entry while somebody who handled an error tells again. The plain words: who writes the register
/// for another has seen that one's entry, and two writers are never inside at once.
struct tell_again : scenario {
  static constexpr facts about{.name = "tail/owner_and_handler",
                               .proves = "the tail never goes back, and the last one tells of everything",
                               .bounds = "2 threads; one tells twice, the other twice again",
                               .threads = 2,
                               .how = schedule::full};
  P::atomic<std::uint32_t> limit;
  P::plain<std::uint32_t> entry[2];
  P::plain<std::uint32_t> reg;
  tail_writer<P> tail;

  void write() {
    const std::uint32_t now = limit.load(at<site::tail_limit_load>);
    check(now >= reg.get(), "the tail moves forward");
    for (std::uint32_t i = 0; i < now; ++i) check(entry[i].get() == i + 1, "the entry is there before it is told of");
    reg.set(now);
  }
  void thread(unsigned index) override {
    for (std::uint32_t i = 0; i < 2; ++i) {
      if (index == 0) {
        entry[i].set(i + 1);
        limit.store(i + 1, at<site::tail_limit_store>);
      }
      tail.tell([this] { write(); });
    }
  }
  void finish() override { check(reg.get() == 2, "everything was told"); }
};

const registration<line_two> r1;
const registration<line_two_twice> r2;
const registration<line_three> r3;
const registration<two_acknowledge> r4;
const registration<two_ask> r5;
const registration<tell_again> r6;

}  // namespace
}  // namespace cmdq::checks
