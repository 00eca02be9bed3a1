// SPDX-License-Identifier: BSL-1.0
// Which pages of a bounded space are free: a bit per page, and above it a tree whose nodes know the free runs of their
// part. Finds the lowest run of any length, also one that begins at a multiple of 2 MiB, in O(log pages).
#pragma once

#include <cmdq/dma/arena.hpp>

namespace cmdq::dma {

inline constexpr unsigned max_log2_pages = 30;
inline constexpr uint32_t no_page = ~0U;
inline constexpr unsigned huge_order = 9;  ///< log2 of the 4 KiB pages in 2 MiB

class run_tree {
 public:
  static constexpr uint32_t pages_per_word = 64;

  /// All of 2^log2_pages pages free; takes about half a byte for each. False when the memory does not suffice.
  /// Precondition: log2_pages <= max_log2_pages.
  bool init(arena& memory, unsigned log2_pages) noexcept {
    leaves_ = log2_pages <= 6 ? 1 : 1U << (log2_pages - 6);
    word_ = memory.take<uint64_t>(leaves_);
    node_ = memory.take<runs>(2 * size_t{leaves_} - 1);
    if (word_ == nullptr || node_ == nullptr) return false;
    for (uint32_t i = 0; i < leaves_; ++i) word_[i] = 0;
    set(0, 1U << log2_pages, true);
    return true;
  }

  /// First page of the lowest run of `n` free pages that begins at or above `from` and at a multiple of 2^align pages
  /// (align: 0 or huge_order); no_page when there is none. Precondition: 0 < n, from <= 2^30.
  [[nodiscard]] uint32_t find(uint32_t n, unsigned align, uint32_t from) const noexcept {
    query q{n, align, from, from};
    return visit(q, 0, 0, leaves_ * pages_per_word);
  }

  /// Marks [first, first + n) free or taken. Cost: O(n / 64 + log pages).
  void set(uint32_t first, uint32_t n, bool free) noexcept {
    const uint32_t low = first / pages_per_word;
    const uint32_t high = (first + n - 1) / pages_per_word;
    for (uint32_t i = low; i <= high; ++i) {
      const uint64_t bits = bits_in(i, first, n);
      word_[i] = free ? word_[i] | bits : word_[i] & ~bits;
      node_[leaves_ - 1 + i] = runs_of(word_[i], i * pages_per_word);
    }
    uint32_t left = leaves_ - 1 + low;
    uint32_t right = leaves_ - 1 + high;
    uint32_t size = pages_per_word;
    for (uint32_t in_level = leaves_ / 2; left != 0; in_level /= 2) {
      left = (left - 1) / 2;
      right = (right - 1) / 2;
      for (uint32_t i = left; i <= right; ++i) {
        const uint32_t begin = (i - (in_level - 1)) * 2 * size;
        node_[i] = joined(node_[2 * i + 1], node_[2 * i + 2], begin + size, size);
      }
      size *= 2;
    }
  }

  /// Are the bits of [first, first + n) all as given? Precondition: inside the space.
  [[nodiscard]] bool all(uint32_t first, uint32_t n, bool free) const noexcept {
    for (uint32_t i = first / pages_per_word; i <= (first + n - 1) / pages_per_word; ++i) {
      const uint64_t bits = bits_in(i, first, n);
      if ((word_[i] & bits) != (free ? bits : 0)) return false;
    }
    return true;
  }

  /// The longest free run.
  [[nodiscard]] uint32_t longest() const noexcept { return node_[0].longest; }

  /// Bits of word `i` that belong to [first, first + n).
  static constexpr uint64_t bits_in(uint32_t i, uint32_t first, uint32_t n) noexcept {
    const uint32_t begin = i * pages_per_word;
    const uint32_t low = first > begin ? first - begin : 0;
    const uint32_t end = first + n;
    const uint64_t below_end = end >= begin + pages_per_word ? ~uint64_t{0} : (uint64_t{1} << (end - begin)) - 1;
    return below_end & (~uint64_t{0} << low);
  }

 private:
  struct runs {
    uint32_t prefix = 0;   ///< free pages at the begin
    uint32_t suffix = 0;   ///< free pages at the end
    uint32_t longest = 0;  ///< longest free run
    uint32_t aligned = 0;  ///< longest one when each is cut to begin at a multiple of 2 MiB
  };
  struct query {
    uint32_t n;
    unsigned align;
    uint32_t from;
    uint32_t open;  ///< where the free run begins that reaches the part not yet looked at
  };

