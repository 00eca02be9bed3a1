// SPDX-License-Identifier: BSL-1.0
#include "expectations.hpp"

namespace cmdq::checks {

namespace {

constexpr std::string_view strategies[] = {"cmpxchg_loop", "owner_bits", "combining", "delegated"};

constexpr rejection rejections[] = {
#include "../orderings_found.inc"
};

constexpr const char* seq_cst_conditions =
    "Relacy executes what is seq_cst in the order of execution, and both ends of every condition are; in C++ nothing "
    "else orders the condition before the second look";
constexpr const char* old_state =
    "lost only if the state is seen as it was three stores ago (none, put, taken, put back), of which Relacy keeps "
    "two, "
    "or two stores ago within the few steps of a second look: not met in 400000 random executions";
constexpr const char* cell_over =
    "a cell is taken over by attach / detach, which carry the debt; recover() then needs the call's claim and told, of "
    "which no stale pair was met in timeout/ (5000 random executions of each)";
constexpr const char* attached_before =
    "here producers are attached before the threads start, and nobody leaves; attach/hand_over has two that take turns";
constexpr const char* one_writer =
    "here GERRORN has one writer at a time by the handler's lock; the driver beside it is in acknowledge/two_ask";
constexpr const char* by_cons =
    "the same text as with poll_cons and counted, where handed_on/ or line/ rejects it: completion and reclaim do not "
    "come into it; no scenario with this one rejects it";
constexpr const char* nothing_left = "here nobody leaves a duty or a place: handed_on/ and line/ are for that";
constexpr const char* line_alone = "the line does not know the strategy: line/ rejects it";
constexpr const char* no_ranges =
    "only walks from range end to range end need it (combining, delegated); here it is compared with positions";
constexpr const char* one_at_a_time =
    "here one list is in the ring at a time, and what passes from one to the next goes by the place that is handed on";
constexpr const char* looked_before =
    "who combines has mostly looked at software CONS for may_close() before, which is cons_done; not met in any "
    "scenario";
constexpr const char* seldom_from_register =
    "as with poll_cons, where it is rejected; with MSIs the register is read seldom: not met in any scenario";
constexpr const char* lock_only_counts =
    "no scenario with reclaim::sync_locked needs it: the lock guards software CONS, which moves by cons_advance; the "
    "order is for who puts data of his own under the lock, as lock/ does";
constexpr const char* no_such_device = "device/ has one thread that writes and reads this register, or none";
constexpr const char* not_by_msi = "modelled MSIs of a mode that is switched off";
#define CMDQ_WHERE_LEFT(site_, weaker_)                                                                       \
  {{site::site_, order::weaker_}, "/msi", by_cons}, {{site::site_, order::weaker_}, "/sync_locked", by_cons}, \
      {{site::site_, order::weaker_}, "delegated", nothing_left}, {                                           \
    {site::site_, order::weaker_}, "parts", nothing_left                                                      \
  }
constexpr explanation explanations[] = {
    CMDQ_WHERE_LEFT(valid_mark, acq_rel),
    CMDQ_WHERE_LEFT(valid_wait, acq_rel),
    CMDQ_WHERE_LEFT(told_wait, acq_rel),
    CMDQ_WHERE_LEFT(told_store, acq_rel),
    CMDQ_WHERE_LEFT(left_add, acq_rel),
    CMDQ_WHERE_LEFT(left_count, acq_rel),
    CMDQ_WHERE_LEFT(left_take, release),
    CMDQ_WHERE_LEFT(group_open, acq_rel),
    CMDQ_WHERE_LEFT(group_opened, acq_rel),
    CMDQ_WHERE_LEFT(group_hand_over, acq_rel),
    CMDQ_WHERE_LEFT(group_turn, acq_rel),
    {{site::line_leave, order::acq_rel}, "/", line_alone},
    {{site::line_again, order::acq_rel}, "/", line_alone},
    {{site::line_gone, order::acq_rel}, "/", line_alone},
    {{site::line_gone_look, order::acq_rel}, "/", line_alone},
    {{site::told_look, order::relaxed}, "cmpxchg_loop", no_ranges},
    {{site::told_look, order::relaxed}, "owner_bits", no_ranges},
    {{site::told_look, order::relaxed}, "parts", no_ranges},
    {{site::cons_space, order::relaxed}, "parts", one_at_a_time},
    {{site::cons_done, order::relaxed}, "parts", one_at_a_time},
    {{site::cons_look, order::relaxed}, "parts", one_at_a_time},
    {{site::cons_advance, order::relaxed}, "parts", one_at_a_time},
    {{site::cons_space, order::relaxed}, "delegated", looked_before},
    {{site::cons_look, order::relaxed}, "combining/grouped/msi", seldom_from_register},
    {{site::handler_lock, order::relaxed}, "delegated/msi", seldom_from_register},
    {{site::handler_unlock, order::relaxed}, "delegated/msi", seldom_from_register},
    {{site::device_cons_write, order::relaxed}, "delegated/msi", seldom_from_register},
    {{site::device_cons_read, order::relaxed}, "delegated/msi", seldom_from_register},
    {{site::shared_unlock, order::relaxed}, "/sync_locked", lock_only_counts},
    {{site::exclusive_lock, order::relaxed}, "/sync_locked", lock_only_counts},
    {{site::exclusive_unlock, order::relaxed}, "/sync_locked", lock_only_counts},
    {{site::device_cons_write, order::relaxed}, "parts", no_such_device},
    {{site::device_cons_read, order::relaxed}, "parts", no_such_device},
    {{site::device_gerror_write, order::relaxed}, "parts", no_such_device},
    {{site::device_gerror_read, order::relaxed}, "parts", no_such_device},
    {{site::device_ack_write, order::relaxed}, "parts", no_such_device},
    {{site::device_ack_read, order::relaxed}, "parts", no_such_device},
    {{site::device_msi_write, order::relaxed}, "owner_bits/cons", not_by_msi},
    {{site::attach, order::relaxed}, "/", attached_before},
    {{site::detach, order::relaxed}, "/", attached_before},
    {{site::ack_enter, order::relaxed}, "/", one_writer},
    {{site::ack_leave, order::relaxed}, "/", one_writer},
    {{site::cell_use_end, order::relaxed}, "", cell_over},
    {{site::cell_use_look, order::relaxed}, "", cell_over},
    {{site::left_look, order::acq_rel}, "", old_state},
    {{site::left_put, order::acq_rel}, "", old_state},
    {{site::left_take, order::acquire}, "", seq_cst_conditions},
    {{site::left_again, order::relaxed}, "", seq_cst_conditions},
};

}  // namespace

std::string user_of(std::string_view scenario) {
  const auto has = [&](std::string_view part) { return scenario.find(part) != std::string_view::npos; };
  for (const std::string_view s : strategies) {
    if (!has(s)) continue;
    const bool grouped = s == "combining" && has("grouped");
    return std::string(s) + (grouped ? "/grouped" : "") +
           (has("msi")      ? "/msi"
            : has("locked") ? "/sync_locked"
                            : "/cons");
  }
  return "parts";
}

std::span<const rejection> known_rejections() { return rejections; }

std::span<const explanation> known_explanations() { return explanations; }

}  // namespace cmdq::checks
