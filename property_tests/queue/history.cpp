// SPDX-License-Identifier: BSL-1.0
#include "history.hpp"

#include <cmdq/platform/ring_entry.hpp>
#include <map>
#include <optional>
#include <string>

#include "support/scheduled_platform.hpp"
#include "support/test.hpp"

namespace cmdq::test {

namespace {
constexpr std::uint64_t op_cfgi_ste = 0x03;
constexpr std::uint64_t op_tlbi_nh_va = 0x12;
constexpr std::uint64_t op_atc_inv = 0x40;
constexpr std::uint64_t op_unknown = 0xff;
constexpr std::uint64_t live_stream = 1;

std::string text(const asked_list& l) {
  return "list of producer " + std::to_string(l.producer) + ", commands " + std::to_string(l.first) + " to " +
         std::to_string(l.first + l.n());
}
}  // namespace

command make_command(kind k, std::uint32_t id) {
  const std::uint64_t high = std::uint64_t{id} << 32;
  switch (k) {
    case kind::tlb:
      return {{op_tlbi_nh_va | high, std::uint64_t{id} << 12}};
    case kind::configuration:
      return {{op_cfgi_ste | high, id & 1U}};
    case kind::atc:
      return {{op_atc_inv | live_stream << 32, std::uint64_t{id} << 12}};
    case kind::dead_atc:
      return {{op_atc_inv | std::uint64_t{dead_stream_id} << 32, std::uint64_t{id} << 12}};
    default:
      return {{op_unknown | high, std::uint64_t{id} << 12}};
  }
}

namespace {
std::optional<std::uint32_t> whole_id(const command& c) noexcept {
  const auto high = static_cast<std::uint32_t>(c.word[0] >> 32);
  const auto low = static_cast<std::uint32_t>(c.word[1] >> 12);
  switch (opcode_of(c.word[0])) {
    case opcode_sync:
      return no_id;
    case op_cfgi_ste:
      return (high & 1U) == c.word[1] ? std::optional(high) : std::nullopt;
    case op_atc_inv:
      return low;
    case op_tlbi_nh_va:
    case op_unknown:
      return high == low ? std::optional(high) : std::nullopt;
    default:
      return std::nullopt;
  }
}
}  // namespace

std::uint32_t id_of(const command& c) {
  if (const auto id = whole_id(c)) return *id;
  throw failure("torn, or written by nobody: " + shown(c.word[0]) + ", " + shown(c.word[1]));
}

bool asked_list::has(kind k) const {
  for (const kind mine : kinds)
    if (mine == k) return true;
  return false;
}

std::size_t history::ask(unsigned producer, const std::vector<kind>& kinds) {
  asked_list l;
  l.producer = producer;
  l.first = static_cast<std::uint32_t>(times_.size());
  l.kinds = kinds;
  for (auto* per_command : {&times_, &effects_, &at_}) per_command->resize(per_command->size() + kinds.size());
  lists.push_back(std::move(l));
  return lists.size() - 1;
}

std::vector<command> history::commands(std::size_t list) const {
  std::vector<command> out;
  std::uint32_t id = lists[list].first;
  for (const kind k : lists[list].kinds) out.push_back(make_command(k, id++));
  return out;
}

void history::executed(position at, const command& c) noexcept {
  log.push_back({at, c});
  const auto id = whole_id(c);
  if (id == no_id) return;
  if (!id || *id >= times_.size()) {
    torn_ = true;
    return;
  }
  ++times_[*id];
  at_[*id] = at;
}

void history::effect(const command& c) noexcept {
  const auto id = whole_id(c);
  if (id && *id < effects_.size()) ++effects_[*id];
}

void history::failed(position at, const command& in_memory, cerror why) noexcept {
  failures.push_back({at, in_memory, why});
  const auto id = whole_id(in_memory);
  if (id && *id < at_.size()) at_[*id] = at;
}

bool history::refused(std::uint32_t id) const {
  for (const failed_command& f : failures)
    if (f.why == cerror::ill && id_of(f.in_memory) == id) return true;
  return false;
}

void history::check_done(std::size_t list, std::uint32_t n) const {
  const asked_list& l = lists[list];
  for (std::uint32_t id = l.first; id < l.first + n; ++id) {
    if (took_effect(id) || refused(id)) continue;
    throw failure(text(l) + ": reported done, but command " + std::to_string(id) + " is not");
  }
}

void history::check_producer_done(unsigned producer) const {
  for (std::size_t i = 0; i < lists.size(); ++i)
    if (lists[i].producer == producer) check_done(i, lists[i].inserted);
}

void history::check_order() const {
  for (std::size_t i = 0; i < log.size(); ++i) {
    static_cast<void>(id_of(log[i].what));
    if (i != 0 && log[i].at != log[i - 1].at + 1) throw failure("the device skipped from " + shown(log[i - 1].at));
  }
  if (torn_) throw failure("the device executed a command that nobody asked for");
  std::map<unsigned, position> last;
  for (const asked_list& l : lists)
    for (std::uint32_t i = 0; i < l.n(); ++i) {
      const std::uint32_t id = l.first + i;
      const std::uint32_t times = times_executed(id);
      if (times > (repeats ? 2U : 1U)) throw failure(text(l) + ": executed twice: " + std::to_string(id));
      if (repeats || (times == 0 && !refused(id))) continue;
      const auto before = last.find(l.producer);
      if (before != last.end() && distance(before->second, at_[id]) <= 0)
        throw failure(text(l) + ": out of order: " + std::to_string(id));
      if (l.contiguous && i != 0 && at_[id] != at_[id - 1] + 1)
        throw failure(text(l) + ": not contiguous at " + std::to_string(id));
      last[l.producer] = at_[id];
    }
}

void history::check_complete() const {
  check_order();
  for (const asked_list& l : lists)
    for (std::uint32_t i = 0; i < l.n(); ++i) {
      const std::uint32_t id = l.first + i;
      const std::uint32_t times = times_executed(id);
      const bool in_ring = i < l.inserted;
      if (!in_ring && times != 0)
        throw failure(text(l) + ": not inserted, but " + std::to_string(id) + " was executed");
      if (in_ring && times == 0 && !refused(id))
        throw failure(text(l) + ": command " + std::to_string(id) + " is lost");
      if (times != 0 && refused(id)) throw failure(text(l) + ": refused, but executed: " + std::to_string(id));
    }
}

void history_hooks::failed(position at, const command&, cerror why) {
  const auto* ring = static_cast<const ring_entry<scheduled_platform>*>(entries);
  log->failed(at, ring[at & mask].get(), why);
}

}  // namespace cmdq::test
