// SPDX-License-Identifier: BSL-1.0
// What people see: text on standard output, errors, and a line of progress on a terminal.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace cmdq::cli {

/// Writes to standard output, at once: a result is not lost with what comes after it. Throws input_error when it cannot
/// be written (a full disk).
void say(std::string_view text);

/// A line on standard error.
void complain_line(std::string_view text);

/// The last word on standard output. Throws input_error when something of it could not be written.
void finish_standard_output();

/// Text from a file or the command line as it may be shown: whatever is not printable ASCII as \xNN, long texts cut.
std::string printable(std::string_view text);

/// One line on standard error that is drawn again and again, from two seconds after the start on: how far the work is.
/// Nothing where standard error is no terminal or TERM is dumb. No colours, so NO_COLOR is kept by itself.
class progress {
 public:
  explicit progress(std::size_t steps);
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  /// The next step begins.
  void step(const std::string& what);
  /// Within a step; called from any thread.
  void part(std::uint64_t done, std::uint64_t of);
  [[nodiscard]] bool shown() const noexcept { return drawer_.joinable(); }

 private:
  void draw();

  std::mutex mutex_;
  std::condition_variable over_;
  bool ends_ = false;
  const std::size_t steps_;
  std::size_t at_ = 0;
  std::string what_;
  std::uint64_t done_ = 0, of_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::thread drawer_;
};

}  // namespace cmdq::cli
