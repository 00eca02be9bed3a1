// SPDX-License-Identifier: BSL-1.0
// The public face: a queue made from a plan and a device, and producers that insert into it.
#pragma once

#include <cmdq/queue/config.hpp>
#include <cmdq/queue/pieces.hpp>
#include <cmdq/queue/producer.hpp>

namespace cmdq {

/// Many producers, one device. Neither copyable nor movable; memory and device must outlive it.
template <device_type Device, queue_config Config>
class command_queue {
 public:
  using P = typename Config::platform;
  using stats_type = typename Config::stats;
  using ring_type = ring<Device, Config>;
  using who = typename ring_type::who;

  using producer = cmdq::producer<command_queue>;
  using completion_type = completion::state_of<typename Config::completion, P>;

  /// `p` comes from make_plan<Config>(). PROD and CONS of the device must hold options.first. Cost: O(N) stores.
  command_queue(const plan<P>& p, Device& hardware) noexcept
      : ring_(hardware, p), errors_(ring_), sync_(ring_, errors_), allocation_(ring_, sync_) {}
  command_queue(const command_queue&) = delete;
  command_queue& operator=(const command_queue&) = delete;

  /// A producer for the calling thread. Refused: too_many_producers, when options.producers are attached. Wait-free.
  /// Cost: at most one read-modify-write per producer that is attached.
  [[nodiscard]] status attach(producer& out) noexcept {
    for (uint32_t i = 0; i < ring_.opts().producers; ++i) {
      producer_cell<P>& cell = ring_.cell(i);
      if (cell.taken.exchange(1, at<site::attach>) != 0) continue;
      cell.reset();  // what its last owner left untold is nobody's
      out = producer(*this, cell);
      return status::ok;
    }
    return status::too_many_producers;
  }

  /// Looks at the device and handles one error, as an interrupt handler for GERROR would. Bounded; never waits.
  status handle_errors() noexcept {
    stats_type unused{};
    who w{time_budget<P>(0), unused};
    return sync_.look(allocation_, w).code;  // all_errors: GERROR is read whatever CONS shows
  }

  /// After a timeout: resumes once the device has consumed all that it was told. ok, or stalled (not caught up yet), or
  /// device_fault. Nothing is lost or repeated: what was inserted is still in the ring. After a reset of the device,
  /// set its CONS to cons_register() and its PROD to prod_register() first: then what it consumed since software CONS
  /// last moved is executed once more. Handles at most one error of the device per call; never waits.
  status recover() noexcept {
    stats_type unused{};
    who w{time_budget<P>(0), unused};
    uint32_t reg = 0;
    const position told = ring_.told();
    const status s = errors_.handle_again(allocation_, sync_.may_trail(), w);
    if (s != status::ok) return s;
    const sighting seen = ring_.look(allocation_, allocation_.cons(at<site::cons_look>), sync_.may_trail(), w, reg);
    if (seen.code != status::ok) return seen.code;
    if (seen.cons != told || allocation_.claimed() != told || ring_.told() != told) return status::stalled;
    if (sync_.may_trail() && sync_.landed(allocation_.cons(at<site::cons_look>), told) != told) return status::stalled;
    allocation_.advance(told);
    if (!errors_.clear()) return status::stalled;
    if (allocation_.claimed() == told) return status::ok;
    errors_.stall();  // somebody who came in before the stall has claimed meanwhile, and may have timed out again
    return status::stalled;
  }

  /// What CMDQ_PROD and CMDQ_CONS must hold for the device to go on where it stopped.
  [[nodiscard]] uint32_t prod_register() const noexcept { return ring_.shape().to_register(ring_.told()); }
  [[nodiscard]] uint32_t cons_register() const noexcept {
    return ring_.shape().to_register(allocation_.cons(at<site::cons_look>));
  }
  [[nodiscard]] const options& opts() const noexcept { return ring_.opts(); }
  /// The completion policy's own settings, where it has any (completion::automatic).
  [[nodiscard]] completion_type& completion() noexcept { return sync_.completion(); }

