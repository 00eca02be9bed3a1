// SPDX-License-Identifier: BSL-1.0
#include "replay/check.hpp"

#include <fmt/core.h>

namespace cmdq::cli {

namespace {

constexpr std::uint32_t nobody = ~0U;

bool is_sync(const command& c) { return opcode_of(c.word[0]) == opcode_sync; }

std::string check_device(const evidence& e) {
  if (e.overflow != 0) return fmt::format("{} more commands executed than the lists can have filled", e.overflow);
  for (std::uint32_t i = 0; i < e.device.size(); ++i) {
    const std::uint32_t expected = i < e.told ? 1 : 0;
    if (e.device[i].times != expected)
      return fmt::format("entry {} was executed {} times, expected {}", i, e.device[i].times, expected);
  }
  return {};
}

/// One list against what the device executed where it is said to be; marks its entries as taken.
std::string check_list(const stream& s, const evidence& e, const placed& p, std::vector<std::uint32_t>& taken) {
  const list& l = s.lists[p.list];
  for (std::uint32_t i = 0; i < l.n; ++i) {
    const std::uint32_t entry = p.first + i;
    if (entry >= e.told)
      return fmt::format("list {} ends at entry {}, behind PROD at {}", p.list, p.first + l.n, e.told);
    if (taken[entry] != nobody)
      return fmt::format("lists {} and {} interleave at entry {}", taken[entry], p.list, entry);
    taken[entry] = p.list;
    const command& got = e.device[entry].what;
    const command& want = s.at(l)[i];
    if (got != want)
      return fmt::format(
          "list {} (line {}), command {}: executed {:#018x} {:#018x} at entry {}, expected {:#018x} {:#018x}", p.list,
          l.line, i, got.word[0], got.word[1], entry, want.word[0], want.word[1]);
  }
  if (l.sync && !p.done)
    return fmt::format("list {} (line {}): its call returned before the device had done it", p.list, l.line);
  return {};
}

}  // namespace

std::string check_replay(const stream& s, const evidence& e) {
  if (std::string wrong = check_device(e); !wrong.empty()) return wrong;
  std::vector<std::uint32_t> taken(e.told, nobody);
  std::vector<bool> issued(s.lists.size());
  for (std::uint32_t t = 0; t < e.threads.size(); ++t) {
    const placed* before = nullptr;
    for (const placed& p : e.threads[t]) {
      if (issued[p.list]) return fmt::format("list {} was issued twice", p.list);
      issued[p.list] = true;
      if (before != nullptr && p.first <= before->first)
        return fmt::format("thread {}: list {} lies before list {}, which it issued earlier", t, p.list, before->list);
      before = &p;
      if (std::string wrong = check_list(s, e, p, taken); !wrong.empty()) return wrong;
    }
  }
  for (std::uint32_t i = 0; i < issued.size(); ++i)
    if (!issued[i]) return fmt::format("list {} (line {}) was never issued", i, s.lists[i].line);
  for (std::uint32_t i = 0; i < e.told; ++i)
    if (taken[i] == nobody && !is_sync(e.device[i].what))
      return fmt::format("entry {} holds a command that nobody issued: {:#018x}", i, e.device[i].what.word[0]);
  return {};
}

bool executed_with_sync(const std::vector<device_note>& device, std::uint32_t first, std::uint32_t n) {
  for (std::size_t i = first; i < device.size(); ++i) {
    if (device[i].times == 0) return false;
    if (i >= std::size_t{first} + n && is_sync(device[i].what)) return true;
  }
  return false;
}

}  // namespace cmdq::cli
