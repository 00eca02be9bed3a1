// SPDX-License-Identifier: BSL-1.0
// What scripts/instructions counts: one insertion, on one thread, with the cheapest device that really consumes.
#pragma once

#include <cmdq/cmdq.hpp>

namespace bench::instructions {

/// Consumes in the PROD write: moves CONS to PROD, and answers a CMD_SYNC that signals by MSI.
template <class P, bool Msi>
class device {
 public:
  device(cmdq::ring_entry<P>* entries, cmdq::geometry shape) : entries_(entries), shape_(shape) {}
  void write_prod(std::uint32_t prod) {
    if constexpr (Msi) {
      for (; cons_ != prod; cons_ = shape_.to_register(cons_ + 1)) {
        auto& word = entries_[shape_.slot(cons_)].word0;
        if (cmdq::opcode_of(word.load(cmdq::at<cmdq::site::device_fetch>)) == cmdq::opcode_sync)
          word.store(0, cmdq::at<cmdq::site::device_msi_write>);
      }
    } else {
      cons_ = prod;
    }
  }
  [[nodiscard]] std::uint32_t read_cons() const { return cons_; }
  static std::uint32_t read_gerror() { return 0; }
  static std::uint32_t read_gerrorn() { return 0; }
  static void write_gerrorn(std::uint32_t) {}

 private:
  cmdq::ring_entry<P>* const entries_;
  const cmdq::geometry shape_;
  std::uint32_t cons_ = 0;
};

template <class Allocation, class Completion>
struct config : cmdq::default_config {
  using allocation = Allocation;
  using completion = Completion;
};

inline constexpr unsigned log2_size = 10;

/// `rounds` insertions of one command. False: one of them failed.
template <class Config>
bool insert(long rounds, bool sync) {
  using P = typename Config::platform;
  using device_type = device<P, Config::completion::in_memory>;
  static cmdq::fixed_memory<P, log2_size, 4> memory;
  static device_type dev(memory.memory().entries, {log2_size});
  cmdq::options o;
  o.log2_size = log2_size;
  o.producers = 4;
  const auto plan = cmdq::make_plan<Config>(o, memory.memory());
  if (!plan) return false;
  static cmdq::command_queue<device_type, Config> queue(*plan, dev);
  typename cmdq::command_queue<device_type, Config>::producer me;
  if (queue.attach(me) != cmdq::status::ok) return false;
  const cmdq::command one{{0x12, 0x1000}};
  bool good = true;
  for (long i = 0; i < rounds; ++i) good = (sync ? me.issue(&one, 1) : me.insert(&one, 1)).ok() && good;
  return good;
}

}  // namespace bench::instructions
