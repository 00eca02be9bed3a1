// SPDX-License-Identifier: BSL-1.0
// ^C and SIGTERM: what there is so far is kept.
#pragma once

#include <functional>

namespace cmdq::cli {

/// From now on SIGINT and SIGTERM come to a thread of their own, which does what on_interrupt asks for and ends the
/// program with 128 + the signal's number, whatever the other threads are at. A signal that is ignored stays so. To be
/// called before there are other threads.
void watch_interrupts();

/// While it lives, an interrupt calls `save` first, from that thread.
class on_interrupt {
 public:
  explicit on_interrupt(std::function<void()> save);
  ~on_interrupt();
  on_interrupt(const on_interrupt&) = delete;
  on_interrupt& operator=(const on_interrupt&) = delete;
};

}  // namespace cmdq::cli
