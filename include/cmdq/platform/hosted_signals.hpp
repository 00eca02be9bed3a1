// SPDX-License-Identifier: BSL-1.0
// Hosted platform for programs whose signal handlers use the queue (POSIX).
#pragma once

#include <cmdq/platform/boost_atomic.hpp>

#include <pthread.h>
#include <signal.h>

namespace cmdq::platform {

/// boost_atomic, with the signals of the calling thread masked from claim to publication, so that a handler never finds
/// the thread that it interrupted there: it would wait for itself. A handler needs a producer of its own, attached
/// before. Cost: two system calls per insertion. Not masked: signals that an instruction raises (SIGSEGV and the like),
/// since a masked one ends the process; their handlers must not insert. While an insertion waits for space its signals
/// wait too.
struct hosted_signals : boost_atomic {
  /// Nests; each restores what it found.
  class critical_section {
   public:
    critical_section() noexcept {
      sigset_t all;
      sigfillset(&all);
      for (const int by_instruction : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
        sigdelset(&all, by_instruction);
      pthread_sigmask(SIG_BLOCK, &all, &before_);
    }
    ~critical_section() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    critical_section(const critical_section&) = delete;
    critical_section& operator=(const critical_section&) = delete;

   private:
    sigset_t before_;
  };
};

static_assert(sleeping_platform<hosted_signals>);

}  // namespace cmdq::platform
