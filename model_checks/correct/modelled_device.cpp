// SPDX-License-Identifier: BSL-1.0
// The shipped model of the device (cmdq/model), which other tests use, under Relacy as well.
#include "../support/fixtures.hpp"

#include <cmdq/model/hardware.hpp>
#include <cmdq/platform/ring_entry.hpp>

namespace cmdq::checks {
namespace {

/// Counts executed commands in plain data: two consumers at once are a race.
struct counting_hooks : model::null_hooks {
  P::plain<std::uint32_t>* count = nullptr;
  void executed(position, const command&, std::uint64_t) noexcept { count->set(count->get() + 1); }
};
using modelled = model::hardware<P, ring_entry<P>, counting_hooks>;

/// A driver writes an entry after PROD but before it switches the queue on.
struct device_switched_on : scenario {
  static constexpr facts about{.name = "device/switched_on",
                               .proves = "what was set up before CR0 is seen by the device that CR0 switches on",
                               .bounds = "1 driver, the stepped device, 1 command",
                               .threads = 2,
                               .how = schedule::bounded,
                               .bound = 2};
  ring_storage ring;
  P::plain<std::uint32_t> executed;
  modelled device{model::device_drive::stepped, {}, make_hooks()};

  counting_hooks make_hooks() {
    counting_hooks h;
    h.count = &executed;
    return h;
  }
  device_switched_on() {
    check(device.attach(ring.memory().entries, 2, ring_address) == status::ok, "the device comes up");
    check(device.write(smmuv3::registers::offset::cr0, 0) == status::ok, "it can be switched off");
    device.drain();
  }
  void thread(unsigned index) override {
    if (index == 1) return device.run_until([this] { return device.commands == 1; });
    check(device.write(smmuv3::registers::offset::cmdq_prod, 1) == status::ok, "PROD may be written");
    ring.memory().entries[0].put({{0x12, 5ULL << 12}});
    check(device.write(smmuv3::registers::offset::cr0, model::cmdqen) == status::ok, "the queue can be switched on");
  }
  void finish() override { check(executed.get() == 1, "the command was executed"); }
};

/// Two threads whose register writes drive the device: whoever finds it free consumes.
struct device_inline : scenario {
  static constexpr facts about{.name = "device/inline",
                               .proves = "one consumer at a time, and no register write is left unseen",
                               .bounds = "1 thread with 2 commands, 1 thread that writes a register twice",
                               .threads = 2,
                               .how = schedule::bounded,
                               .bound = 2};
  ring_storage ring;
  P::plain<std::uint32_t> executed;
  modelled device{model::device_drive::in_write, {}, make_hooks()};

  counting_hooks make_hooks() {
    counting_hooks h;
    h.count = &executed;
    return h;
  }
  device_inline() { check(device.attach(ring.memory().entries, 2, ring_address) == status::ok, "the device comes up"); }
  void thread(unsigned index) override {
    for (unsigned i = 0; i < 2; ++i) {
      if (index == 1) {
        device.resume();
        continue;
      }
      ring.memory().entries[i].put({{0x12, std::uint64_t{i} << 12}});
      device.write_prod(i + 1);
    }
  }
  void finish() override {
    check(executed.get() == 2, "both commands were executed");
    check(device.read_cons() == 2, "CONS says so");
  }
};

const registration<device_switched_on> r1;
const registration<device_inline> r2;

}  // namespace
}  // namespace cmdq::checks
