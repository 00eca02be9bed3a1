// SPDX-License-Identifier: BSL-1.0
// The public face: a queue made from a plan and a device, and producers that insert into it.
#pragma once

#include <cmdq/allocation/required.hpp>
#include <cmdq/queue/config.hpp>
#include <cmdq/queue/pieces.hpp>
#include <cmdq/queue/producer.hpp>

namespace cmdq {

/// Is no MSI under way any more? Only the user can know: see command_queue::recover().
enum class msis : uint8_t { may_come, none_under_way };

/// What take_back() found.
struct gone_report {
  uint32_t cells = 0;  ///< taken back now: free as soon as they are settled
  uint32_t owing = 0;  ///< of those of now and before, not settled yet
};

template <class Queue>
class inspector;  // dump.hpp

/// Many producers, one device. Neither copyable nor movable; memory and device must outlive it. Holds no addresses:
/// with its memory and device in one block it works in each process that has mapped that, wherever (see offset_ptr).
template <ring_device Device, class Config>
class command_queue {
  static_assert(config_check<Config>::ok);
  static_assert(Config::family::template drives<Device>,
                "device: it lacks a register access that the family lists in its device_type.hpp");
  static_assert(detail::sees_completion<Config>());

 public:
  using family = typename Config::family;
  using command = typename family::command;
  using P = typename Config::platform;
  using stats_type = typename Config::stats;
  using ring_type = ring<Device, Config>;
  using who = typename ring_type::who;

  using producer = cmdq::producer<command_queue>;
  using completion_type = completion::state_of<typename Config::completion, P>;

  /// `p` comes from make_plan<Config>(). The device's two registers must hold options.first. Cost: O(N) stores.
  command_queue(const plan<P, family>& p, Device& hardware) noexcept
      : ring_(hardware, p), errors_(ring_), sync_(ring_), allocation_(ring_) {
    static_assert(sizeof *this == sizeof ring_ + sizeof errors_ + sizeof sync_ + sizeof allocation_,
                  "parts find each other by their sizes");
  }
  command_queue(const command_queue&) = delete;
  command_queue& operator=(const command_queue&) = delete;

  /// A producer for the calling thread. Errors: too_many_producers, when options.producers are attached; would_block,
  /// when all that is free is what a producer left behind that timed out, and is not settled yet: later. Never waits.
  /// Cost: at most one read-modify-write per producer that is attached, and a look at the device per cell in debt.
  /// On a process_platform a cell whose process is gone is taken back first, where no other is free: see take_back().
  [[nodiscard]] status attach(producer& out) noexcept {
    if (ring_.retired()) return status::device_fault;
    status s = attach_free(out);
    if constexpr (process_platform<P>) {
      if (s == status::ok) return s;
      const gone_report found = take_back();
      if (found.cells != 0) s = attach_free(out);
      if (found.owing != 0 && s == status::too_many_producers) s = status::would_block;
    }
    return s;
  }

  /// Takes back the cells of producers whose process is gone. One that ended between two calls is free at once; one
  /// that ended inside a call when the device has consumed all that it can have claimed, which attach() looks at. What
  /// it claimed and did not publish is a hole that nobody can fill: then `owing` stays above 0 and others' calls end by
  /// their budgets, until the queue is rebuilt (see retire()). With allocation::delegated a list that nobody took yet
  /// is taken out of its mailbox, and only a combiner leaves a hole. Never waits. Any producer, any process, any number
  /// at a time. Cost: P::process_gone() per producer that is attached.
  gone_report take_back() noexcept requires process_platform<P> {
    gone_report report;
    for (uint32_t i = 0; i < ring_.opts().producers; ++i) {
      producer_cell<P>& cell = ring_.cell(i);
      uint64_t had = cell.taken.load(at<site::attach_look>);
      const bool gone = had != 0 && P::process_gone(had);
      if (!gone && (had != 0 || cell.use.load(at<site::cell_use_look>) != in_use::gone)) continue;
      if (!cell.taken.compare_exchange(had, P::process(), at<site::attach>)) continue;
      const bool back = end_for_gone(cell);
      const bool settled = back && is_settled(cell);
      if (settled) cell.reset();
      if (gone && back) ++report.cells;
      if (!settled) ++report.owing;
      cell.taken.store(back ? 0 : had, at<site::detach>);
    }
    return report;
  }

