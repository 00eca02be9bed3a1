// SPDX-License-Identifier: BSL-1.0
#include "../support/queue_scenario.hpp"

namespace cmdq::checks {
namespace {

/// Two threads share one producer's place: the second gets in when the first has left, and sees all it did. The plain
/// word stands for the place's own words, whose stores Relacy does not let cross.
struct attach_hand_over : scenario {
  static constexpr facts about{.name = "attach/hand_over",
                               .proves = "a producer's place passes on with everything its last holder wrote",
                               .bounds = "2 threads, 1 place, 1 list each, ring of 4",
                               .threads = 3,
                               .how = schedule::random,
                               .iterations = 3000};
  using queue_type = command_queue<participant_device, checked_config<allocation::owner_bits>>;

  command_memory memory;
  ring_storage ring;
  participant_device device{ring.memory().entries, 2, 0, {}, memory};
  queue_type queue{plan<P>{{.log2_size = 2, .batch_limit = 1, .producers = 1, .deadline_ns = no_deadline},
                           ring.at_device_address(ring_address)},
                   device};
  P::plain<std::uint32_t> place;
  unsigned left = 2;

  void thread(unsigned index) override {
    if (index == 2) return device.run([this] { return left == 0; });
    queue_type::producer me;
    while (queue.attach(me) != status::ok) P::pause(nullptr, 0);
    place.set(place.get() + 1);
    memory.descriptor[tag_of(index, 0, 0)].set(tag_of(index, 0, 0) + 1);
    const command c{{opcode_harmless, tag_of(index, 0, 0)}};
    check(me.issue(&c, 1).ok(), "issue succeeds");
    me = queue_type::producer();
    --left;
  }
  void finish() override { check(place.get() == 2, "both had the place"); }
};
const registration<attach_hand_over> r1;

}  // namespace
}  // namespace cmdq::checks
