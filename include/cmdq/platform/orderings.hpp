// SPDX-License-Identifier: BSL-1.0
// THE table of ordering sites. Every atomic access of the library names a row here instead of a memory order. A row
// says which order, with which row it pairs, and what would be seen without it. `cmdq-check orderings` weakens each
// row one step and shows the scenario that rejects the weaker one. Edges carry letters, named at both ends:
//   [E] entries:   write_entry      -> valid_mark   => valid_wait   -> PROD write
//   [T] turn:      PROD write       -> told_store   => told_wait    -> next PROD write
//   [G] groups:    place stored     -> group_open   => group_opened -> place read;
//                  then by [E]      -> group_hand_over => group_turn -> next place stored
//   [D] device:    PROD write (release) => device's fetch;  device's CONS write => cons_register read (acquire)
//   [S] space:     CONS read        -> cons_advance => cons_space   -> entry overwritten
//   [C] completion: effects         -> CONS / MSI   => caller returns
//   [L] limit:     limit_store      -> PROD write   => CONS read    -> limit_load
//   [F] flush:     unmap_fence / flush_fence, flush_done => flush_check -> IOVA reused
//   [A] ATCs:      stream attached, atc_attach_fence / page table cleared, atc_look_fence
//   [H] handed on: condition made true -> left_count;  left_add -> condition looked at again (Dekker)
//   [M] mailboxes: list written     -> mailbox_fill => mailbox_take -> list copied -> placed_store => placed_look
//                  -> next list written;  combiner_let_go => combiner_take
//   [X] errors:    error mark       -> health_error => health_check -> marks read
#pragma once