  /// The end of this queue, before another one takes its device over. All its calls end with device_fault, at the
  /// latest with their budgets, and nobody writes PROD any more, except a thread that is stopped right before that
  /// write. For when somebody will never go on and what it claimed blocks all others. Step by step, on an SMMUv3:
  ///  1. retire();
  ///  2. CR0.CMDQEN = 0, and wait until CR0ACK shows it: the device fetches nothing more from the old memory;
  ///  3. make sure, where that is possible, that who was stopped never goes on (a process: SIGKILL, and wait for it);
  ///  4. a new queue on fresh memory, with options.first = F;
  ///  5. CMDQ_BASE of that memory, CMDQ_PROD = CMDQ_CONS = F, GERRORN = GERROR (smmuv3::device::bring_up() does 2 and
  ///  5);
  ///  6. CR0.CMDQEN = 1, and wait for CR0ACK; producers attach to the new queue.
  /// The old memory, and the old queue object, are left alone until the user knows that nobody writes there any more.
  /// What the device has not consumed by step 2 is not executed: it is of calls that have not returned ok, of tickets
  /// and of insert()s that nobody waited for. Their producers issue it again; where one of them is gone, invalidate all
  /// (CFGI_ALL, TLBI_NSNH_ALL). If who was stopped may still go on after step 6, its one PROD write reaches the new
  /// queue, and that one has to be rebuilt once more.
  void retire() noexcept {
    ring_.retire();
    errors_.fail();
  }

  /// Looks at the device and handles one error, as an interrupt handler for errors would. Bounded; never waits. Only
  /// the queue's own bits (SMMUv3: CMDQ_ERR, MSI_CMDQ_ABT) are acknowledged; `others` are the driver's: see
  /// acknowledge().
  error_report handle_errors() noexcept {
    stats_type unused{};
    who w{time_budget<P>(0), unused};
    uint32_t reg = 0;
    const sighting seen = ring_.look(allocation_, allocation_.cons(at<site::cons_look>), sync_.may_trail(), w, reg);
    if (seen.code != status::ok) errors_.fail();
    error_report report = errors_.handle(allocation_, sync_.may_trail(), family::error_code(reg), w);
    report.left = errors_.abandoned();
    return report;
  }

  /// Error bits that are active now, the queue's and the driver's. A register read or two.
  [[nodiscard]] uint32_t pending_errors() noexcept { return errors_.protocol().pending(ring_.device()); }

  /// For the driver, where the family's error register is read, changed and written (SMMUv3: GERRORN): acknowledges
  /// those of `bits` that are active and are not the queue's own. All its writers go through here; nobody waits: who
  /// finds another one inside leaves word to it. From any context, also from an interrupt that interrupted a call of
  /// this queue.
  void acknowledge(uint32_t bits) noexcept requires requires(typename family::template errors<P> e, Device& d) {
    e.acknowledge(d, 0);
  }
  { errors_.protocol().acknowledge(ring_.device(), bits); }

  /// For a device that failed (device_fault) or was reset; a time-out needs none of it. ok: the device has consumed all
  /// that it was told, and calls go on. Never while a call is inside or a writer is open, nor while the device has not
  /// caught up: stalled, call again. device_fault: it still fails. Nothing is lost or repeated: what was inserted is
  /// still in the ring. After a reset of the device, set its CONS to cons_register() and its PROD to prod_register()
  /// first: then what it consumed since software CONS last moved is executed once more.
  /// Who may call it: whoever resets the device, one at a time, when calls have begun to return device_fault. Others
  /// meanwhile get device_fault, and from then on what they ask for. `m`: none_under_way where the device was reset or
  /// can write no MSI any more, so that those which never came need not be waited for. Handles at most one error of the
  /// device per call; never waits.
  status recover(msis m = msis::may_come) noexcept {
    if (ring_.retired()) return status::device_fault;
    stats_type unused{};
    who w{time_budget<P>(0), unused};
    uint32_t reg = 0;
    if (somebody_inside()) return status::stalled;
    if (allocation_.anything_left()) allocation_.help(w);
    const position told = ring_.told();
    const error_report handled = errors_.handle_again(allocation_, sync_.may_trail(), w);
    if (handled.code != status::ok) return handled.code;
    if (handled.again) return status::stalled;
    const sighting seen = ring_.look(allocation_, allocation_.cons(at<site::cons_look>), sync_.may_trail(), w, reg);
    if (seen.code != status::ok) return seen.code;
    if (delegates && allocation_.anything_left()) return status::stalled;  // no room yet, or a combiner is late
    if (seen.cons != told || allocation_.claimed() != told || ring_.told() != told) return status::stalled;
    if (m == msis::none_under_way) errors_.void_words(told);
    if (sync_.may_trail() && sync_.landed(allocation_.cons(at<site::cons_look>), told) != told) return status::stalled;
    allocation_.offer(told);
    if (somebody_inside() || !errors_.clear()) return status::stalled;
    return status::ok;
  }