 private:
  friend class cmdq::producer<command_queue>;
  friend class writer<command_queue>;
  using sync_type = sync_wait<ring_type, completion_type>;
  using reclaim_type = typename Config::reclaim::template state<P, typename Config::wait>;
  using allocation_type = typename Config::allocation::template state<ring_type, sync_type, reclaim_type>;

  /// Static, so that all arguments travel in registers; one for each kind of end, which saves a tenth of the way.
  template <bool Sync>
  static outcome insert_for(const command* list, uint32_t n, producer& by, uint64_t ns) noexcept {
    if (by.closed_) return {status::invalid_argument};
    return by.queue_->insert_one(list, n, Sync, by, ns);
  }

  [[gnu::always_inline]] outcome insert_one(const command* list, uint32_t n, bool sync, producer& by,
                                            uint64_t ns) noexcept {
    if (n != 1 || list == nullptr || ring_.opts().special()) return insert_pieces(list, n, sync, by, ns);
    const uint8_t op = opcode_of(list->word[0]);
    if (op == opcode_sync) return {status::invalid_argument};
    if (op == opcode_atc_inv) {
      if (by.unsynced_ != 0) return insert_pieces(list, n, sync, by, ns);
      sync = true;
    }
    who w{time_budget<P>(ns), by.stats_};
    reservation r;
    const uint32_t entered = errors_.enter();
    const status in = put(list, 1, intent_of(sync, by), written::at_once, entered, w, by, r);
    if (in != status::ok) return {in};
    const status end = await_own(r, entered, w, by);
    return {end, 1, sync && end == status::ok ? 1U : 0U, 1, r.start};
  }

  [[gnu::noinline]] outcome insert_pieces(const command* list, uint32_t n, bool sync, producer& by,
                                          uint64_t ns) noexcept {
    outcome o;
    if (list == nullptr && n != 0) return give_up(o, status::invalid_argument);
    who w{time_budget<P>(ns), by.stats_};
    while (n != 0 || (sync && o.lists == 0)) {
      const piece next = next_piece(ring_.opts(), list, n, sync);
      if (!next.valid) return give_up(o, next.why);
      const status before = sync_before_atc(list, next.n, w, by, o);
      if (before != status::ok) return give_up(o, before);
      const status s = run(list, next.n, next.sync, w, by, o);
      if (s != status::ok) return give_up(o, s);
      if (next.repeat) {
        const uint32_t once = o.inserted;
        const status again = run(list, next.n, next.sync, w, by, o);
        o.inserted = once;
        if (again != status::ok) return give_up(o, again);
      }
      if (next.sync) o.done = o.inserted;
      list += next.n;
      n -= next.n;
    }
    return o;
  }

  static constexpr outcome give_up(outcome o, status s) noexcept {
    o.code = s;
    return o;
  }

  /// A CMD_SYNC, waited for, between this producer's lists that nobody waited for and ATC invalidations: the ATC may
  /// refill from a TLB entry that is not gone yet (bug L20).
  status sync_before_atc(const command* list, uint32_t n, who& w, producer& by, outcome& o) noexcept {
    const bool needed = by.unsynced_ != 0 && n != 0 && opcode_of(list->word[0]) == opcode_atc_inv;
    return needed ? run(list, 0, true, w, by, o) : status::ok;
  }

  /// Inserts one list and, where it says so, waits for it.
  status run(const command* list, uint32_t n, bool sync, who& w, producer& by, outcome& o) noexcept {
    reservation r;
    const uint32_t entered = errors_.enter();
    const status s = put(list, n, intent_of(sync, by), written::in_group, entered, w, by, r);
    if (s != status::ok) return s;
    if (o.lists == 0) o.first = r.start;
    o.inserted += n;
    ++o.lists;
    return await_own(r, entered, w, by);
  }

