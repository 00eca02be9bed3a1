// SPDX-License-Identifier: BSL-1.0
#include "output/results.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "errors.hpp"
#include "output/terminal.hpp"

namespace cmdq::cli {

output_file::output_file(const std::string& option, const std::string& path) : option_(option), path_(path) {
  if (path.empty()) return;
  fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  is_new_ = fd_ >= 0;
  if (fd_ < 0 && errno == EEXIST) fd_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd_ < 0) cannot(std::strerror(errno));
}

output_file::~output_file() {
  if (fd_ >= 0) close(fd_);
  if (is_new_) unlink(path_.c_str());
}

void output_file::cannot(const char* why) const {
  throw input_error(fmt::format("{} {}: cannot be written: {}", option_, path_, why));
}

void output_file::write(std::string_view text) {
  if (fd_ < 0) return;
  is_new_ = false;
  struct stat what {};
  const bool regular = fstat(fd_, &what) == 0 && S_ISREG(what.st_mode);  // else a pipe, a terminal: nothing to replace
  if (regular && (lseek(fd_, 0, SEEK_SET) != 0 || ftruncate(fd_, 0) != 0)) cannot(std::strerror(errno));
  while (!text.empty()) {
    const ssize_t n = ::write(fd_, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) cannot(std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  if (regular && fsync(fd_) != 0) cannot(std::strerror(errno));
}

results::results(const std::string& json)
    : to_stdout_(json == "-"),
      file_("--json", to_stdout_ ? "" : json),
      all_(std::make_unique<nlohmann::ordered_json>()),
      interrupt_([this] { write(false); }) {
  (*all_)["version"] = CMDQ_VERSION;
  (*all_)["complete"] = false;
}

results::~results() {
  if (written_) return;
  try {
    write(false);
  } catch (const std::exception& e) {
    complain_line(fmt::format("cmdq: {}", e.what()));
  }
}

void results::say(std::string_view text) {
  if (!to_stdout_) cli::say(text);
}

void results::add(const std::function<void(nlohmann::ordered_json&)>& change) {
  const std::lock_guard hold(mutex_);
  change(*all_);
}

void results::save() {
  if (!to_stdout_) write(false);
}

void results::finish() { write(true); }

void results::write(bool complete) {
  const std::lock_guard hold(mutex_);
  written_ = true;
  (*all_)["complete"] = complete;
  if (!to_stdout_ && !file_.wanted()) return;
  const std::string text = all_->dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  if (to_stdout_)
    cli::say(text);
  else
    file_.write(text);
}

}  // namespace cmdq::cli