  /// What CMDQ_PROD and CMDQ_CONS must hold for the device to go on where it stopped.
  [[nodiscard]] uint32_t prod_register() const noexcept {
    return ring_type::positions::to_register(ring_.shape(), ring_.told());
  }
  [[nodiscard]] uint32_t cons_register() const noexcept {
    return ring_type::positions::to_register(ring_.shape(), allocation_.cons(at<site::cons_look>));
  }
  [[nodiscard]] const options_for<family>& opts() const noexcept { return ring_.opts(); }
  /// The completion policy's own settings, where it has any (completion::automatic).
  [[nodiscard]] completion_type& completion() noexcept { return sync_.completion(); }

 private:
  friend class cmdq::producer<command_queue>;
  friend class writer<command_queue>;
  friend class inspector<command_queue>;
  using sync_type = sync_wait<ring_type, completion_type>;
  using reclaim_type = typename Config::reclaim::template state<P, typename Config::wait>;
  static constexpr bool delegates = Config::allocation::delegates;
  using allocation_type = typename Config::allocation::template state<ring_type, sync_type, reclaim_type>;
  static_assert(allocation::required<allocation_type, ring_type>::ok);

  /// Static, so that all arguments travel in registers; one for each kind of end, which saves a tenth of the way.
  template <bool Sync>
  static outcome insert_for(const command* list, uint32_t n, producer& by, uint64_t ns) noexcept {
    if (by.queue_ == nullptr) return {status::invalid_argument};
    return by.queue_->insert_one(list, n, Sync, by, ns);
  }

  [[gnu::always_inline]] outcome insert_one(const command* list, uint32_t n, bool sync, producer& by,
                                            uint64_t ns) noexcept {
    if (n != 1 || list == nullptr || ring_.special() || by.cell_->use.load(at<site::cell_use>) != in_use::idle)
      return insert_pieces(list, n, sync, by, ns);
    const command c = family::own_copy(*list);
    if (family::is_sync(c)) return {status::invalid_argument};
    if (family::answers_at_sync(c)) {
      if (by.owes_sync()) return insert_pieces(list, n, sync, by, ns);
      sync = true;
    }
    by.cell_->use.store(in_use::inside, at<site::cell_use>);
    who w{time_budget<P>(ns), by.stats_, by.cell_};
    reservation r;
    const uint32_t entered = errors_.enter();
    const status in = put(&c, 1, intent_of(sync, by), written::at_once, entered, w, by, r);
    if (in != status::ok) return {in};
    const status end = await_own(r, entered, w, by);
    return {end, 1, sync && end == status::ok ? 1U : 0U, 1, r.start};
  }

  [[gnu::noinline]] outcome insert_pieces(const command* list, uint32_t n, bool sync, producer& by,
                                          uint64_t ns) noexcept {
    outcome o;
    if (list == nullptr && n != 0) return give_up(o, status::invalid_argument);
    who w{time_budget<P>(ns), by.stats_, by.cell_};
    const status in = begin(w, by);
    if (in != status::ok) return give_up(o, in);
    const status s = insert_all(list, n, sync, w, by, o);
    end_call(*by.cell_);
    return give_up(o, s);
  }