namespace cmdq {

/// Memory orders by name: the enums of std, Boost and Relacy differ.
enum class order : unsigned char { relaxed, acquire, release, acq_rel, seq_cst };

// X(site, order, partner, why, without)
#define CMDQ_ORDERING_SITES(X) \
  CMDQ_SITES_RING(X)           \
  CMDQ_SITES_LEFT(X)           \
  CMDQ_SITES_ALLOCATION(X)     \
  CMDQ_SITES_DELEGATED(X) CMDQ_SITES_LOCKS(X) CMDQ_SITES_WAIT(X) CMDQ_SITES_DEVICE(X) CMDQ_SITES_DMA(X)

// clang-format off
#define CMDQ_SITES_RING(X)                                                                                            \
  X(setup, relaxed, "-", "before any other thread knows the queue", "-")                                              \
  X(entry_word0, relaxed, "valid_mark", "entries travel under edge [E]; atomic only because a late MSI poller may "   \
    "still look at a slot that a later lap overwrites", "-")                                                          \
  X(valid_mark, seq_cst, "valid_wait, left_count", "[E] who sees the mark sees the entry; [H] then the look at what is left", "device fetches an old entry; a duty that was left is finished by nobody")         \
  X(valid_wait, seq_cst, "valid_mark", "[E] owner's PROD write comes after the entries; [H] after left_add", "device fetches an old entry; a duty that was left is finished by nobody") \
  X(told_wait, seq_cst, "told_store", "[T] one PROD writer at a time, in ring order; [H] after left_add", "PROD goes back; a duty that was left is finished by nobody")               \
  X(told_store, seq_cst, "told_wait, left_count", "[T] hands the turn over after PROD is written; [H] then the look at what is left", "PROD goes back; a duty that was left is finished by nobody")              \
  X(limit_store, relaxed, "limit_load", "[L] carried by the PROD write, itself a release", "-")                       \
  X(limit_load, relaxed, "limit_store", "[L] carried by the CONS read, itself an acquire", "-")                       \
  X(msi_poll, acquire, "device completion write", "[C] what the device did is visible to who saw its sync done",      \
    "stale data after a completed sync")                                                                              \
  X(msi_void, relaxed, "-", "after an aborted MSI; protects nothing: CONS is what counts then", "-")                  \
  X(done_word_reset, relaxed, "msi_poll", "[E] before the sync command that names it is valid", "-")                   \
  X(health_enter, relaxed, "health_error", "fail-fast only; a late look costs one call", "-")                         \
  X(health_check, relaxed, "health_error", "[X] carried by the completion that the error's repair allowed", "-")      \
  X(health_error, relaxed, "health_check", "[X] carried by GERRORN's write, itself a release", "-")                   \
  X(completion_mode, relaxed, "completion_mode", "how the next CMD_SYNC is written; who waits asks the entry itself", "-") \
  X(health_stall, relaxed, "health_enter", "a flag; protects nothing", "-")                                           \
  X(retired, relaxed, "-", "stored before the device is disabled; a later look at its registers carries it", "-") \
  X(mark_store, relaxed, "mark_load", "[X] carried by GERRORN's write", "-")                                          \
  X(mark_load, relaxed, "mark_store", "[X] carried by the completion", "-")                                           \
  X(error_settled, relaxed, "-", "a hint that saves register reads; GERROR is read in time all the same", "-") \
  X(ack_ask, relaxed, "ack_leave", "bits only; the registers are read by whoever writes them", "-") \
  X(ack_enter, acquire, "ack_leave", "one writer of GERRORN at a time", "an acknowledgement is undone") \
  X(ack_leave, release, "ack_enter", "one writer of GERRORN at a time", "an acknowledgement is undone") \
  X(tail_ask, acq_rel, "tail_ask, tail_leave", "[T] the word that was left is seen with its limit; one writer at a time", "the register goes back; the last limit is told by nobody") \
  X(tail_limit_store, release, "tail_limit_load", "[E] who writes the register for another tells of entries that it sees", "the device is told of entries that are not there") \
  X(tail_limit_load, acquire, "tail_limit_store", "[E] who writes the register for another tells of entries that it sees", "the device is told of entries that are not there") \
  X(tail_leave, release, "tail_ask", "one writer of the register at a time", "the register goes back") \
  X(cell_use, relaxed, "cell_use_look", "its own producer's stores; others read it after device_fault only", "-") \
  X(cell_use_end, release, "attach", "what is owed is known to who takes the cell over", "debt of a producer that is gone, read half written") \
  X(cell_use_look, acquire, "cell_use_end", "see cell_use_end", "see cell_use_end") \
  X(cell_list, relaxed, "cell_look", "[X] carried by [E] and the PROD write, as the list itself is", "-")             \
  X(cell_look, relaxed, "cell_list", "[X] carried by the CONS read that showed the error", "-")                       \
  X(cell_error, relaxed, "cell_verdict", "[X] carried by GERRORN's write", "-")                                       \
  X(cell_verdict, relaxed, "cell_error", "[X] carried by the completion", "-")                                        \
  X(handler_lock, acquire, "handler_unlock", "one error handler at a time", "error handled twice")                    \
  X(handler_unlock, release, "handler_lock", "one error handler at a time", "error handled twice")

#define CMDQ_SITES_LEFT(X) \
  X(left_add, seq_cst, "left_count", "[H] counted before its condition is looked at again", "a duty that was left is finished by nobody") \
  X(left_count, seq_cst, "left_add", "[H] looked at after the condition was made true", "a duty that was left is finished by nobody") \
  X(left_look, seq_cst, "left_put", "who sees it finished sees what became of it; [H] looked at after the condition was made true", "debt read half written; a duty that was left is finished by nobody") \
  X(left_put, seq_cst, "left_take, left_look", "the duty is written before it can be taken; [H] put before its condition is looked at again", "duty read half written; a duty that was left is finished by nobody") \
  X(left_take, acq_rel, "left_put, left_again", "the duty is read after it was taken; what made its condition true comes before the mark", "duty read half written") \
  X(left_again, acquire, "left_take", "the condition is looked at again after the mark", "a duty that was left is finished by nobody") \
  X(look_time, relaxed, "-", "who looks at the device next; protects nothing", "-") \
  X(line_look, relaxed, "-", "a guess; in line by line_turn", "-") \
  X(line_enter, relaxed, "line_leave", "places only", "-") \
  X(line_turn, relaxed, "line_leave", "whose turn it is; space is checked by cons_space", "-") \
  X(line_leave, seq_cst, "line_gone_look", "[H] the turn is handed on, then the look at who has gone", "the line stands still") \
  X(line_again, seq_cst, "line_gone", "[H] counted before the look at whose turn it is", "the line stands still") \
  X(line_mark, relaxed, "line_mark_look", "carried by line_gone; taken by compare-exchange", "-") \
  X(line_mark_look, relaxed, "line_mark", "see line_mark", "-") \
  X(line_gone, seq_cst, "line_gone_look", "[H] see line_again", "the line stands still") \
  X(line_gone_look, seq_cst, "line_gone", "[H] see line_leave", "the line stands still")

#define CMDQ_SITES_ALLOCATION(X)                                                                                      \
  X(attach, acquire, "detach", "a cell passes from one producer to the next", "two producers write one cell")                                                    \
  X(attach_look, relaxed, "detach", "is the producer gone? Its untold error comes by the cell's own edges", "-") \
  X(detach, release, "attach", "a cell passes from one producer to the next", "two producers write one cell")        \
  X(claim_look, relaxed, "claim", "a guess that the compare-exchange or the space check confirms", "-")               \
  X(claim_packed, relaxed, "gather_close", "positions only; space is checked by cons_space before it", "-") \
  X(claim_add, relaxed, "gather_close", "positions only; space is checked by cons_space. A producer's claims on a group's word and on the ring's are in order because a claim's value decides the next access (no load buffering, as in RC11 and on Armv8)", "-")                        \
  X(gather_close, relaxed, "claim", "fixes the range; its entries come under [E]", "-")                               \
  X(cons_look, acquire, "cons_advance", "[S] base for reading CONS: the register is read later",                      \
    "CONS reconstructed from a base younger than the register")                                                       \
  X(cons_space, acquire, "cons_advance", "[S] device is done with the slots", "entry overwritten too early")          \
  X(cons_done, acquire, "cons_advance", "[C] announced completion", "stale data after a completed sync")              \
  X(cons_advance, release, "cons_space, cons_done", "[S][C] passes on what the CONS or MSI read showed", \
    "entry overwritten too early")                                                                                    \
  X(cons_retry, relaxed, "cons_advance", "expected value of the compare-exchange", "-")                               \
  X(group_open, seq_cst, "group_opened, left_count", "[H][G][S] members read where they are, and write to entries that their leader saw free", "place of another claim; entry overwritten too early") \
  X(group_opened, seq_cst, "group_open", "[H][G][S] see group_open", "see group_open") \
  X(group_look, relaxed, "group_open", "reads back the leader's own store", "-") \
  X(group_hand_over, seq_cst, "group_turn, left_count", "[H][G] the members of a claim have read their places before the next leader writes others", "a list written in another's place") \
  X(group_turn, seq_cst, "group_hand_over", "[H][G] see group_hand_over", "a list written in another's place") \
  X(range_end_store, relaxed, "range_end_load", "carried by [T]", "-")                                                \
  X(range_end_load, relaxed, "range_end_store", "carried by [T]", "-")                                                \
  X(told_look, acquire, "told_store", "[T] range ends up to here are written", "range end of a lap ago")

#define CMDQ_SITES_DELEGATED(X) \
  X(mailbox_reset, relaxed, "-", "carried by mailbox_fill and placed_store", "-") \
  X(mailbox_note, relaxed, "-", "carried by mailbox_take and placed_look; before the list is taken a guess", "-") \
  X(mailbox_fill, release, "mailbox_take", "[M] who sees the bit sees the list", "a list is placed half written") \
  X(mailbox_look, relaxed, "-", "a guess that mailbox_take confirms", "-") \
  X(mailbox_wanted, relaxed, "-", "a hint: who waits to be placed tries to combine from time to time", "-") \
  X(mailbox_take, acquire, "mailbox_fill", "[M] the list is read after it was taken", "a list is placed half written") \
  X(mailbox_give_back, relaxed, "-", "nothing of the list was read; who takes it next sees it by mailbox_fill, whose release sequence this continues", "-") \
  X(mailbox_take_back, relaxed, "-", "who clears the bit has the list, and its producer wrote it", "-") \
  X(combiner_look, relaxed, "-", "a guess that combiner_take confirms", "-") \
  X(combiner_take, acquire, "combiner_let_go", "[M] one combiner at a time, and what it left is seen", "PROD goes back; an entry is overwritten") \
  X(combiner_move, relaxed, "claim_look", "carried by placed_store: no ticket is from behind what is claimed", "-") \
  X(combiner_let_go, release, "combiner_take", "[M] see combiner_take", "see combiner_take") \
  X(placed_store, release, "placed_look", "[M] the list is copied, and its CMD_SYNC's range told, before its producer goes on", "a list overwritten while it is copied") \
  X(placed_look, acquire, "placed_store", "[M] see placed_store; [X] in handle(): its producer's earlier lists are in its cell", "see placed_store")

#define CMDQ_SITES_LOCKS(X)                                                                                           \
  X(shared_lock, relaxed, "exclusive_lock", "only counts; what it protects is ordered by [E] and [S]", "-")           \
  X(shared_wait, relaxed, "exclusive_unlock", "waiting to be counted in", "-")                                        \
  X(shared_last, relaxed, "shared_lock", "last-sharer test", "-")                                                     \
  X(shared_unlock, release, "exclusive_lock", "the sharer's last look comes before the space is given back",          \
    "lapped under a sync")                                                                                            \
  X(exclusive_lock, acquire, "shared_unlock", "see shared_unlock", "lapped under a sync")                             \
  X(exclusive_unlock, release, "exclusive_lock", "the next exclusive holder sees what this one did", "two holders at once, seen from the data")

#define CMDQ_SITES_WAIT(X)                                                                                            \
  X(sleepers_add, relaxed, "sleepers_look", "[W] ordered by the fences park_fence / wake_fence", "-")                 \
  X(sleepers_look, relaxed, "sleepers_add", "[W] ordered by the fences park_fence / wake_fence", "-")                 \
  X(park_fence, seq_cst, "wake_fence", "[W] either the sleeper sees the new value or the waker sees the sleeper",     \
    "lost wake-up")                                                                                                   \
  X(wake_fence, seq_cst, "park_fence", "[W] either the sleeper sees the new value or the waker sees the sleeper",     \
    "lost wake-up")

// The device's own accesses (cmdq/model). They stand for the barriers of a real register block and bus, so that a
// checker sees the same edges; real hardware has them outside the C++ memory model.
#define CMDQ_SITES_DEVICE(X)                                                                                          \
  X(device_prod_write, release, "device_prod_read", "[D] write_prod() carries the barrier before a register write",   \
    "device fetches an old entry")                                                                                    \
  X(device_prod_read, acquire, "device_prod_write", "[D] the fetch comes after PROD was seen",                        \
    "device fetches an old entry")                                                                                    \
  X(device_fetch, relaxed, "device_prod_read", "carried by [D]", "-")                                                 \
  X(device_cons_write, release, "device_cons_read", "[D][C] effects and the fetch come before CONS moves",            \
    "entry overwritten while it is fetched")                                                                          \
  X(device_cons_read, acquire, "device_cons_write", "[D][C] read_cons() carries the barrier after a register read",   \
    "entry overwritten while it is fetched")                                                                          \
  X(device_gerror_write, release, "device_gerror_read", "[X] CONS.ERR is set before GERROR says so",                  \
    "error seen with the code of an older one")                                                                       \
  X(device_gerror_read, acquire, "device_gerror_write", "[X] CONS.ERR is read after GERROR",                          \
    "error seen with the code of an older one")                                                                       \
  X(device_ack_write, release, "device_ack_read", "[X] the repaired entry is visible before the acknowledgement",     \
    "device fetches the bad entry again")                                                                             \
  X(device_ack_read, acquire, "device_ack_write", "[X] the fetch comes after the acknowledgement",                    \
    "device fetches the bad entry again")                                                                             \
  X(device_control_write, release, "device_control_read", "CR0 and CR0ACK: set-up comes before the switch",           \
    "device runs with an old CMDQ_BASE")                                                                              \
  X(device_control_read, acquire, "device_control_write", "CR0 and CR0ACK: set-up comes before the switch",           \
    "device runs with an old CMDQ_BASE")                                                                              \
  X(device_msi_write, release, "msi_poll", "[C] effects come before the completion word",                             \
    "stale data after a completed sync")                                                                              \
  X(device_msi_look, relaxed, "device_msi_write", "expected value of the compare-exchange", "-")                      \
  X(device_hold, relaxed, "-", "a test's switch; protects nothing", "-")                                              \
  X(device_kick, release, "device_kick_look", "inline device: the kicker's register write; the last consumer's state comes by device_kick_look, which reads this or a later kick", "command left in the ring")                                                                                          \
  X(device_kick_look, acquire, "device_kick", "inline device: the kicker's register write is seen", "command left in the ring") \
  X(device_rest, release, "device_kick", "inline device: hands the consumer's state to the next one", "two consumers at once")

#define CMDQ_SITES_DMA(X) \
  X(dma_lock, acquire, "dma_unlock", "what the lock protects is seen by its next holder", "magazine or flush ring seen half written") \
  X(dma_lock_wait, relaxed, "dma_unlock", "a guess that the exchange confirms", "-") \
  X(dma_unlock, release, "dma_lock", "what the lock protects is seen by its next holder", "magazine or flush ring seen half written") \
  X(table_set, relaxed, "table_walk", "the device learns the address by its own doorbell, which orders; an entry points to no other", "-") \
  X(table_clear, relaxed, "table_walk", "[F] carried by the invalidation's PROD write, or by unmap_fence", "-") \
  X(table_walk, relaxed, "table_set", "what a walk may still find is what the invalidation is for", "-") \
  X(unmap_fence, seq_cst, "flush_fence", "[F] either the unmap sees the flush begun or the flush's invalidation comes after the clear", "IOVA reused although its only flush began before the page-table clear") \
  X(flush_fence, seq_cst, "unmap_fence", "[F] see unmap_fence", "see unmap_fence") \
  X(flush_look, acquire, "flush_begin", "who is left to the next flush sees that the timer has fired and arms it again", "last unmaps of a burst never flushed") \
  X(flush_begin, release, "flush_look", "see flush_look", "see flush_look") \
  X(flush_done, release, "flush_check", "[F] an IOVA is given out again only after the invalidation", "stale translation for the IOVA's next user") \
  X(flush_check, acquire, "flush_done", "[F] see flush_done", "see flush_done") \
  X(timer_look, relaxed, "timer_arm", "only whether to arm; a stale 'armed' cannot be read after flush_look", "-") \
  X(timer_arm, relaxed, "timer_look", "the entry it is armed for comes under the ring's lock", "-") \
  X(timer_fire, relaxed, "timer_look", "carried by flush_begin", "-") \
  X(gate_enter, acquire, "gate_open", "callers and the closed bit are one word; who comes in after resume() sees what it did before", "queue used before it is back") \
  X(gate_leave, release, "gate_wait", "a call's last access comes before the gate is found empty", "use after destruction, or of a device without power") \
  X(gate_look, relaxed, "gate_close", "fail-fast only: who looks does not use the device", "-") \
  X(gate_close, relaxed, "gate_enter", "callers and the closed bit are one word: one of the two sees the other", "-") \
  X(gate_wait, acquire, "gate_leave", "see gate_leave", "see gate_leave") \
  X(gate_open, release, "gate_enter", "see gate_enter", "see gate_enter") \
  X(slot_look, relaxed, "slot_leave", "a guess that the exchange confirms", "-") \
  X(slot_own, acquire, "slot_leave", "a producer passes from one call to the next", "two calls use one producer") \
  X(slot_leave, release, "slot_own", "see slot_own", "see slot_own") \
  X(atc_attach, relaxed, "atc_look", "[A] ordered by the fences atc_attach_fence / atc_look_fence", "-") \
  X(atc_look, relaxed, "atc_attach", "[A] ordered by the fences atc_attach_fence / atc_look_fence", "-") \
  X(atc_attach_fence, seq_cst, "atc_look_fence", "[A] either the invalidation names the stream or its device walks after the clear", "stale translation in the ATC of a device attached meanwhile") \
  X(atc_look_fence, seq_cst, "atc_attach_fence", "[A] see atc_attach_fence", "see atc_attach_fence") \
  X(lazy_publish, release, "lazy_look", "who defers sees the flush queue set up", "unmap on a queue half set up") \
  X(lazy_look, relaxed, "lazy_publish", "the flush queue is used only behind unmap_fence or flush_fence, which acquire", "-") \
  X(dma_count, relaxed, "dma_count", "statistics", "-")
// clang-format on

/// One enumerator per row.
enum class site : unsigned char {
#define CMDQ_SITE_ENUM(site_, order_, partner_, why_, without_) site_,
  CMDQ_ORDERING_SITES(CMDQ_SITE_ENUM)
#undef CMDQ_SITE_ENUM
      count
};

struct ordering_row {
  const char* name;
  order required;
  const char* partner;
  const char* why;
  const char* without;
};

inline constexpr ordering_row ordering_table[] = {
#define CMDQ_SITE_ROW(site_, order_, partner_, why_, without_) {#site_, order::order_, partner_, why_, without_},
    CMDQ_ORDERING_SITES(CMDQ_SITE_ROW)
#undef CMDQ_SITE_ROW
};

constexpr order order_of(site s) noexcept { return ordering_table[static_cast<unsigned>(s)].required; }

/// A site as a type, so that its order is a constant at every optimisation level.
template <site S>
struct at_site {
  static constexpr site id = S;
  static constexpr order required = order_of(S);
};

/// `word.load(at<site::valid_wait>)` names the row an access obeys.
template <site S>
inline constexpr at_site<S> at{};

}  // namespace cmdq
