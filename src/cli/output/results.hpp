// SPDX-License-Identifier: BSL-1.0
// Where a command's results go. Every output is opened before the work and checked after it, and holds what there was
// when the work was cut short.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "output/interrupt.hpp"

namespace cmdq::cli {

/// A file that is opened at once and written when there is something; what was in it before stays until then. One that
/// did not exist and gets nothing is taken away again.
class output_file {
 public:
  /// `option`: how it was asked for, for the errors. An empty path: no file. Throws input_error.
  output_file(const std::string& option, const std::string& path);
  ~output_file();
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  [[nodiscard]] bool wanted() const noexcept { return fd_ >= 0; }
  /// Replaces what is in it. Throws input_error when not all of it reached the file.
  void write(std::string_view text);

 private:
  [[noreturn]] void cannot(const char* why) const;
  std::string option_, path_;
  int fd_ = -1;
  bool is_new_ = false;
};

/// Text and JSON of one command. The JSON is an object with "complete", which is false in a file that an interrupt or
/// an error left behind.
class results {
 public:
  /// `json`: a path, "-" for standard output in place of the text, or empty for none. Throws input_error.
  explicit results(const std::string& json);
  ~results();
  results(const results&) = delete;
  results& operator=(const results&) = delete;

  /// Text on standard output, at once; nothing when JSON goes there.
  void say(std::string_view text);
  /// Adds to the JSON; before the same is said, so that what was seen is in the file.
  void add(const std::function<void(nlohmann::ordered_json&)>& change);
  /// Writes what is there to the file, as incomplete.
  void save();
  /// All is there: writes the JSON.
  void finish();

 private:
  void write(bool complete);

  const bool to_stdout_;
  output_file file_;
  std::mutex mutex_;
  std::unique_ptr<nlohmann::ordered_json> all_;
  bool written_ = false;
  on_interrupt interrupt_;
};

}  // namespace cmdq::cli