  [[gnu::noinline]] status insert_all(const command* list, uint32_t n, bool sync, who& w, producer& by,
                                      outcome& o) noexcept {
    while (n != 0 || (sync && o.lists == 0)) {
      const piece next = next_piece(ring_.opts(), list, n, sync);
      if (!next.valid) return next.why;
      const status before = sync_before_atc(list, next.n, w, by, o);
      if (before != status::ok) return before;
      const status s = run(list, next.n, next.sync, w, by, o);
      if (s != status::ok) return s;
      if (next.repeat) {
        const uint32_t once = o.inserted;
        const status again = run(list, next.n, next.sync, w, by, o);
        o.inserted = once;
        if (again != status::ok) return again;
      }
      if (next.sync) o.done = o.inserted;
      list += next.n;
      n -= next.n;
    }
    return status::ok;
  }

  static constexpr outcome give_up(outcome o, status s) noexcept {
    o.code = s;
    return o;
  }

  // --- a call's begin and end; what an earlier one owes

  /// Makes the producer busy, once what it owes is settled. Not ok: nothing is done, and the call ends with that.
  /// Errors: busy, timeout, device_fault, stalled, or the untold error of the list that an earlier call did not wait
  /// out.
  status begin(who& w, producer& by) noexcept {
    producer_cell<P>& cell = *by.cell_;
    const uint32_t use = cell.use.load(at<site::cell_use>);
    if (use == in_use::inside || use == in_use::filling) return status::busy;
    cell.use.store(in_use::inside, at<site::cell_use>);
    if (use == in_use::idle) return status::ok;
    const status s = settle(w, by);
    if (s != status::ok) end_call(cell);
    return s;
  }

  /// Ends a call; one that owes is marked so already.
  [[gnu::always_inline]] static void end_call(producer_cell<P>& cell) noexcept {
    if (cell.use.load(at<site::cell_use>) == in_use::inside) cell.use.store(in_use::idle, at<site::cell_use_end>);
  }

  /// Waits, within the budget, until nothing is owed any more.
  [[gnu::noinline, gnu::cold]] status settle(who& w, producer& by) noexcept {
    producer_cell<P>& cell = *by.cell_;
    status s = error_handler<ring_type>::refuses(errors_.enter()) ? why_not(w) : status::ok;
    if (s == status::ok) s = allocation_.await_left(cell, w) ? await_owed(cell, w) : status::timeout;
    if (s == status::would_block) return prove(w, by);
    if (s != status::ok) {
      cell.use.store(in_use::owing, at<site::cell_use>);
      return s;
    }
    return tell_owed(by);
  }

  /// What is owed is done; was anything wrong with it? Told once.
  status tell_owed(producer& by) noexcept {
    producer_cell<P>& cell = *by.cell_;
    const uint64_t span = cell.waited.load(at<site::cell_look>);
    const auto end = static_cast<position>(span);
    const status s = found(cell.owes_since.get(), by, static_cast<position>(span >> 32), end, end);
    cell.set(cell.waited, end, end);
    return s;
  }

  /// Waits for what is owed. would_block: the device has consumed it, but an MSI is missing.
  status await_owed(producer_cell<P>& cell, who& w) noexcept {
    if (cell.owes_unplaced.get() != 0) allocation_.place_owed(cell);
    const position end = cell.owes.get();
    const position start = end - 1;
    status s = allocation_.check(start, end, w);
    if (s != status::would_block) return s;
    if (!sync_.may_trail() || !consumed(end, w)) s = allocation_.await_list(start, end, w);
    return s;
  }

  [[nodiscard]] bool consumed(position end, who& w) noexcept {
    const sighting seen = sync_.look_at_register(allocation_, w);
    return seen.code == status::ok && seen.exact && reached(seen.cons, end);
  }

  /// The MSI that is owed was lost, or is late: MSIs come in order, so that of a CMD_SYNC behind it proves it.
  [[gnu::noinline, gnu::cold]] status prove(who& w, producer& by) noexcept {
    producer_cell<P>& cell = *by.cell_;
    const status of_list = tell_owed(by);
    outcome o;
    cell.use.store(in_use::inside, at<site::cell_use>);
    const status s = run(nullptr, 0, true, w, by, o);
    return of_list != status::ok ? of_list : s;
  }

