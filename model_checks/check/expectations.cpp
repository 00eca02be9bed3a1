// SPDX-License-Identifier: BSL-1.0
#include "expectations.hpp"

namespace cmdq::checks {

namespace {

constexpr rejection rejections[] = {
    {{site::valid_mark, order::acq_rel}, "handed_on/cmpxchg_loop"},
    {{site::valid_wait, order::acq_rel}, "handed_on/cmpxchg_loop"},
    {{site::told_wait, order::acq_rel}, "handed_on/cmpxchg_loop"},
    {{site::told_store, order::acq_rel}, "handed_on/cmpxchg_loop"},
    {{site::left_add, order::acq_rel}, "handed_on/cmpxchg_loop"},
    {{site::left_count, order::acq_rel}, "handed_on/cmpxchg_loop"},
    {{site::left_take, order::release}, "handed_on/cmpxchg_loop"},
    {{site::line_leave, order::acq_rel}, "line/two"},
    {{site::line_again, order::acq_rel}, "line/two"},
    {{site::line_gone, order::acq_rel}, "line/two"},
    {{site::line_gone_look, order::acq_rel}, "line/two"},
    {{site::ack_enter, order::relaxed}, "acknowledge/two_ask"},
    {{site::ack_leave, order::relaxed}, "acknowledge/two_ask"},
    {{site::tail_ask, order::acquire}, "tail/owner_and_handler"},
    {{site::tail_ask, order::release}, "tail/owner_and_handler"},
    {{site::tail_leave, order::relaxed}, "tail/owner_and_handler"},
    {{site::tail_limit_store, order::relaxed}, "tail/owner_and_handler"},
    {{site::tail_limit_load, order::relaxed}, "tail/owner_and_handler"},
    {{site::msi_poll, order::relaxed}, "queue/owner_bits/msi32/2x2_late"},
    {{site::handler_lock, order::relaxed}, "queue/cmpxchg_loop/cons/illegal"},
    {{site::handler_unlock, order::relaxed}, "queue/cmpxchg_loop/cons/illegal"},
    {{site::attach, order::relaxed}, "attach/hand_over"},
    {{site::detach, order::relaxed}, "attach/hand_over"},
    {{site::cons_look, order::relaxed}, "queue/cmpxchg_loop/cons/2x2_late"},
    {{site::cons_space, order::relaxed}, "queue/owner_bits/cons/2x2_late"},
    {{site::cons_done, order::relaxed}, "queue/owner_bits/cons/2x2_late"},
    {{site::cons_advance, order::relaxed}, "queue/owner_bits/cons/2x2_late"},
    {{site::told_look, order::relaxed}, "queue/combining/cons/2x2_late"},
    {{site::group_open, order::acq_rel}, "handed_on/patient_leader"},
    {{site::group_opened, order::acq_rel}, "handed_on/patient_leader"},
    {{site::group_hand_over, order::acq_rel}, "handed_on/combining_grouped"},
    {{site::group_turn, order::acq_rel}, "handed_on/combining_grouped"},
    {{site::shared_unlock, order::relaxed}, "lock/sharer_then_exclusive"},
    {{site::exclusive_lock, order::relaxed}, "lock/sharer_then_exclusive"},
    {{site::exclusive_unlock, order::relaxed}, "lock/exclusive_then_exclusive"},
    {{site::park_fence, order::acq_rel}, "park/one_sleeper"},
    {{site::wake_fence, order::acq_rel}, "park/one_sleeper"},
    {{site::device_prod_write, order::relaxed}, "queue/owner_bits/cons/2x2_late"},
    {{site::device_prod_read, order::relaxed}, "queue/owner_bits/cons/2x2_late"},
    {{site::device_cons_write, order::relaxed}, "queue/owner_bits/cons/2x2_late"},
    {{site::device_cons_read, order::relaxed}, "queue/owner_bits/cons/2x2_late"},
    {{site::device_gerror_write, order::relaxed}, "queue/cmpxchg_loop/cons/illegal"},
    {{site::device_gerror_read, order::relaxed}, "queue/cmpxchg_loop/cons/illegal"},
    {{site::device_ack_write, order::relaxed}, "queue/cmpxchg_loop/cons/illegal"},
    {{site::device_ack_read, order::relaxed}, "queue/cmpxchg_loop/cons/illegal"},
    {{site::device_control_write, order::relaxed}, "device/switched_on"},
    {{site::device_control_read, order::relaxed}, "device/switched_on"},
    {{site::device_msi_write, order::relaxed}, "queue/owner_bits/msi32/2x2_late"},
    {{site::device_kick, order::relaxed}, "device/inline"},
    {{site::device_kick_look, order::relaxed}, "device/inline"},
    {{site::device_rest, order::relaxed}, "device/inline"},
    {{site::dma_lock, order::relaxed}, "dma/lock"},
    {{site::dma_unlock, order::relaxed}, "dma/lock"},
    {{site::unmap_fence, order::acq_rel}, "dma/flush_covers_unmap"},
    {{site::flush_fence, order::acq_rel}, "dma/flush_covers_unmap"},
    {{site::flush_look, order::relaxed}, "dma/timer_armed"},
    {{site::flush_begin, order::relaxed}, "dma/timer_armed"},
    {{site::flush_done, order::relaxed}, "dma/flush_released_elsewhere"},
    {{site::flush_check, order::relaxed}, "dma/flush_released_elsewhere"},
    {{site::gate_enter, order::relaxed}, "dma/gate_closed"},
    {{site::gate_leave, order::relaxed}, "dma/gate_closed"},
    {{site::gate_wait, order::relaxed}, "dma/gate_closed"},
    {{site::gate_open, order::relaxed}, "dma/gate_closed"},
    {{site::slot_own, order::relaxed}, "dma/slot_handed_on"},
    {{site::slot_leave, order::relaxed}, "dma/slot_handed_on"},
    {{site::atc_attach_fence, order::acq_rel}, "dma/atc_attached"},
    {{site::atc_look_fence, order::acq_rel}, "dma/atc_attached"},
    {{site::lazy_publish, order::relaxed}, "dma/lazy_switched_on"},
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
constexpr explanation explanations[] = {
    {{site::cell_use_end, order::relaxed}, cell_over},       {{site::cell_use_look, order::relaxed}, cell_over},
    {{site::left_look, order::acq_rel}, old_state},          {{site::left_put, order::acq_rel}, old_state},
    {{site::left_take, order::acquire}, seq_cst_conditions}, {{site::left_again, order::relaxed}, seq_cst_conditions},
};

}  // namespace

std::span<const rejection> known_rejections() { return rejections; }

std::span<const explanation> known_explanations() { return explanations; }

}  // namespace cmdq::checks
