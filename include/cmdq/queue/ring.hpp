// SPDX-License-Identifier: BSL-1.0
// What all allocation strategies share: entries, valid bits, the turn to tell the device, and the look at how far it
// is.
#pragma once

#include <cmdq/core/offset_ptr.hpp>
#include <cmdq/core/parts.hpp>
#include <cmdq/queue/options.hpp>
#include <cmdq/queue/tail_writer.hpp>
#include <cmdq/stats/event.hpp>
#include <cmdq/wait/await.hpp>

namespace cmdq {

/// One call of one producer: its time budget, its counters, and where it may leave what it cannot finish (null: who
/// only helps or asks).
template <class P, class Stats>
struct caller {
  time_budget<P> budget;
  Stats& stats;
  producer_cell<P>* cell = nullptr;
};

/// By-time looks at the device: how often one of many waiters takes one. The first in the ring needs no permission.
template <class P>
inline constexpr uint64_t look_period_ns = 5'000;
template <class P>
requires requires { P::look_period_ns; }
inline constexpr uint64_t look_period_ns<P> = P::look_period_ns;

/// What a look at the device showed: a position that it has passed for certain, or why there is none.
struct sighting {
  status code = status::ok;
  bool exact = false;  ///< `cons` is the register itself
  bool moved = false;  ///< somebody else saw more meanwhile: `cons` is theirs
  position cons = 0;
};

namespace detail {
template <bool First, class A, class B>
struct choose {
  using type = A;
};
template <class A, class B>
struct choose<false, A, B> {
  using type = B;
};
}  // namespace detail

/// The words that completions are written to, where a queue has them: one per entry.
template <class P, bool Used>
struct done_words {
  offset_ptr<typename P::template atomic<uint64_t>> words;
  uint64_t address = 0;
};
template <class P>
struct done_words<P, false> {};

template <class Device, class Config>
class alignas(64) ring {
 public:
  using P = typename Config::platform;
  using family = typename Config::family;
  using command = typename family::command;
  using positions = typename family::positions;
  using entry_type = ring_entry_of<P, family>;
  using wait_policy = typename Config::wait;
  using who = caller<P, typename Config::stats>;
  template <class T>
  using atomic = typename P::template atomic<T>;
  using channel = typename wait_policy::template channel<P>;
  static constexpr unsigned done_channels = 8;
  static constexpr bool delegates = Config::allocation::delegates;
  static constexpr bool resumes_at_tail = requires { family::resumes_at_tail; };
  static constexpr bool has_words = (Config::completion::ways & completes::in_word) != 0;

  /// Sets every valid bit to "not yet valid" for the lap that the first position is in. Cost: O(N) stores.
  ring(Device& hardware, const plan<P, family>& p) noexcept
      : device_(&hardware),
        opts_(p.opts),
        device_address_(p.memory.device_address),
        entries_(p.memory.entries),
        valid_bits_(p.memory.valid),
        marks_(p.memory.marks),
        range_ends_(p.memory.range_ends),
        cells_(p.memory.cells),
        groups_(p.memory.groups),
        mailboxes_(p.memory.mailboxes),
        geo_{p.opts.log2_size},
        spread_(geo_),
        word_entries_(geo_.entries() < valid_bits_per_word ? geo_.entries() : valid_bits_per_word),
        special_(delegates ? p.opts.cuts_specially() || p.opts.restricted() : p.opts.special()),
        restricted_(p.opts.restricted()),
        told_(p.opts.first),
        limit_(p.opts.first) {
    if constexpr (has_words) {
      done_words_ = {offset_ptr(p.memory.done_words), p.memory.done_address};
      // No position of this slot, and no such one's complement: nothing is done, and nothing still to come.
      for (uint32_t i = 0; i < geo_.entries(); ++i) p.memory.done_words[i].store(i ^ 1U, at<site::setup>);
    }
    for (auto& n : notes_) n.store(p.opts.first, at<site::setup>);
    static_assert(lines_are_apart());
    if constexpr (!delegates) set_all_invalid(p.opts.first);
    for (uint32_t i = 0; i < geo_.entries(); ++i) marks_[i].store(0, at<site::setup>);
    for (uint32_t i = 0; i < p.opts.producers; ++i) {
      cell(i).reset();
      cell(i).taken.store(0, at<site::setup>);
      cell(i).left_line.store(0, at<site::setup>);
      cell(i).left.reset();
    }
  }