  /// Waits for a list that was claimed as waited for, and says what became of it.
  [[gnu::always_inline]] status await_own(const reservation& r, uint32_t entered, who& w, producer& by) noexcept {
    if (!r.waited) return status::ok;
    const uint64_t began = wait_clock();
    const status done = allocation_.complete(r, w);
    if constexpr (stats_type::timed) w.stats.waited_ns(P::now_ns() - began);
    if (done != status::ok) return not_done(done, entered, *by.cell_, r.start, r.end(), sync_end(r));
    if (by.unsynced_ == 0 && !errors_.any_since(entered)) return status::ok;
    return found(entered, by, r.start, r.end(), sync_end(r));
  }

  /// End of what the caller answers for: the CMD_SYNC that an owner puts behind its range is the owner's, too.
  [[gnu::always_inline]] static constexpr position sync_end(const reservation& r) noexcept {
    if constexpr (Config::allocation::needs_range_ends) return r.owner && !r.own_sync ? r.done_at : r.end();
    return r.end();
  }

  /// What went wrong with earlier lists that nobody waited for, or with this one.
  [[gnu::noinline, gnu::cold]] status found(uint32_t entered, producer& by, position start, position end,
                                            position answers_to) noexcept {
    const status before = by.unsynced_ == 0 ? status::ok : verdict_unsynced(by);
    const status s = before == status::ok ? verdict(entered, *by.cell_, start, end, answers_to) : before;
    if (s != status::ok) by.cell_->error.store(0, at<site::cell_error>);  // told
    return s;
  }

  /// What went wrong with a list [start, end) that is done, or with the CMD_SYNC before `answers_to`.
  status verdict(uint32_t entered, const producer_cell<P>& cell, position start, position end,
                 position answers_to) const noexcept {
    if (!errors_.any_since(entered)) return status::ok;
    const status s = errors_.verdict(entered, cell, start, end);
    if (s != status::ok || answers_to == end) return s;
    const status of_sync = errors_.verdict_by_marks(entered, answers_to - 1, answers_to);
    return of_sync == status::expired ? status::ok : of_sync;
  }

  /// What went wrong with earlier lists, which are done by now. Told once.
  status verdict_unsynced(producer& by) const noexcept {
    const status s = errors_.verdict_unsynced(by.unsynced_since_, *by.cell_, by.unsynced_);
    by.unsynced_ = 0;
    return s;
  }

  /// After so many lists that nobody waited for, one is.
  static intent intent_of(bool sync, const producer& by) noexcept {
    return sync || by.unsynced_ == producer_cell<P>::most_unsynced ? intent::waited : intent::unsynced;
  }

  static uint64_t wait_clock() noexcept {
    if constexpr (stats_type::timed)
      return P::now_ns();
    else
      return 0;
  }

  /// Claim, write, publish. On any status but ok nothing of the list is in the ring.
  [[gnu::always_inline]] status put(const command* list, uint32_t n, intent what, written how, uint32_t entered, who& w,
                                    producer& by, reservation& r) noexcept {
    [[maybe_unused]] typename P::critical_section in_here;
    const status s = claim(n, what, how, entered, w, by, r);
    if (s != status::ok) return s;
    w.stats.add(stats::event::list);
    for (uint32_t i = 0; i < n; ++i) ring_.entry(r.start + i).put(list[i]);
    allocation_.publish(r, w);
    return status::ok;
  }

  [[gnu::always_inline]] status claim(uint32_t n, intent what, written how, uint32_t entered, who& w, producer& by,
                                      reservation& r) noexcept {
    if (error_handler<ring_type>::refuses(entered)) return status::stalled;
    const status s = allocation_.reserve(n, what, how, w, r);
    if (s != status::ok) {
      errors_.stall();
    } else if (r.waited) {
      by.cell_->set(by.cell_->waited, r.start, r.end());  // [X] before the list is valid
    } else if (what == intent::unsynced) {
      if (by.unsynced_ == 0) by.unsynced_since_ = entered;
      by.cell_->set(by.cell_->unsynced[by.unsynced_++], r.start, r.end());  // [X] the same
    }
    return s;
  }

