// SPDX-License-Identifier: BSL-1.0
// A screen made of layers, each through a pipe of its own: memory serves them in turn, a unit at a time, and the panel
// takes the same from all of them, line after line, frame after frame. The fill levels swing with that, and where they
// are decides what SAFE, DANGER and the priority of the fetches say.
#pragma once

#include <cmdq/model/soc_tables.hpp>

namespace cmdq::model {

/// Null when there is none of that name.
constexpr const display_soc* find_display_soc(const char* wanted) noexcept {
  for (const display_soc& soc : display_socs) {
    const char* a = soc.name;
    const char* b = wanted;
    while (*a != '\0' && *a == *b) ++a, ++b;
    if (*a == *b) return &soc;
  }
  return nullptr;
}

struct scanout_options {
  uint32_t layers = 1;
  uint64_t drain = 2000;        ///< bytes/us that the panel takes of each layer
  uint64_t feed = 6000;         ///< bytes/us that memory gives all of them together
  uint64_t buffer = 64 * 1024;  ///< bytes of each pipe
  uint64_t unit = 2048;         ///< bytes fetched at a time: a pipe asks when it has room for them
  uint64_t frame_ns = 16'666'667;
  uint64_t prefill_ns = 0;  ///< at a frame's begin: fetched, but not shown
};

/// The most that a SoC's catalogue allows of what people use: the largest of three panels at 60 Hz and 32 bits of which
/// one layer takes at most 60 % of the bandwidth, and as many layers, up to four, as take 80 % of it. Chosen, since
/// nothing is published: each pipe buffers sixteen lines, and memory is read by the line where pixels lie linearly, in
/// rows of tiles four lines high where they do not (a table such as f000 could never say safe with a smaller buffer).
constexpr scanout_options scanout_for(const display_soc& soc, pipe_use use) noexcept {
  struct panel {
    uint64_t width, height;
  };
  constexpr panel panels[] = {{3840, 2160}, {2560, 1440}, {1920, 1080}};
  scanout_options o;
  o.feed = soc.bandwidth_low / 1000;
  panel p = panels[2];
  for (const panel& larger : panels) {
    if (larger.width * larger.height * 4 * 60 / 1'000'000 > o.feed * 6 / 10) continue;
    p = larger;
    break;
  }
  o.drain = p.width * p.height * 4 * 60 / 1'000'000;
  const uint64_t fit = o.feed * 8 / 10 / o.drain;
  const uint64_t most = soc.pipes == 0 || soc.pipes > 4 ? 4 : soc.pipes;
  o.layers = static_cast<uint32_t>(fit < 1 ? 1 : (fit > most ? most : fit));
  o.buffer = 16 * p.width * 4;
  o.unit = use == pipe_use::linear ? p.width * 4 : 4 * p.width * 4;
  o.prefill_ns = o.frame_ns * soc.prefill_lines / (p.height + soc.prefill_lines);
  return o;
}

class scanout {
 public:
  static constexpr uint32_t most_layers = 4;

  /// All buffers full. Precondition: 1 <= layers <= most_layers, 0 < unit <= buffer.
  scanout(const signal_tables& tables, pipe_use use, const scanout_options& o) noexcept
      : layer_{{tables, use, rates(o)}, {tables, use, rates(o)}, {tables, use, rates(o)}, {tables, use, rates(o)}},
        o_(o),
        real_time_(use != pipe_use::nrt) {}

  /// Time passes. `fed`: memory answers.
  void advance(uint64_t ns, bool fed) noexcept {
    constexpr uint64_t step = 100;
    for (; ns > step; ns -= step) part(step, fed);
    part(ns, fed);
  }

  /// Every layer has enough.
  [[nodiscard]] bool safe() const noexcept {
    bool all = true;
    for (uint32_t i = 0; i < o_.layers; ++i) all = all && layer_[i].safe();
    return all;
  }
  /// Some layer has too little.
  [[nodiscard]] bool danger() const noexcept {
    bool any = false;
    for (uint32_t i = 0; i < o_.layers; ++i) any = any || layer_[i].danger();
    return any;
  }
  /// Of the most urgent layer's fetches. A pipe that is not real time asks for nothing.
  [[nodiscard]] uint32_t priority() const noexcept {
    uint32_t most = 0;
    for (uint32_t i = 0; i < o_.layers && real_time_; ++i)
      if (layer_[i].priority() > most) most = layer_[i].priority();
    return most;
  }
  /// Of the emptiest layer.
  [[nodiscard]] uint32_t level() const noexcept {
    uint32_t least = fill_levels;
    for (uint32_t i = 0; i < o_.layers; ++i)
      if (layer_[i].level() < least) least = layer_[i].level();
    return least;
  }
  [[nodiscard]] uint32_t underruns() const noexcept {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < o_.layers; ++i) sum += layer_[i].underruns();
    return sum;
  }

 private:
  static constexpr display::rates rates(const scanout_options& o) noexcept { return {o.buffer, o.drain, o.feed}; }

  void part(uint64_t ns, bool fed) noexcept {
    uint64_t in[most_layers] = {};
    uint64_t left = fed ? o_.feed * ns : 0;
    for (uint32_t idle = 0; left != 0 && idle < o_.layers;) {
      if (asked_ == 0 && layer_[turn_].room() >= in[turn_] + o_.unit * 1000) asked_ = o_.unit * 1000;
      const uint64_t now = left < asked_ ? left : asked_;
      in[turn_] += now;
      left -= now;
      asked_ -= now;
      idle = now == 0 ? idle + 1 : 0;
      if (asked_ == 0) turn_ = (turn_ + 1) % o_.layers;
    }
    at_ = (at_ + ns) % o_.frame_ns;
    for (uint32_t i = 0; i < o_.layers; ++i) layer_[i].move(in[i], at_ < o_.prefill_ns ? 0 : o_.drain * ns);
  }

  display layer_[most_layers];
  scanout_options o_;
  bool real_time_;
  uint64_t at_ = 0;     ///< in the frame
  uint32_t turn_ = 0;   ///< whose unit memory works at
  uint64_t asked_ = 0;  ///< of it, what is still to come, in thousandths of a byte
};

}  // namespace cmdq::model
