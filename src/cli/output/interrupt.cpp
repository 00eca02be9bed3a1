// SPDX-License-Identifier: BSL-1.0
#include "output/interrupt.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <exception>
#include <mutex>
#include <thread>

#include "output/terminal.hpp"

namespace cmdq::cli {

namespace {

struct saver {
  std::mutex mutex;
  std::function<void()> save;
};
/// Never destroyed: an interrupt may come while the program ends.
saver& the_saver() {
  static saver* const s = new saver;
  return *s;
}

void watch(const sigset_t& signals) {
  int signal = 0;
  if (sigwait(&signals, &signal) != 0) return;
  saver& s = the_saver();
  const std::lock_guard hold(s.mutex);
  try {
    if (s.save) s.save();
    complain_line("cmdq: interrupted: what is printed and written is incomplete");
  } catch (const std::exception& e) {
    complain_line(fmt::format("cmdq: interrupted: {}", e.what()));
  }
  _exit(128 + signal);
}

}  // namespace

void watch_interrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int s : {SIGINT, SIGTERM}) {
    struct sigaction old {};
    if (sigaction(s, nullptr, &old) == 0 && old.sa_handler != SIG_IGN) sigaddset(&signals, s);
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  the_saver();
  std::thread([signals] { watch(signals); }).detach();
}

on_interrupt::on_interrupt(std::function<void()> save) {
  saver& s = the_saver();
  const std::lock_guard hold(s.mutex);
  s.save = std::move(save);
}

on_interrupt::~on_interrupt() {
  saver& s = the_saver();
  const std::lock_guard hold(s.mutex);
  s.save = nullptr;
}

}  // namespace cmdq::cli
