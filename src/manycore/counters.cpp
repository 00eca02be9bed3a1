// SPDX-License-Identifier: BSL-1.0
#include "counters.hpp"

#include <fmt/format.h>

#include <string_view>

namespace cmdq::manycore {

const char* site_name(unsigned s) noexcept {
  if (s < named_sites) return ordering_table[s].name;
  switch (s) {
    case plain_data:
      return "entry_word1";
    case prod_write:
      return "prod_register";
    case cons_read:
      return "cons_register";
    case other_register:
      return "error_registers";
    case clock_read:
      return "clock";
    case other_work:
      return "other_work";
    default:
      return "unknown";
  }
}

const char* phase_name(phase p) noexcept {
  constexpr const char* names[] = {"other work", "claim",      "write entries", "valid bits", "hand-over",
                                   "PROD write", "completion", "space",         "rest"};
  return names[static_cast<unsigned>(p)];
}

namespace {

/// By the site's name, so that a new site of a known family needs no change here.
phase compute_phase(unsigned s) noexcept {
  const std::string_view n = site_name(s);
  const auto starts = [n](std::string_view prefix) { return n.substr(0, prefix.size()) == prefix; };
  if (s == other_work) return phase::work;
  if (s == prod_write) return phase::device;
  if (s == cons_read || starts("msi_") || starts("done_") || n == "cons_done") return phase::completion;
  if (starts("claim") || starts("gather") || starts("range_end") || starts("group_open")) return phase::claim;
  if (starts("entry") || s == plain_data) return phase::entries;
  if (starts("valid")) return phase::valid;
  if (starts("told") || starts("limit") || starts("group_")) return phase::hand_over;
  if (starts("cons_") || starts("shared_") || starts("exclusive_")) return phase::space;
  return phase::other;
}

}  // namespace

phase phase_of(unsigned s) noexcept {
  static const auto table = [] {
    std::array<phase, all_sites> t{};
    for (unsigned i = 0; i < all_sites; ++i) t[i] = compute_phase(i);
    return t;
  }();
  return table[s];
}

phase_table by_phase(const site_table& sites) noexcept {
  phase_table t{};
  for (unsigned s = 0; s < all_sites; ++s)
    t[static_cast<unsigned>(phase_of(s))] += sites[s].queued + sites[s].moving + sites[s].asleep;
  return t;
}

std::string chrome_trace(const std::vector<span>& spans, const std::vector<std::string>& actor_names) {
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  for (std::size_t i = 0; i < actor_names.size(); ++i)
    out += fmt::format(R"({{"ph":"M","pid":1,"tid":{},"name":"thread_name","args":{{"name":"{}"}}}},)"
                       "\n",
                       i, actor_names[i]);
  for (const auto& s : spans)
    out += fmt::format(R"({{"ph":"X","pid":1,"tid":{},"name":"{}","ts":{}.{:06},"dur":{}.{:06}}},)"
                       "\n",
                       s.actor, s.name, s.begin / 1'000'000, s.begin % 1'000'000, (s.end - s.begin) / 1'000'000,
                       (s.end - s.begin) % 1'000'000);
  return out + R"({"ph":"M","pid":1,"name":"process_name","args":{"name":"simulated machine"}}]})"
               "\n";
}

}  // namespace cmdq::manycore