  [[nodiscard]] geometry shape() const noexcept { return geo_; }
  /// Entries that may hold commands at once: all, but where registers cannot tell a full ring from an empty one.
  [[nodiscard]] uint32_t capacity() const noexcept { return geo_.entries() - positions::spare; }
  [[nodiscard]] const options_for<family>& opts() const noexcept { return opts_; }
  [[nodiscard]] bool special() const noexcept { return special_; }        ///< options.special()
  [[nodiscard]] bool restricted() const noexcept { return restricted_; }  ///< options.restricted()
  [[nodiscard]] Device& device() noexcept { return *device_; }
  [[nodiscard]] entry_type& entry(position p) noexcept { return entries_[geo_.slot(p)]; }
  [[nodiscard]] uint64_t device_address(position p) const noexcept {
    return device_address_ + geo_.slot(p) * sizeof(command);
  }
  /// Where the completion of a sync command at `p` is written; completion::status_word only.
  [[nodiscard]] atomic<uint64_t>& done_word(position p) noexcept { return done_words_.words[geo_.slot(p)]; }
  [[nodiscard]] uint64_t done_address(position p) const noexcept {
    return done_words_.address + geo_.slot(p) * sizeof(uint64_t);
  }
  [[nodiscard]] atomic<uint64_t>& mark(position p) noexcept { return marks_[geo_.slot(p)]; }
  [[nodiscard]] atomic<uint32_t>& range_end(position p) noexcept { return range_ends_[geo_.slot(p)]; }
  [[nodiscard]] mailbox_line<P>& mailbox(uint32_t line) const noexcept { return mailboxes_[line]; }
  [[nodiscard]] gather_group<P>* groups() const noexcept { return groups_.get(); }
  [[nodiscard]] producer_cell<P>& cell(uint32_t i) noexcept { return cells_[i]; }
  [[nodiscard]] uint32_t number_of(const producer_cell<P>& cell) const noexcept {
    return static_cast<uint32_t>(&cell - cells_.get());
  }
  /// Where who waits for `p` to be done sleeps; one of several, so that one completion does not wake everybody.
  [[nodiscard]] channel& done_channel(position p) noexcept { return done_[(p >> 2) % done_channels]; }

  /// [E] Marks [from, to) valid: whoever sees the mark sees the entries. Wait-free. Cost: one read-modify-write per
  /// word.
  [[gnu::always_inline]] void mark_valid(position from, position to) noexcept {
    const uint32_t n = to - from;
    const uint32_t slot = geo_.slot(from);
    const uint32_t bit = slot % valid_bits_per_word;
    if (n - 1 < word_entries_ - bit) {  // one word, as mostly
      const uint32_t mask = (~0U >> (valid_bits_per_word - n)) << bit;
      valid_word({.word = slot / valid_bits_per_word}).fetch_xor(mask, at<site::valid_mark>);
      valid_.wake();
    } else if (n != 0) {
      mark_valid_words(from, to);
    }
  }
  [[gnu::noinline]] void mark_valid_words(position from, position to) noexcept {
    for (position p = from; p != to;) {
      const valid_span s = first_span(geo_, p, to);
      valid_word(s).fetch_xor(s.mask, at<site::valid_mark>);
      p += s.entries;
    }
    valid_.wake();
  }

  /// [E] Waits until all of [from, to) is valid; false when the budget ends first, with `from` moved to what is not.
  bool await_valid(position& from, position to, who& w) noexcept {
    while (from != to) {
      const valid_span s = first_span(geo_, from, to);
      const auto all = [&](uint32_t v) { return (v & s.mask) == s.wanted; };
      if (!await<P, wait_policy>(valid_, valid_word(s), at<site::valid_wait>, all, w.budget)) return false;
      from += s.entries;
    }
    return true;
  }