  static constexpr uint32_t up(uint32_t page, unsigned align) noexcept {
    const uint32_t low = (1U << align) - 1;
    return (page + low) & ~low;
  }
  static constexpr uint32_t best(const runs& r, unsigned align) noexcept { return align == 0 ? r.longest : r.aligned; }

  static constexpr uint32_t ones_below(uint64_t w) noexcept {
    return ~w == 0 ? pages_per_word : static_cast<uint32_t>(__builtin_ctzll(~w));
  }
  static constexpr uint32_t longest_in(uint64_t w) noexcept {
    if (w == ~uint64_t{0}) return pages_per_word;
    uint32_t n = 0;
    for (; w != 0; w &= w << 1) ++n;
    return n;
  }
  static constexpr runs runs_of(uint64_t w, uint32_t begin) noexcept {
    if (w == 0) return {};
    const uint32_t prefix = ones_below(w);
    const auto suffix = ~w == 0 ? pages_per_word : static_cast<uint32_t>(__builtin_clzll(~w));
    return {prefix, suffix, longest_in(w), up(begin, huge_order) == begin ? prefix : 0};
  }
  static constexpr uint32_t larger(uint32_t a, uint32_t b) noexcept { return a > b ? a : b; }
  static constexpr runs joined(const runs& l, const runs& r, uint32_t middle, uint32_t half) noexcept {
    const uint32_t start = up(middle - l.suffix, huge_order);
    const uint32_t cut = middle + r.prefix > start ? middle + r.prefix - start : 0;
    return {l.prefix == half ? half + r.prefix : l.prefix, r.suffix == half ? half + l.suffix : r.suffix,
            larger(larger(l.longest, r.longest), l.suffix + r.prefix), larger(larger(l.aligned, r.aligned), cut)};
  }

  uint32_t visit(query& q, uint32_t node, uint32_t begin, uint32_t size) const noexcept {
    if (begin + size <= q.from) return q.open = begin + size, no_page;
    if (begin >= q.from) {
      const runs& r = node_[node];
      const uint32_t start = up(q.open, q.align);
      if (start + q.n <= begin + r.prefix) return start;
      if (best(r, q.align) >= q.n) return inside(q, node, begin, size);
      if (r.prefix != size) q.open = begin + size - r.suffix;
      return no_page;
    }
    if (size == pages_per_word)
      return in_word(q, word_[begin / pages_per_word] & (~uint64_t{0} << (q.from - begin)), begin);
    const uint32_t found = visit(q, 2 * node + 1, begin, size / 2);
    return found != no_page ? found : visit(q, 2 * node + 2, begin + size / 2, size / 2);
  }

  /// The node is known to hold such a run, and none that begins before it.
  uint32_t inside(query& q, uint32_t node, uint32_t begin, uint32_t size) const noexcept {
    while (size > pages_per_word) {
      size /= 2;
      node = 2 * node + 1;
      if (best(node_[node], q.align) >= q.n) continue;
      const uint32_t middle = begin + size;
      const uint32_t start = up(middle - node_[node].suffix, q.align);
      if (start + q.n <= middle + node_[node + 1].prefix) return start;
      ++node;
      begin = middle;
    }
    q.open = begin;
    return in_word(q, word_[begin / pages_per_word], begin);
  }

  static uint32_t in_word(query& q, uint64_t w, uint32_t begin) noexcept {
    for (uint32_t at = 0; at < pages_per_word;) {
      if (at != 0) q.open = begin + at;
      const uint32_t run = ones_below(w >> at);
      const uint32_t start = up(q.open, q.align);
      if (start + q.n <= begin + at + run) return start;
      at += run;
      if (at == pages_per_word) return no_page;
      if (w >> at == 0) break;
      at += static_cast<uint32_t>(__builtin_ctzll(w >> at));
    }
    return q.open = begin + pages_per_word, no_page;
  }

  uint64_t* word_ = nullptr;
  runs* node_ = nullptr;  ///< heap order; the last `leaves_` are the words
  uint32_t leaves_ = 0;
};

}  // namespace cmdq::dma