  status attach_free(producer& out) noexcept {
    const auto me = detail::holder<P>::me();
    status none = status::too_many_producers;
    for (uint32_t i = 0; i < ring_.opts().producers; ++i) {
      producer_cell<P>& cell = ring_.cell(i);
      typename detail::holder<P>::type nobody = 0;
      if (!cell.taken.compare_exchange(nobody, me, at<site::attach>)) continue;
      if (!is_settled(cell)) {
        cell.taken.store(0, at<site::detach>);
        none = status::would_block;
        continue;
      }
      cell.reset();  // errors that its last owner left untold and nobody asked for are nobody's
      out = producer(*this, cell);
      return status::ok;
    }
    return none;
  }

  /// What a producer whose process is gone was at becomes a debt of its cell. False: it cannot be told yet.
  bool end_for_gone(producer_cell<P>& cell) noexcept {
    const uint32_t use = cell.use.load(at<site::cell_use>);
    if (use != in_use::inside && use != in_use::filling) return true;
    if (!allocation_.withdraw(cell)) return false;
    cell.owes_unplaced.set(0);
    cell.owes.set(allocation_.claimed());  // what it can have claimed lies before
    cell.use.store(in_use::gone, at<site::cell_use_end>);
    return true;
  }

  /// For attach(): is nothing owed by a cell whose producer is gone?
  bool is_settled(producer_cell<P>& cell) noexcept {
    if (cell.use.load(at<site::cell_use>) == in_use::idle) return true;
    stats_type unused{};
    who w{time_budget<P>(0), unused};
    if (cell.use.load(at<site::cell_use>) == in_use::gone) {
      const position end = cell.owes.get();
      return !cell.left.any() && reached(ring_.told(), end) && allocation_.check(end - 1, end, w) == status::ok;
    }
    if (cell.use.load(at<site::cell_use>) != in_use::owing) return false;
    return allocation_.await_left(cell, w) && await_owed(cell, w) == status::ok;
  }

  [[nodiscard]] bool somebody_inside() noexcept {
    for (uint32_t i = 0; i < ring_.opts().producers; ++i) {
      const uint32_t use = ring_.cell(i).use.load(at<site::cell_use_look>);
      if (use == in_use::inside || use == in_use::filling) return true;
    }
    return false;
  }

  /// The queue is not well: may a call go on all the same? One look at the device; a stall ends when it has moved.
  [[gnu::noinline, gnu::cold]] status why_not(who& w) noexcept {
    if (errors_.has_failed()) return status::device_fault;
    const sighting seen = sync_.look_at_register(allocation_, w);
    if (seen.code != status::ok) return seen.code;
    return seen.exact && errors_.still_stands(seen.cons) ? status::stalled : status::ok;
  }

  // --- one list

  /// A CMD_SYNC, waited for, between this producer's lists that nobody waited for and ATC invalidations: the ATC may
  /// refill from a TLB entry that is not gone yet (bug L20).
  status sync_before_atc(const command* list, uint32_t n, who& w, producer& by, outcome& o) noexcept {
    const bool needed = by.owes_sync() && n != 0 && family::answers_at_sync(family::own_copy(*list));
    if (!needed) return status::ok;
    return run(list, 0, true, w, by, o);
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
    const status end = await_own(r, entered, w, by);
    if (end != status::ok) return end;
    if (r.waited) by.shared_ticket_ = false;
    by.cell_->use.store(in_use::inside, at<site::cell_use>);  // there may be more pieces
    return r.changed ? status::invalid_argument : status::ok;
  }

