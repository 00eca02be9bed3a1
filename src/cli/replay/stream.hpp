// SPDX-License-Identifier: BSL-1.0
// A recorded command stream, split into the lists that a driver issued.
#pragma once

#include <cmdq/smmuv3/wire.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cmdq::cli {

/// One list of a stream: `n` commands from `begin` on; a lone CMD_SYNC is n = 0 with `sync`.
struct list {
  std::uint32_t begin = 0;
  std::uint32_t n = 0;
  bool sync = false;       ///< ended in a CMD_SYNC: its issuer waited
  std::uint32_t line = 0;  ///< of its first command (or lone CMD_SYNC) in the file
};

struct stream {
  std::string name;
  std::vector<command> commands;  ///< without CMD_SYNCs: each way of completion makes its own
  std::vector<list> lists;
  struct {
    std::uint64_t prod_writes = 0;
    std::uint64_t syncs = 0;
  } recorded;  ///< of the driver that the stream was taken from

  /// Commands of the longest list; 1 for a stream of lone CMD_SYNCs.
  [[nodiscard]] std::uint32_t longest() const noexcept;
  [[nodiscard]] const command* at(const list& l) const noexcept { return commands.data() + l.begin; }
};

/// Reads the CSV form `seq,write,slot,opcode,d0,d1,fields`; the rules are in data/README.md. A list ends at its
/// CMD_SYNC or, without one, with the PROD write that published it. Each row's opcode and fields are compared with the
/// decoding of its words. Throws input_error with "file:line:column: expected ..." for whatever is not as it should be.
stream parse_stream(std::string_view text, const std::string& file);

/// The same from a file, plain or compressed by gzip; "-": from standard input.
stream read_stream(const std::string& file);

}  // namespace cmdq::cli
