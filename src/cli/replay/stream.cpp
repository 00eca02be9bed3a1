// SPDX-License-Identifier: BSL-1.0
#include "replay/stream.hpp"

#include <cmdq/queue/pieces.hpp>
#include <cmdq/smmuv3/codec.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "codec/fields_text.hpp"
#include "errors.hpp"
#include "output/input_file.hpp"
#include "output/terminal.hpp"

namespace cmdq::cli {

namespace {

constexpr std::string_view header = "seq,write,slot,opcode,d0,d1,fields";
constexpr std::size_t columns = 7;
enum column : std::size_t { seq, write, slot, opcode, d0, d1, fields };

/// One line of the file, cut at its commas, that knows where it is.
class row {
 public:
  row(const std::string& file, std::uint32_t line, std::string_view text) : file_(file), line_(line), text_(text) {
    std::size_t from = 0;
    for (std::size_t i = 0; i < columns; ++i) {
      const std::size_t comma = text.find(',', from);
      const bool last = i + 1 == columns;
      if ((comma == std::string_view::npos) != last) {
        const std::size_t there = last ? comma : text.size();
        fail(there, fmt::format("{} columns ({})", columns, header));
      }
      starts_[i] = from;
      cells_[i] = text.substr(from, last ? std::string_view::npos : comma - from);
      from = comma + 1;
    }
  }

  [[nodiscard]] std::string_view cell(column c) const noexcept { return cells_[c]; }
  [[nodiscard]] std::uint32_t line() const noexcept { return line_; }

  /// A decimal number below 2^32.
  [[nodiscard]] std::uint32_t number(column c) const {
    std::uint32_t v = 0;
    const std::string_view s = cells_[c];
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
    if (error != std::errc{} || end != s.data() + s.size() || s.empty()) wrong(c, "a decimal number below 2^32");
    return v;
  }

  /// 0x and exactly `digits` hexadecimal digits.
  [[nodiscard]] std::uint64_t hex(column c, std::size_t digits) const {
    std::uint64_t v = 0;
    const std::string_view s = cells_[c];
    const std::string expected = fmt::format("0x and {} hexadecimal digits", digits);
    if (s.size() != digits + 2 || !s.starts_with("0x")) wrong(c, expected);
    const auto [end, error] = std::from_chars(s.data() + 2, s.data() + s.size(), v, 16);
    if (error != std::errc{} || end != s.data() + s.size()) wrong(c, expected);
    return v;
  }

  [[noreturn]] void wrong(column c, std::string_view expected) const { fail(starts_[c], expected, cells_[c]); }

 private:
  [[noreturn]] void fail(std::size_t at, std::string_view expected) const { fail(at, expected, text_.substr(at)); }
  [[noreturn]] void fail(std::size_t at, std::string_view expected, std::string_view found) const {
    const std::string what = found.empty() ? "nothing" : fmt::format("\"{}\"", printable(found));
    throw input_error(fmt::format("{}:{}:{}: expected {}, found {}", file_, line_, at + 1, expected, what));
  }

  const std::string& file_;
  std::uint32_t line_;
  std::string_view text_;
  std::array<std::string_view, columns> cells_{};
  std::array<std::size_t, columns> starts_{};
};

/// The command of a row, after all that the row says about it was compared with its words.
command command_of(const row& r) {
  const command c{{r.hex(d0, 16), r.hex(d1, 16)}};
  const result<smmuv3::any_command> decoded = smmuv3::decode(c);
  if (!decoded) {
    const refusal& why = decoded.why();
    r.wrong(why.field == std::string_view("reserved bits of word 1") ? d1 : d0,
            fmt::format("a command ({})", explain(why)));
  }
  if (r.hex(opcode, 2) != opcode_of(c.word[0]))
    r.wrong(opcode, fmt::format("{:#04x}, the opcode in d0", opcode_of(c.word[0])));
  if (const std::string text = fields_text(c); !r.cell(fields).empty() && r.cell(fields) != text)
    r.wrong(fields, fmt::format("\"{}\", the fields of d0 and d1", text));
  const result<command> again = smmuv3::encode(*decoded);
  if (!again || *again != c) r.wrong(d0, "words that encode again to themselves");
  return c;
}

/// Puts rows together to lists.
class splitter {
 public:
  splitter(stream& out, const std::string& file) : out_(out), file_(file) {}

  void add(const row& r) {
    const std::uint32_t number = r.number(seq);
    if (rows_ != 0 && number != seq_ + 1) r.wrong(seq, fmt::format("{}", std::uint64_t{seq_} + 1));
    seq_ = number;
    const std::uint32_t published_by = r.number(write);
    if (rows_ != 0 && published_by < write_) r.wrong(write, fmt::format("a number not below {}", write_));
    if (rows_ == 0 || published_by != write_) ++out_.recorded.prod_writes;
    static_cast<void>(r.number(slot));
    const command c = command_of(r);
    if (published_by != write_) end_list(false, r.line());
    write_ = published_by;
    ++rows_;
    if (opcode_of(c.word[0]) == opcode_sync) {
      ++out_.recorded.syncs;
      end_list(true, r.line());
      return;
    }
    if (open_.n++ == 0) open_.line = r.line();
    out_.commands.push_back(c);
  }

  void end() {
    end_list(false, open_.line);
    if (out_.lists.empty()) throw input_error(fmt::format("{}: expected at least one command, found none", file_));
  }

 private:
  /// Ends the list and cuts it where the queue would, so that each piece is one call and one list in the ring.
  void end_list(bool sync, std::uint32_t line) {
    if (open_.n == 0 && !sync) return;
    if (open_.n == 0) open_.line = line;
    if (open_.n > max_batch)
      throw input_error(fmt::format("{}:{}:1: expected a list of at most {} commands, found {}", file_, open_.line,
                                    max_batch, open_.n));
    options whole;
    whole.batch_limit = max_batch;
    std::uint32_t at = open_.begin;
    do {
      const std::uint32_t left = open_.begin + open_.n - at;
      const piece p = next_piece(whole, out_.commands.data() + at, left, sync);
      out_.lists.push_back({at, p.n, p.sync, open_.line});
      at += p.n;
    } while (at != open_.begin + open_.n);
    open_ = {at, 0, false, 0};
  }

  stream& out_;
  const std::string& file_;
  list open_;
  std::uint32_t rows_ = 0;
  std::uint32_t seq_ = 0;
  std::uint32_t write_ = 0;
};

}  // namespace

std::uint32_t stream::longest() const noexcept {
  std::uint32_t most = 1;
  for (const list& l : lists) most = std::max(most, l.n);
  return most;
}

stream parse_stream(std::string_view text, const std::string& file) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  stream out;
  out.name = file.substr(file.find_last_of('/') + 1);
  splitter split(out, file);
  bool seen_header = false;
  std::uint32_t line = 0;
  while (!text.empty()) {
    ++line;
    std::string_view one = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    if (one.ends_with('\r')) one.remove_suffix(1);
    if (one.starts_with('#') || one.empty()) continue;
    if (seen_header) {
      split.add(row(file, line, one));
      continue;
    }
    if (one != header)
      throw input_error(
          fmt::format("{}:{}:1: expected the header \"{}\", found \"{}\"", file, line, header, printable(one)));
    seen_header = true;
  }
  if (!seen_header) throw input_error(fmt::format("{}:{}:1: expected the header \"{}\"", file, line + 1, header));
  split.end();
  return out;
}

stream read_stream(const std::string& file) {
  return parse_stream(read_input(file), file == "-" ? "standard input" : file);
}

}  // namespace cmdq::cli