  /// Waits for a list that was claimed as waited for, says what became of it, and ends the call.
  [[gnu::always_inline]] status await_own(reservation& r, uint32_t entered, who& w, producer& by) noexcept {
    if constexpr (delegates)
      if (r.left) return owe_unplaced(entered, by);
    if (!r.waited) return r.left ? owe(r, status::timeout, entered, by) : ended(by);
    const uint64_t began = wait_clock();
    const status done = allocation_.complete(r, w);
    if constexpr (stats_type::timed) w.stats.waited_ns(P::now_ns() - began);
    if (done != status::ok || r.left) return not_done(r, done, entered, by);
    if (by.unsynced_ != 0 || errors_.any_since(entered)) {
      const status s = found(entered, by, r.start, r.end(), sync_end(r));
      if (s != status::ok) return ended(by), s;
    }
    return ended(by);
  }
  [[gnu::always_inline]] static status ended(producer& by) noexcept {
    by.cell_->use.store(in_use::idle, at<site::cell_use_end>);
    return status::ok;
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

  /// Claim, write, publish. On any status but ok nothing of the list is in the ring, and the call is over.
  [[gnu::always_inline]] status put(const command* list, uint32_t n, intent what, written how, uint32_t entered, who& w,
                                    producer& by, reservation& r) noexcept {
    if constexpr (delegates)
      return put_in_turn(list, n, what, how, entered, w, by, r) ? status::ok
                                                                : put_by_mailbox(list, n, what, entered, w, by, r);
    else
      return put_by_claim(list, n, what, how, entered, w, by, r);
  }

  [[gnu::always_inline]] status put_by_claim(const command* list, uint32_t n, intent what, written how,
                                             uint32_t entered, who& w, producer& by, reservation& r) noexcept {
    [[maybe_unused]] typename P::critical_section in_here;
    const status s = claim(n, what, how, entered, w, by, r);
    if (s != status::ok) return s;
    write(list, n, how, w, r);
    return status::ok;
  }
  [[gnu::always_inline]] void write(const command* list, uint32_t n, written how, who& w, reservation& r) noexcept {
    w.stats.add(stats::event::list);
    if (how == written::at_once) {
      ring_.entry(r.start).put(*list);  // looked at, and the caller's own copy
    } else {
      r.changed = !copy(list, n, [&](uint32_t i, const command& c) { ring_.entry(r.start + i).put(c); });
    }
    allocation_.publish(r, w);
  }

  /// The same where nobody claims, and nobody else is about it: true.
  [[gnu::always_inline]] bool put_in_turn(const command* list, uint32_t n, intent what, written how, uint32_t entered,
                                          who& w, producer& by, reservation& r) noexcept {
    [[maybe_unused]] typename P::critical_section in_here;
    if (error_handler<ring_type>::refuses(entered) || !allocation_.take_turn(n, what, r)) return false;
    note_claim(r, what, entered, by);
    write(list, n, how, w, r);
    return true;
  }
  /// Else: write, hand in. Nothing of the list is in the ring on any status but ok; r.left: it is with a combiner.
  [[gnu::noinline]] status put_by_mailbox(const command* list, uint32_t n, intent what, uint32_t entered, who& w,
                                          producer& by, reservation& r) noexcept {
    status s = error_handler<ring_type>::refuses(entered) ? why_not(w) : status::ok;
    if (s != status::ok) return ended(by), s;
    const bool as_cut = copy(list, n, [&](uint32_t i, const command& c) { allocation_.put(*by.cell_, i, c); });
    s = hand_in(n, what, entered, w, by, r);
    r.changed = !as_cut;
    return s;
  }
  status hand_in(uint32_t n, intent what, uint32_t entered, who& w, producer& by, reservation& r) noexcept {
    const status s = allocation_.hand_in(n, what, w, r);
    if (s != status::ok) return ended(by), s;
    w.stats.add(stats::event::list);
    if (!r.left) note_claim(r, what, entered, by);
    return s;
  }

  /// Each command is looked at as it is copied: a caller's memory may change after the list was cut into pieces. What
  /// is then no command of this piece becomes one that does nothing.
  template <class Put>
  bool copy(const command* list, uint32_t n, const Put& put) noexcept {
    bool as_cut = true;
    command_class first = command_class::unknown;
    for (uint32_t i = 0; i < n; ++i) {
      const command c = family::own_copy(list[i]);
      const command_class is = family::class_of(c);
      if (i == 0) first = is;
      const bool atc_alone = (is == command_class::atc) == (first == command_class::atc);
      const bool fits = is != command_class::sync && atc_alone && (is == first || !ring_.opts().sync_every_batch) &&
                        (!ring_.restricted() || family::permits(ring_.opts().device, c).code == status::ok);
      put(i, fits ? c : family::harmless());
      as_cut = as_cut && fits;
    }
    return as_cut;
  }

  [[gnu::always_inline]] status claim(uint32_t n, intent what, written how, uint32_t entered, who& w, producer& by,
                                      reservation& r) noexcept {
    status s = status::ok;
    if (error_handler<ring_type>::refuses(entered)) s = why_not(w);
    if (s == status::ok) s = allocation_.reserve(n, what, how, w, r);
    if (s != status::ok) return not_claimed(r, s, entered, by);
    note_claim(r, what, entered, by);
    return s;
  }
  /// [X] Before the list is valid; where a combiner placed it, that was told before.
  [[gnu::always_inline]] static void note_claim(const reservation& r, intent what, uint32_t entered,
                                                producer& by) noexcept {
    if (r.waited) {
      by.cell_->set(by.cell_->waited, r.start, r.end());
    } else if (what == intent::unsynced) {
      if (by.unsynced_ == 0) by.unsynced_since_ = entered;
      by.cell_->set(by.cell_->unsynced[by.unsynced_++], r.start, r.end());
    }
  }

  /// The call ends without its list; what it has claimed all the same is owed.
  [[gnu::noinline, gnu::cold]] status not_claimed(reservation r, status s, uint32_t entered, producer& by) noexcept {
    if (r.n == 0 && !r.left) return ended(by), s;
    producer_cell<P>& cell = *by.cell_;
    cell.set(cell.waited, r.start, r.start);
    cell.owes_unplaced.set(r.left ? 1 : 0);
    owe_until(r.end(), entered, cell);
    return s;
  }

  /// A list that is in the ring, not done, and waited for no longer. What is wrong with it already is told now.
  [[gnu::noinline, gnu::cold]] status not_done(reservation r, status s, uint32_t entered, producer& by) noexcept {
    producer_cell<P>& cell = *by.cell_;
    if (s == status::ok) s = status::timeout;
    const status mine = verdict(entered, cell, r.start, r.end(), sync_end(r));
    if (mine != status::ok) {
      cell.error.store(0, at<site::cell_error>);
      cell.set(cell.waited, r.end(), r.end());  // told
    }
    return owe(r, mine == status::ok ? s : mine, entered, by);
  }

  status owe(const reservation& r, status s, uint32_t entered, producer& by) noexcept {
    by.cell_->owes_unplaced.set(0);
    owe_until(r.waited ? r.done_at : r.end(), entered, *by.cell_);
    return s;
  }
  /// A list that a combiner has taken, and not placed yet: where it is will be known when it is settled.
  [[gnu::noinline, gnu::cold]] status owe_unplaced(uint32_t entered, producer& by) noexcept {
    by.cell_->owes_since.set(entered);
    by.cell_->use.store(in_use::owing, at<site::cell_use_end>);
    return status::timeout;
  }
  static void owe_until(position end, uint32_t entered, producer_cell<P>& cell) noexcept {
    cell.owes.set(end);
    cell.owes_since.set(entered);
    cell.use.store(in_use::owing, at<site::cell_use_end>);
  }

  writer<command_queue> reserve(uint32_t n, bool sync, producer& by) noexcept {
    const auto& o = ring_.opts();
    who w{time_budget<P>(o.deadline_ns), by.stats_, by.cell_};
    reservation r;
    status s = status::ok;
    if (n > o.batch_limit) s = status::out_of_range;
    if (n == 0 || o.repeat_invalidations || o.sync_every_batch) s = status::invalid_argument;
    if (s == status::ok) s = begin(w, by);
    const uint32_t entered = errors_.enter();
    if constexpr (delegates) {
      if (s == status::ok) s = claim_mailbox(n, intent_of(sync, by), entered, w, by, r);
    } else {
      if (s == status::ok) s = claim(n, intent_of(sync, by), written::by_user, entered, w, by, r);
    }
    if (s == status::ok) by.cell_->use.store(in_use::filling, at<site::cell_use>);
    return writer<command_queue>(*this, by, s, n, entered, r, w.budget);
  }

  /// allocation::delegated: the producer's mailbox is its own.
  status claim_mailbox(uint32_t n, intent what, uint32_t entered, who& w, producer& by, reservation& r) noexcept {
    const status s = error_handler<ring_type>::refuses(entered) ? why_not(w) : status::ok;
    if (s != status::ok) return ended(by), s;
    r = {.n = n, .waited = what == intent::waited};
    return s;
  }

  /// Command `i` of a list that a writer fills in place.
  void put_in_place(const reservation& r, uint32_t i, const command& c, producer& by) noexcept {
    if constexpr (delegates)
      allocation_.put(*by.cell_, i, c);
    else
      ring_.entry(r.start + i).put(c);
  }

  /// Publishes what a writer filled, and waits where it was reserved so. r.n = 0: nothing was inserted.
  status finish(reservation& r, uint32_t entered, who& w, producer& by) noexcept {
    by.cell_->use.store(in_use::inside, at<site::cell_use>);
    if constexpr (delegates) {
      const status s = hand_in(r.n, r.waited ? intent::waited : intent::unsynced, entered, w, by, r);
      if (s != status::ok) return s;
    } else {
      [[maybe_unused]] typename P::critical_section in_here;
      w.stats.add(stats::event::list);
      allocation_.publish(r, w);
    }
    return await_own(r, entered, w, by);
  }

  result<ticket> submit(const command* list, uint32_t n, producer& by) noexcept {
    const auto& o = ring_.opts();
    if (n > o.batch_limit) return refusal{status::out_of_range, "commands", n, o.batch_limit};
    if (list == nullptr && n != 0) return refusal{status::invalid_argument, "list", 0, 0};
    if (n != 0) {
      const piece whole = next_piece(o, list, n, true);
      if (!whole.valid) return refusal{whole.why, "list", 0, n};
      if (whole.repeat || whole.n != n) return refusal{status::invalid_argument, "list", whole.n, n};
    }
    who w{time_budget<P>(o.deadline_ns), by.stats_, by.cell_};
    status s = begin(w, by);
    if (s != status::ok) return refusal{s, "submit", n, o.batch_limit};
    outcome unused;
    s = sync_before_atc(list, n, w, by, unused);
    reservation r;
    const uint32_t entered = errors_.enter();
    if (s == status::ok) s = put(list, n, intent::ticket, written::in_group, entered, w, by, r);
    if (s != status::ok) return refusal{s, "submit", n, o.batch_limit};
    if constexpr (delegates)
      if (r.left) return refusal{owe_unplaced(entered, by), "inserted", n, o.batch_limit};
    // Where lists share a CMD_SYNC, that of this one may come behind what this producer inserts next.
    by.shared_ticket_ = by.shared_ticket_ || (Config::allocation::needs_range_ends && !r.own_sync && n != 0);
    // A ring too small for lists that nobody waits for: this one is waited for now. poll() finds it done, or says what
    // is wrong, as for any other.
    const position done_at = r.closed ? r.done_at : r.end();
    if (r.left || (r.waited && allocation_.complete(r, w) != status::ok)) {
      by.cell_->set(by.cell_->waited, r.end(), r.end());
      static_cast<void>(owe(r, status::timeout, entered, by));
    } else {
      static_cast<void>(ended(by));
    }
    return ticket{r.start, done_at, r.done_at, entered};
  }

  /// A ticket from behind what is claimed is 2^31 entries old, or older.
  [[nodiscard]] bool too_old(const ticket& t) const noexcept { return !reached(allocation_.claimed(), t.end); }

  status poll(const ticket& t, producer& by) noexcept {
    if (too_old(t)) return status::expired;
    who w{time_budget<P>(0), by.stats_, by.cell_};
    return answer(t, allocation_.check(t.start, t.done_at, w));
  }

  status wait(const ticket& t, uint64_t ns, producer& by) noexcept {
    if (too_old(t)) return status::expired;
    who w{time_budget<P>(ns), by.stats_, by.cell_};
    return answer(t, allocation_.await_list(t.start, t.done_at, w));
  }

  status answer(const ticket& t, status s) noexcept {
    if (s == status::would_block || s == status::timeout) return s;
    const status mine = errors_.verdict_by_marks(t.entered, t.start, t.end);
    return mine == status::ok || (mine == status::expired && s != status::ok) ? s : mine;
  }

  // In this order: see parts.hpp.
  ring_type ring_;
  error_handler<ring_type> errors_;
  sync_type sync_;
  allocation_type allocation_;
};

}  // namespace cmdq
