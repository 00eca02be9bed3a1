// SPDX-License-Identifier: BSL-1.0
#include "output/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "errors.hpp"

namespace cmdq::cli {

namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 30;

struct closed_at_end {
  void operator()(gzFile f) const { static_cast<void>(gzclose_r(f)); }
};

}  // namespace

std::string read_input(const std::string& file) {
  const auto refuse = [&](const std::string& why) {
    throw input_error(fmt::format("{}: {}", file == "-" ? "standard input" : file, why));
  };
  const int fd = file == "-" ? dup(STDIN_FILENO) : open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) refuse(fmt::format("cannot be opened: {}", std::strerror(errno)));
  const std::unique_ptr<gzFile_s, closed_at_end> in(gzdopen(fd, "rb"));
  if (in == nullptr) {
    close(fd);
    refuse("cannot be opened: out of memory");
  }
  std::string all;
  char part[1 << 16];
  for (int n = 0; (n = gzread(in.get(), part, sizeof part)) != 0;) {
    if (n < 0) break;
    all.append(part, static_cast<std::size_t>(n));
    if (all.size() > most_bytes) refuse(fmt::format("longer than the limit of {} bytes", most_bytes));
  }
  int error = Z_OK;
  const char* const said = gzerror(in.get(), &error);
  if (error == Z_ERRNO) refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
  if (error == Z_BUF_ERROR) refuse("the compressed data are cut short");
  if (error != Z_OK) refuse(fmt::format("the compressed data are damaged: {}", said));
  return all;
}

}  // namespace cmdq::cli