  /// [T] Waits until the predecessor has told the device everything before `start`; false when the budget ends first.
  /// FIFO: no owner is overtaken.
  [[nodiscard]] [[gnu::always_inline]] bool await_turn(position start, who& w) noexcept {
    return await<P, wait_policy>(
        turn_, told_, at<site::told_wait>, [=](position t) { return t == start; }, w.budget);
  }
  /// [T] Has the device been told of everything before `end`?
  [[nodiscard]] bool has_told(position end) const noexcept { return reached(told_.load(at<site::told_wait>), end); }
  /// [T] Is it the turn of `start` already?
  [[nodiscard]] bool has_turn(position start) const noexcept { return told_.load(at<site::told_wait>) == start; }

  /// [H] Duties that callers have left; after each step that another CPU may be waiting for. Cost: one load of a word
  /// that hardly ever changes.
  [[nodiscard]] bool anything_left() const noexcept { return left_.load(at<site::left_count>) != 0; }
  void count_left(uint32_t more) noexcept { left_.fetch_add(more, at<site::left_add>); }

  /// May the caller look at the device now? One of those who wait, every `period` ns. `now` 0: no clock, anybody may.
  /// Cost: one load, and a compare-exchange where it is due.
  [[nodiscard]] bool look_due(uint64_t now, uint64_t period) noexcept {
    uint64_t last = looked_.load(at<site::look_time>);
    if (now == 0) return true;
    const auto gone = static_cast<int64_t>(now - last);
    if (gone >= 0 && static_cast<uint64_t>(gone) < period) return false;
    return looked_.compare_exchange(last, now, at<site::look_time>);
  }

  /// Two positions that the strategy may leave for the next in turn, at first options.first: carried by [T], and on the
  /// cache line that the turn comes with.
  [[nodiscard]] atomic<position>& note(unsigned i) noexcept { return notes_[i]; }

  /// Tells the device that everything before `end` is there, then hands the turn over. One caller at a time, by turn.
  /// In a queue that was retired nobody's turn comes any more.
  void tell(position start, position end, who& w) noexcept {
    if (retired_.load(at<site::retired>) != 0) return;
    if constexpr (resumes_at_tail) {
      limit_.store(end, at<site::tail_limit_store>);
    } else {
      limit_.store(end, at<site::limit_store>);  // [L] before PROD: CONS never rightly exceeds it
    }
    tail_.tell([&] { device_->write_prod(positions::to_register(geo_, resumes_at_tail ? tail_limit() : end)); });
    told_.store(end, at<site::told_store>);  // [T]
    turn_.wake();
    w.stats.add(stats::event::prod_write);
    w.stats.add(stats::event::entries_told, end - start);
  }

  /// Tells the device once more what it was told, where that is what makes it go on after an error.
  void tell_again() noexcept {
    if constexpr (resumes_at_tail)
      if (!retired()) tail_.tell([&] { device_->write_prod(positions::to_register(geo_, tail_limit())); });
  }

  /// From now on no call writes PROD, unless it is doing so at this moment, and CONS reads as that of a device that has
  /// left the bus.
  void retire() noexcept { retired_.store(device_gone, at<site::retired>); }
  [[nodiscard]] bool retired() const noexcept { return retired_.load(at<site::retired>) != 0; }

  /// Position up to which the device has been told, for walks over ranges.
  [[nodiscard]] position told() const noexcept { return told_.load(at<site::told_look>); }
  /// What PROD may be at most by now.
  [[nodiscard]] position limit() const noexcept { return limit_.load(at<site::limit_load>); }
  /// True once PROD may have been moved past `p`: a completion seen before that is a lie.
  [[nodiscard]] bool was_told(position p) const noexcept { return passed(limit(), p); }

