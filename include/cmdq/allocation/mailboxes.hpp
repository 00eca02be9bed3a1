// SPDX-License-Identifier: BSL-1.0
// Mailboxes, and the words that say which of them are filled.
#pragma once

#include <cmdq/allocation/reservation.hpp>
#include <cmdq/queue/ring.hpp>

namespace cmdq::allocation {

/// What a filled mailbox asks for.
struct asked {
  uint32_t n = 0;
  intent what = intent::unsynced;
};

/// The range whose CMD_SYNC covers a list, for the one who is to watch the device; empty for all others.
struct watched {
  position start = 0;
  position end = 0;
};

/// A bit per mailbox, in words near the CPUs: mailbox i has bit i % per_word of word i / per_word. A bit is set by its
/// producer alone, and cleared by whoever takes the list (a combiner, or its producer, who takes it back): whoever
/// cleared it has it.
template <class Ring>
class mailboxes {
 public:
  using P = typename Ring::P;
  using line = mailbox_line<P>;
  using command = typename Ring::command;
  static constexpr uint32_t words_each = words_of<command>;
  static constexpr uint32_t per_line = commands_per_line(words_each);

  explicit mailboxes(Ring& ring) noexcept
      : ring_(&ring),
        lines_(lines_per_mailbox(ring.opts().batch_limit, words_each)),
        words_(words_in_use(ring.opts())),
        per_word_((ring.opts().producers + words_ - 1) / words_) {
    for (uint32_t i = 0; i < ring.opts().producers; ++i) head(i).placed.store(0, at<site::setup>);
  }

  [[nodiscard]] uint32_t words() const noexcept { return words_; }
  [[nodiscard]] uint32_t per_word() const noexcept { return per_word_; }
  [[nodiscard]] uint32_t word_of(uint32_t i) const noexcept { return words_ == 1 ? 0 : i / per_word_; }

  // --- the producer's side

  void put(uint32_t i, uint32_t k, const command& c) noexcept {
    line& l = ring_->mailbox(i * lines_ + k / per_line);
    const uint32_t at = words_each * (k % per_line);
    for (uint32_t j = 0; j < words_each; ++j) l.word[at + j].set(c.word[j]);
  }
  /// [M] Marks it filled. True: no other was in its word.
  [[gnu::always_inline]] bool fill(uint32_t i, asked a) noexcept {
    head(i).placed.store(0, at<site::mailbox_reset>);
    head(i).note.store(static_cast<uint64_t>(a.what) << 32 | a.n, at<site::mailbox_reset>);
    return filled_[word_of(i)].bits.fetch_or(bit_of(i), at<site::mailbox_fill>) == 0;
  }
  /// True: the list is its producer's again, and nobody has seen it. Wait-free.
  bool take_back(uint32_t i) noexcept {
    return (filled_[word_of(i)].bits.fetch_and(~bit_of(i), at<site::mailbox_take_back>) & bit_of(i)) != 0;
  }
  /// [M] 0 while it is not placed.
  [[nodiscard]] uint64_t placed(uint32_t i) noexcept { return head(i).placed.load(at<site::placed_look>); }
  [[nodiscard]] const void* placed_word(uint32_t i) noexcept { return &head(i).placed; }
  /// Once placed.
  [[nodiscard]] watched to_watch(uint32_t i) noexcept {
    const uint64_t note = head(i).note.load(at<site::mailbox_note>);
    return {static_cast<position>(note >> 32), static_cast<position>(note)};
  }
  [[nodiscard]] typename Ring::channel& channel_of(uint32_t i) noexcept { return filled_[word_of(i)].placed; }

  /// [H] Is any filled? Cost: a load per word.
  [[nodiscard]] bool any() const noexcept {
    for (uint32_t w = 0; w < words_; ++w)
      if (filled_[w].bits.load(at<site::mailbox_wanted>) != 0) return true;
    return false;
  }

  // --- the combiner's side

  [[nodiscard]] uint64_t filled(uint32_t w) const noexcept { return filled_[w].bits.load(at<site::mailbox_look>); }
  /// [M] Takes those of `mask` that are still filled in word `w`.
  uint64_t take(uint32_t w, uint64_t mask) noexcept {
    return mask == 0 ? 0 : filled_[w].bits.fetch_and(~mask, at<site::mailbox_take>) & mask;
  }
  /// Gives back a list that is longer than it seemed, as if it had not been taken.
  void give_back(uint32_t w, uint64_t bits) noexcept { filled_[w].bits.fetch_or(bits, at<site::mailbox_give_back>); }

  void prefetch(uint32_t i) const noexcept { __builtin_prefetch(&ring_->mailbox(i * lines_), 1); }
  /// A guess, unless it is taken.
  [[nodiscard]] asked request(uint32_t i) noexcept {
    const uint64_t note = head(i).note.load(at<site::mailbox_note>);
    return {static_cast<uint32_t>(note), static_cast<intent>(note >> 32)};
  }
  void copy_to_ring(uint32_t i, uint32_t n, position to) noexcept {
    const line* l = &head(i);
    for (uint32_t k = 0, at = 0; k < n; ++k, at += words_each) {
      if (at == words_each * per_line) at = 0, ++l;
      command c;
      for (uint32_t j = 0; j < words_each; ++j) c.word[j] = l->word[at + j].get();
      ring_->entry(to + k).put(c);
    }
  }
  /// [M][X] Says where it is, before PROD does.
  void answer(uint32_t i, placement p, watched range) noexcept {
    head(i).note.store(static_cast<uint64_t>(range.start) << 32 | range.end, at<site::mailbox_reset>);
    head(i).placed.store(p.packed(), at<site::placed_store>);
  }
  void wake(uint32_t w) noexcept { filled_[w].placed.wake(); }

 private:
  [[nodiscard]] line& head(uint32_t i) noexcept { return ring_->mailbox(i * lines_); }
  [[nodiscard]] uint64_t bit_of(uint32_t i) const noexcept { return uint64_t{1} << (words_ == 1 ? i : i % per_word_); }

  static constexpr uint32_t words_in_use(const options_for<typename Ring::family>& o) noexcept {
    const uint32_t least = (o.producers + mailboxes_per_word - 1) / mailboxes_per_word;
    return o.groups > least ? o.groups : least;
  }
  static_assert(max_producers <= max_groups * mailboxes_per_word);

  struct alignas(64) word {
    typename P::template atomic<uint64_t> bits;
    typename Ring::channel placed;  ///< where who waits to be placed sleeps
  };

  const offset_ptr<Ring> ring_;
  const uint32_t lines_;
  const uint32_t words_;
  const uint32_t per_word_;
  word filled_[max_groups];
};

}  // namespace cmdq::allocation