  /// A wait that ended without its list being done: the queue says so before the caller can come back with another.
  [[gnu::noinline, gnu::cold]] status not_done(status s, uint32_t entered, producer_cell<P>& cell, position start,
                                               position end, position answers_to) noexcept {
    errors_.stall();
    const status mine = verdict(entered, cell, start, end, answers_to);
    cell.set(cell.waited, end, end);  // nobody will ask again
    return mine == status::ok ? s : mine;
  }

  writer<command_queue> reserve(uint32_t n, bool sync, producer& by) noexcept {
    const options& o = ring_.opts();
    who w{time_budget<P>(o.deadline_ns), by.stats_};
    reservation r;
    const uint32_t entered = errors_.enter();
    status s = status::ok;
    if (n > o.batch_limit) s = status::out_of_range;
    if (n == 0 || o.repeat_invalidations || o.sync_every_batch) s = status::invalid_argument;
    if (s == status::ok) s = claim(n, intent_of(sync, by), written::by_user, entered, w, by, r);
    by.closed_ = s == status::ok;
    return writer<command_queue>(*this, by, s, n, entered, r, w.budget);
  }

  /// Publishes what a writer filled, and waits where it was reserved so.
  status finish(reservation& r, uint32_t entered, who& w, producer& by) noexcept {
    w.stats.add(stats::event::list);
    allocation_.publish(r, w);
    return await_own(r, entered, w, by);
  }

  result<ticket> submit(const command* list, uint32_t n, producer& by) noexcept {
    const options& o = ring_.opts();
    if (n > o.batch_limit) return refusal{status::out_of_range, "commands", n, o.batch_limit};
    if (list == nullptr && n != 0) return refusal{status::invalid_argument, "list", 0, 0};
    if (n != 0) {
      const piece whole = next_piece(o, list, n, true);
      if (!whole.valid) return refusal{whole.why, "list", 0, n};
      if (whole.repeat || whole.n != n) return refusal{status::invalid_argument, "list", whole.n, n};
    }
    who w{time_budget<P>(o.deadline_ns), by.stats_};
    outcome unused;
    status s = sync_before_atc(list, n, w, by, unused);
    reservation r;
    const uint32_t entered = errors_.enter();
    if (s == status::ok) s = put(list, n, intent::ticket, written::in_group, entered, w, by, r);
    if (s != status::ok) return refusal{s, "submit", n, o.batch_limit};
    // A ring too small for lists that nobody waits for: this one is waited for now. poll() finds it done, or says what
    // is wrong, as for any other.
    if (r.waited && allocation_.complete(r, w) != status::ok) {
      errors_.stall();
      by.cell_->set(by.cell_->waited, r.end(), r.end());
    }
    return ticket{r.start, r.closed ? r.done_at : r.end(), r.done_at, entered};
  }

  /// A ticket from behind what is claimed is 2^31 entries old, or older.
  [[nodiscard]] bool too_old(const ticket& t) const noexcept { return !reached(allocation_.claimed(), t.end); }

  status poll(const ticket& t, producer& by) noexcept {
    if (too_old(t)) return status::expired;
    who w{time_budget<P>(0), by.stats_};
    return answer(t, allocation_.check(t.done_at, w));
  }

  status wait(const ticket& t, uint64_t ns, producer& by) noexcept {
    if (too_old(t)) return status::expired;
    who w{time_budget<P>(ns), by.stats_};
    return answer(t, allocation_.await_ticket(t.done_at, w));
  }

  status answer(const ticket& t, status s) noexcept {
    if (s == status::would_block || s == status::timeout) return s;
    const status mine = errors_.verdict_by_marks(t.entered, t.start, t.end);
    return mine == status::ok || (mine == status::expired && s != status::ok) ? s : mine;
  }

  ring_type ring_;
  error_handler<ring_type> errors_;
  sync_type sync_;
  allocation_type allocation_;
};

}  // namespace cmdq