  /// Reads the consumer's register and turns it into a free-running position. `base` is software CONS, read before the
  /// register; it is read again after it: if it stood still, the register lies in [CONS, CONS + N], or the device is
  /// lying. `may_trail`: completions in memory may run ahead of the register. Wait-free. Cost: one device read, two
  /// loads.
  template <class Allocation>
  [[gnu::always_inline]] sighting look(const Allocation& allocation, position base, bool may_trail, who& w,
                                       uint32_t& reg) noexcept {
    reg = device_->read_cons() | retired_.load(at<site::retired>);  // in this order
    w.stats.add(stats::event::cons_read);
    if (reg == device_gone) return {status::device_fault, false, false, base};
    const position most = limit();
    if (!allocation.cons_is(base, at<site::cons_look>))
      return {status::ok, false, true, allocation.cons(at<site::cons_look>)};
    const uint32_t at_device = family::position_field(reg);
    if (!positions::valid(geo_, at_device)) return {status::device_fault, false, false, base};
    const uint32_t ahead = positions::ahead(geo_, base, at_device);
    if (ahead > geo_.entries()) return {may_trail ? status::ok : status::device_fault, false, false, base};
    // Without a wrap bit a register behind `base` seems to be ahead of what the device was told.
    if (!reached(most, base + ahead))
      return {may_trail && !positions::has_wrap ? status::ok : status::device_fault, false, false, base};
    return {status::ok, true, false, base + ahead};
  }

 private:
  /// [E] For whoever writes the register for another: with that one's entries.
  [[nodiscard]] position tail_limit() const noexcept { return limit_.load(at<site::tail_limit_load>); }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"  // no standard-layout class: GCC and Clang support it all the same
  /// What owners write, what waiters write, and what all read.
  static constexpr bool lines_are_apart() noexcept {
    constexpr uintptr_t read = __builtin_offsetof(ring, left_), owners = __builtin_offsetof(ring, told_);
    constexpr uintptr_t waiters = __builtin_offsetof(ring, looked_), sleepers = __builtin_offsetof(ring, turn_);
    return on_lines_of_their_own(read, owners) && on_lines_of_their_own(__builtin_offsetof(ring, retired_), waiters) &&
           on_lines_of_their_own(waiters, sleepers);
  }
#pragma GCC diagnostic pop

  void set_all_invalid(position first) noexcept {
    for (uint32_t w = 0; w < valid_words(geo_); ++w) valid_bits_[w].store(0, at<site::setup>);
    for (position at_first_lap = first, end = first + geo_.entries(); at_first_lap != end;) {
      const valid_span s = first_span(geo_, at_first_lap, end);
      valid_word(s).fetch_or(s.mask & ~s.wanted, at<site::setup>);
      at_first_lap += s.entries;
    }
  }
  [[nodiscard]] atomic<uint32_t>& valid_word(const valid_span& s) noexcept {
    if constexpr (Config::allocation::spreads_valid_bits) return valid_bits_[spread_(s.word)];
    return valid_bits_[s.word];
  }

  // Read by all, hardly ever written.
  const offset_ptr<Device> device_;
  const options_for<family> opts_;
  const uint64_t device_address_;
  const offset_ptr<entry_type> entries_;
  const offset_ptr<atomic<uint32_t>> valid_bits_;
  const offset_ptr<atomic<uint64_t>> marks_;
  const offset_ptr<atomic<uint32_t>> range_ends_;
  const offset_ptr<producer_cell<P>> cells_;
  const offset_ptr<gather_group<P>> groups_;
  const offset_ptr<mailbox_line<P>> mailboxes_;
  const geometry geo_;
  const word_spread spread_;
  const uint32_t word_entries_;  ///< in a word of valid bits: 32, or fewer in a small ring
  const bool special_;
  const bool restricted_;
  atomic<uint32_t> left_;
  [[no_unique_address]] done_words<P, has_words> done_words_;
  // Written by owners in turn.
  alignas(64) atomic<position> told_;  ///< owner position: the device has been told up to here
  atomic<position> limit_;             ///< what PROD may be, stored before PROD is
  atomic<position> notes_[2];
  [[no_unique_address]] typename detail::choose<resumes_at_tail, tail_writer<P>, single_tail_writer>::type tail_;
  atomic<uint32_t> retired_;  ///< 0, or all ones: the device belongs to another queue
  // Written by who waits for long.
  alignas(64) atomic<uint64_t> looked_;  ///< when somebody last looked at the device because it was time
  alignas(64) channel turn_;
  channel valid_;
  channel done_[done_channels];
};

}  // namespace cmdq
