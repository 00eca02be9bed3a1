// SPDX-License-Identifier: BSL-1.0
#include "rig.hpp"

#include <cstdio>
#include <cstdlib>

#include "rigs.hpp"

namespace cmdq::test {

namespace {
constexpr std::uint64_t ring_address = 0x40000000;  ///< aligned to the largest ring
constexpr std::uint64_t most_idle_calls = 5'000'000;
}  // namespace

rig::rig(const setup& s, std::uint32_t seed)
    : what(s),
      device(model::device_drive::stepped, s.caps),
      bus(device, seed),
      entries_(std::make_unique<ring_entry<scheduled_platform>[]>(shape().entries())),
      valid_(std::make_unique<scheduled_platform::atomic<std::uint32_t>[]>(valid_words(shape()))),
      marks_(std::make_unique<scheduled_platform::atomic<std::uint64_t>[]>(shape().entries())),
      range_ends_(std::make_unique<scheduled_platform::atomic<std::uint32_t>[]>(shape().entries())),
      cells_(std::make_unique<producer_cell<scheduled_platform>[]>(s.opts.producers)),
      groups_(s.opts.groups == 1 ? nullptr : std::make_unique<gather_group<scheduled_platform>[]>(s.opts.groups)),
      mailboxes_(std::make_unique<mailbox_line<scheduled_platform>[]>(s.opts.producers *
                                                                      lines_per_mailbox(s.opts.batch_limit))) {
  device.hooks = history_hooks(log, entries_.get(), shape().entries() - 1);
  device.speed = s.speed;
  bus.log2 = s.opts.log2_size;
  bus.told = s.opts.first;
  CMDQ_CHECK_EQ(device.attach(entries_.get(), s.opts.log2_size, ring_address, s.opts.first), status::ok);
  queue_ = make_queue(s, memory(), bus);
  CMDQ_CHECK(queue_ != nullptr);
  last_cons_ = queue_->cons_register();
  bus.watch = [this] { watch(); };
  scheduled_platform::alone_ns = 0;
  scheduled_platform::alone_cpu = 0;
  scheduled_platform::idle = [this] {
    if (++idle_calls_ > most_idle_calls) {
      std::fprintf(stderr, "%s: a call does not end: %s\n", current(), shown(what).c_str());
      std::_Exit(1);  // the library's code is noexcept
    }
    const bool rests = !device_runs || model::rests(device.step());
    scheduled_platform::alone_ns += rests ? scheduler::idle_round_ns : scheduler::point_ns;
  };
}

rig::~rig() { scheduled_platform::idle = nullptr; }

void rig::watch() {
  scheduled_platform::peeking = true;
  const std::uint32_t now = queue_->cons_register();
  scheduled_platform::peeking = false;
  cons_went_back = cons_went_back || shape().ahead(last_cons_, now) > shape().entries();
  last_cons_ = now;
}

ring_memory<scheduled_platform> rig::memory() {
  ring_memory<scheduled_platform> m{entries_.get(),    ring_address, valid_.get(), marks_.get(),
                                    range_ends_.get(), cells_.get(), groups_.get()};
  m.mailboxes = mailboxes_.get();
  return m;
}

std::unique_ptr<queue_face> make_queue(const setup& s, const ring_memory<scheduled_platform>& m, front& device) {
#define CMDQ_MAKE(name, locked) \
  if (s.allocation == strategy::name) return make_##name(s, m, device);
  CMDQ_FOR_EACH_STRATEGY(CMDQ_MAKE)
  return nullptr;
}

refusal check_plan(const setup& s, const ring_memory<scheduled_platform>& m) {
  const auto with = [&]<class Allocation, class Completion>(Allocation, Completion) {
    return make_plan<rig_config<Allocation, Completion, reclaim::counted, wait::spin>>(s.opts, m).why();
  };
#define CMDQ_CHECK_PLAN(name, locked) \
  if (s.allocation == strategy::name) \
    return s.msi ? with(allocation::name{}, completion::poll_msi{}) : with(allocation::name{}, completion::poll_cons{});
  CMDQ_FOR_EACH_STRATEGY(CMDQ_CHECK_PLAN)
  return {status::invalid_argument, "allocation", static_cast<std::uint64_t>(s.allocation), 0};
}

std::string shown(const setup& s) {
#define CMDQ_NAME(name, locked) #name,
  const char* names[] = {CMDQ_FOR_EACH_STRATEGY(CMDQ_NAME)};
  std::ostringstream out;
  out << names[static_cast<unsigned>(s.allocation)] << (s.msi ? ", poll_msi" : ", poll_cons")
      << (locks(s) ? ", sync_locked" : ", counted") << (s.park ? ", park" : ", spin") << ", 2^" << s.opts.log2_size
      << " entries from " << s.opts.first << ", batch " << s.opts.batch_limit << ", producers " << s.opts.producers
      << ", CONS every " << s.speed.cons_every << " commands after " << s.speed.cons_idle_steps
      << " idle steps, MSIs late by " << s.speed.msi_late_steps << (s.speed.defer_effects ? ", effects deferred" : "")
      << (s.opts.sync_every_batch ? ", sync_every_batch" : "")
      << (s.opts.repeat_invalidations ? ", repeat_invalidations" : "");
  if (s.opts.groups != 1) out << ", " << s.opts.groups << " groups of " << s.opts.cpus_per_group << " CPUs";
  return out.str();
}

}  // namespace cmdq::test
