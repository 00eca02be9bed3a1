// SPDX-License-Identifier: BSL-1.0
// One pipe of a display unit as far as the SMMU notices it: a buffer that memory feeds and the panel drains, 16 fill
// levels, and what three look-up tables derive from the level: SAFE, DANGER, and the priority of its fetches.
#pragma once

#include <stdint.h>

namespace cmdq::model {

/// What a pipe is used for; the index of the tables. `nrt`: not real time (write-back), its signalling is forced off.
enum class pipe_use : uint8_t { linear, macrotile, nrt };
inline constexpr uint32_t pipe_uses = 3;
inline constexpr uint32_t fill_levels = 16;

/// One bit per fill level and use: bit i of `safe` set means "safe at level i", of `danger` "in danger at level i"
/// (that reading of the bits is inferred from the published tables). `priority`: 4 bits per level, the lowest level in
/// the lowest bits; 7 is the most urgent.
struct signal_tables {
  uint32_t safe[pipe_uses] = {};
  uint32_t danger[pipe_uses] = {};
  uint64_t priority[pipe_uses] = {};
};

/// What is suspicious about a table. Zero: nothing.
struct table_warning {
  bool safe_missing = false;     ///< every safe entry is 0: every invalidation takes the maximum delay
  uint32_t never_safe = 0;       ///< bit per use whose safe entry is 0 while another one is not
  uint32_t danger_too_wide = 0;  ///< bit per use whose danger entry has more than 16 bits: they are masked off
  [[nodiscard]] constexpr bool any() const noexcept { return safe_missing || never_safe != 0 || danger_too_wide != 0; }
};

constexpr table_warning check(const signal_tables& t) noexcept {
  table_warning w;
  uint32_t zero = 0;
  for (uint32_t i = 0; i < pipe_uses; ++i) {
    if ((t.safe[i] & 0xffffU) == 0) zero |= 1U << i;
    if (t.danger[i] >> fill_levels != 0) w.danger_too_wide |= 1U << i;
  }
  w.safe_missing = zero == (1U << pipe_uses) - 1;
  w.never_safe = w.safe_missing ? 0 : zero;
  return w;
}

/// A SoC: its tables, what its catalogue says of bandwidth and pipes, and how long its SMMU stalls an invalidation at
/// most. The delay was published for sc8280xp only (1-2 ms; the middle is used here); the others are given the same.
struct display_soc {
  const char* name = "";
  signal_tables tables{};
  uint32_t bandwidth_low = 0;   ///< kB/s that the display may ask of memory
  uint32_t bandwidth_high = 0;  ///< with the screen in command mode, or on its own
  uint32_t prefill_lines = 0;   ///< fetched ahead of a frame's first line, at least
  uint32_t pipes = 0;           ///< 0: not known
  uint64_t max_delay_ns = 1'500'000;
};

/// What the status register shows.
struct display_status {
  bool safe = false;
  bool danger = false;
};

/// Rates in bytes per microsecond, times in ns; the fill is kept exactly, in thousandths of a byte.
class display {
 public:
  struct rates {
    uint64_t buffer_bytes = 64 * 1024;
    uint64_t drain = 2000;  ///< what the panel takes: about 4K at 60 Hz and 32 bits
    uint64_t feed = 6000;   ///< what memory gives while it is not held up
  };

  display(const signal_tables& tables, pipe_use use, const rates& r) noexcept
      : tables_(tables), use_(static_cast<uint32_t>(use)), rates_(r), fill_(r.buffer_bytes * 1000) {}

  /// Time passes. `fed`: memory answers; false while an invalidation or other traffic holds its fetches up.
  void advance(uint64_t ns, bool fed) noexcept { move(fed ? rates_.feed * ns : 0, rates_.drain * ns); }

  /// So much arrives and is taken meanwhile, in thousandths of a byte.
  void move(uint64_t in, uint64_t out) noexcept {
    if (fill_ + in < out) {
      if (!starving_ && real_time()) ++underruns_;
      starving_ = true;
      fill_ = 0;
      return;
    }
    if (out != 0) starving_ = false;
    fill_ = fill_ + in - out;
    const uint64_t capacity = rates_.buffer_bytes * 1000;
    if (fill_ > capacity) fill_ = capacity;
  }
  /// Room in the buffer, in thousandths of a byte.
  [[nodiscard]] uint64_t room() const noexcept { return rates_.buffer_bytes * 1000 - fill_; }

  /// 0 empty .. 15 full.
  [[nodiscard]] uint32_t level() const noexcept {
    const uint64_t l = fill_ * fill_levels / (rates_.buffer_bytes * 1000);
    return l < fill_levels ? static_cast<uint32_t>(l) : fill_levels - 1;
  }
  [[nodiscard]] bool safe() const noexcept { return real_time() ? ((tables_.safe[use_] >> level()) & 1U) != 0 : true; }
  /// Bits above the 16 levels do not count.
  [[nodiscard]] bool danger() const noexcept { return real_time() && ((tables_.danger[use_] >> level()) & 1U) != 0; }
  /// Of its fetches, 0 to 15.
  [[nodiscard]] uint32_t priority() const noexcept {
    return static_cast<uint32_t>(tables_.priority[use_] >> (4 * level())) & 0xfU;
  }
  [[nodiscard]] display_status status() const noexcept { return {safe(), danger()}; }
  /// How often the buffer ran empty while the panel wanted data; one long famine counts once. A pipe that is not real
  /// time just waits.
  [[nodiscard]] uint32_t underruns() const noexcept { return underruns_; }
  [[nodiscard]] uint64_t fill_bytes() const noexcept { return fill_ / 1000; }
  /// For a test that plays a trace of fills.
  void set_fill(uint64_t bytes) noexcept { fill_ = bytes * 1000; }

 private:
  [[nodiscard]] bool real_time() const noexcept { return use_ != static_cast<uint32_t>(pipe_use::nrt); }

  signal_tables tables_;
  uint32_t use_;
  rates rates_;
  uint64_t fill_;
  bool starving_ = false;
  uint32_t underruns_ = 0;
};

}  // namespace cmdq::model
