// SPDX-License-Identifier: BSL-1.0
#include "output/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "errors.hpp"

namespace cmdq::cli {

namespace {

/// The line of progress, wherever it is drawn or wiped. Never destroyed: an interrupt may come at any time.
struct line {
  std::mutex mutex;
  bool drawn = false;
};
line& the_line() {
  static line* const l = new line;
  return *l;
}

/// Precondition: the line's mutex is held.
void wipe(line& l) {
  if (!l.drawn) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  l.drawn = false;
}

std::size_t columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1) return size.ws_col;
  return 80;
}

bool fit_for_progress() {
  const char* const term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && term != nullptr && *term != '\0' && std::strcmp(term, "dumb") != 0;
}

[[noreturn]] void cannot_write() {
  throw input_error(fmt::format("standard output: cannot be written: {}", std::strerror(errno)));
}

}  // namespace

void say(std::string_view text) {
  line& l = the_line();
  const std::lock_guard hold(l.mutex);
  wipe(l);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) cannot_write();
}

void complain_line(std::string_view text) {
  line& l = the_line();
  const std::lock_guard hold(l.mutex);
  wipe(l);
  fmt::print(stderr, "{}\n", text);
}

void finish_standard_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) cannot_write();
}

std::string printable(std::string_view text) {
  constexpr std::size_t most = 60;
  std::string out;
  for (const char c : text.substr(0, most)) {
    if (c >= ' ' && c <= '~')
      out += c;
    else
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return text.size() > most ? out + "..." : out;
}

progress::progress(std::size_t steps) : steps_(steps) {
  if (!fit_for_progress()) return;
  try {
    drawer_ = std::thread([this] { draw(); });
  } catch (const std::system_error&) {  // no thread to be had: work without
  }
}

progress::~progress() {
  if (!drawer_.joinable()) return;
  {
    const std::lock_guard hold(mutex_);
    ends_ = true;
  }
  over_.notify_all();
  drawer_.join();
  line& l = the_line();
  const std::lock_guard hold(l.mutex);
  wipe(l);
}

void progress::step(const std::string& what) {
  const std::lock_guard hold(mutex_);
  ++at_;
  what_ = what;
  done_ = of_ = 0;
}

void progress::part(std::uint64_t done, std::uint64_t of) {
  const std::lock_guard hold(mutex_);
  done_ = done;
  of_ = of;
}

void progress::draw() {
  using namespace std::chrono_literals;
  std::unique_lock hold(mutex_);
  auto next = start_ + 2s;
  while (!over_.wait_until(hold, next, [this] { return ends_; })) {
    next = std::chrono::steady_clock::now() + 200ms;
    const auto elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    std::string text = fmt::format("[{}/{}] {}", at_, steps_, what_);
    if (of_ != 0) text += fmt::format(", {} of {}", done_, of_);
    text += fmt::format(", {:.0f} s", elapsed);
    text.resize(std::min(text.size(), columns() - 1));  // a line that wraps cannot be wiped
    line& l = the_line();
    const std::lock_guard hold_line(l.mutex);
    fmt::print(stderr, "\r\033[K{}", text);
    std::fflush(stderr);
    l.drawn = true;
  }
}

}  // namespace cmdq::cli
