// SPDX-License-Identifier: BSL-1.0
#include "uncertainty.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <numbers>
#include <stdexcept>
#include <thread>

#include "strategies.hpp"

namespace cmdq::manycore {

namespace {

constexpr unsigned walks = 8;
constexpr picoseconds run_time = 3'000'000'000;

using point = std::vector<double>;  ///< log2 of each parameter over the base machine's; -1 to 1

template <picoseconds topology::*Field>
constexpr uncertain_parameter own(const char* name) {
  return {name, [](const topology& t) { return static_cast<double>(t.*Field); },
          [](topology& t, double v) { t.*Field = static_cast<picoseconds>(std::llround(v)); }};
}
template <picoseconds distance_times::*Field>
constexpr uncertain_parameter distance(const char* name) {
  return {name, [](const topology& t) { return static_cast<double>(t.distance.*Field); },
          [](topology& t, double v) { t.distance.*Field = static_cast<picoseconds>(std::llround(v)); }};
}
template <picoseconds device_times::*Field>
constexpr uncertain_parameter device_time(const char* name) {
  return {name, [](const topology& t) { return static_cast<double>(t.device.*Field); },
          [](topology& t, double v) { t.device.*Field = static_cast<picoseconds>(std::llround(v)); }};
}

topology machine_at(const topology& base, const point& x) {
  topology t = base;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto& p = uncertain_parameters()[i];
    p.set(t, p.get(base) * std::exp2(x[i]));
  }
  return t;
}

/// Farther is not nearer.
bool in_order(const distance_times& d) { return d.cluster <= d.die && d.die <= d.socket && d.socket <= d.remote; }

double uniform(random_source& r) { return static_cast<double>(r.next() >> 11) * 0x1p-53; }
double normal(random_source& r) {
  const double u = uniform(r);
  return std::sqrt(-2 * std::log(1 - u)) * std::cos(2 * std::numbers::pi * uniform(r));
}

/// Lower triangle of a matrix, row by row, from which directions are drawn.
using triangle = std::vector<std::vector<double>>;

/// A = L * transposed L, for a positive definite A.
triangle cholesky(const std::vector<point>& a) {
  const std::size_t n = a.size();
  triangle l(n, point(n, 0.0));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= l[i][k] * l[j][k];
      l[i][j] = i == j ? std::sqrt(sum) : sum / l[j][j];
    }
  return l;
}

/// How the logarithms of the figures change with each parameter, by a step of a quarter of a factor of two.
std::vector<point> slopes(const topology& base, unsigned threads) {
  constexpr double step = 0.25;
  constexpr double any = 1e9;
  const std::size_t n = uncertain_parameters().size();
  std::vector<point> out(n);
  const auto centre = published_ratios(base, any);
  in_parallel(threads, n, [&](std::size_t i) {
    point x(n, 0.0);
    x[i] = step;
    const auto moved = published_ratios(machine_at(base, x), any);
    for (std::size_t f = 0; f < centre.size(); ++f) out[i].push_back(std::log2(moved[f] / centre[f]) / step);
  });
  return out;
}

/// Precision of the directions' distribution: short across the figures' slopes, as long as the box is wide elsewhere.
std::vector<point> precision(const std::vector<point>& slope, double within) {
  constexpr double box = 0.6;  // standard deviation of what is uniform from -1 to 1
  const double figure = std::log2(1 + within) / 2;
  const std::size_t n = slope.size();
  std::vector<point> a(n, point(n, 0.0));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t f = 0; f < slope[i].size(); ++f) a[i][j] += slope[i][f] * slope[j][f] / (figure * figure);
      if (i == j) a[i][j] += 1 / (box * box);
    }
  return a;
}

class walk {
 public:
  walk(const topology& base, const triangle& l, double within, std::uint64_t seed)
      : base_(base), l_(l), within_(within), random_(seed), x_(l.size(), 0.0) {}

  kept_machine next(unsigned steps) {
    for (unsigned i = 0; i < steps; ++i) step();
    exchange_fetch_ahead();
    return {machine_at(base_, x_), figures_};
  }

 private:
  bool meets(const topology& t) {
    if (!in_order(t.distance)) return false;
    const auto f = published_ratios(t, within_);
    if (f.size() != published_contention.size()) return false;
    figures_ = f;
    return true;
  }

  /// d with transposed L * d = normal: distributed by the inverse of the precision.
  point direction() {
    const std::size_t n = l_.size();
    point d(n);
    for (double& v : d) v = normal(random_);
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t k = i + 1; k < n; ++k) d[i] -= l_[k][i] * d[k];
      d[i] /= l_[i][i];
    }
    return d;
  }

  void step() {
    const point d = direction();
    double low = -1e9;
    double high = 1e9;
    for (std::size_t i = 0; i < d.size(); ++i) {
      if (d[i] == 0) continue;
      const double a = (-1 - x_[i]) / d[i];
      const double b = (1 - x_[i]) / d[i];
      low = std::max(low, std::min(a, b));
      high = std::min(high, std::max(a, b));
    }
    constexpr int most_tries = 20;  // by then the bracket is a hair: stay
    for (int tries = 0; tries < most_tries; ++tries) {
      const double s = low + (high - low) * uniform(random_);
      point there = x_;
      for (std::size_t i = 0; i < d.size(); ++i) there[i] += s * d[i];
      if (meets(machine_at(base_, there))) {
        x_ = there;
        return;
      }
      (s < 0 ? low : high) = s;
    }
  }

  void exchange_fetch_ahead() {
    topology other = base_;
    other.device.fetch_ahead = base_.device.fetch_ahead == 0 ? 1 : 0;
    if (meets(machine_at(other, x_))) base_ = other;
  }

  topology base_;
  const triangle& l_;
  double within_;
  random_source random_;
  point x_;
  std::vector<double> figures_;
};

}  // namespace

const std::vector<uncertain_parameter>& uncertain_parameters() {
  static const std::vector<uncertain_parameter> all = {
      own<&topology::hold>("hold_ns"),
      own<&topology::retry>("retry_ns"),
      {"near_first", [](const topology& t) { return static_cast<double>(t.near_first); },
       [](topology& t, double v) { t.near_first = static_cast<unsigned>(std::lround(v)); }},
      own<&topology::share>("share_ns"),
      own<&topology::spin>("spin_ns"),
      own<&topology::think>("think_ns"),
      own<&topology::poll>("poll_ns"),
      own<&topology::clock>("clock_ns"),
      distance<&distance_times::cluster>("distance_ns.cluster"),
      distance<&distance_times::die>("distance_ns.die"),
      distance<&distance_times::socket>("distance_ns.socket"),
      distance<&distance_times::remote>("distance_ns.remote"),
      distance<&distance_times::memory>("distance_ns.memory"),
      device_time<&device_times::command>("device.command_ns"),
      device_time<&device_times::sync>("device.sync_ns"),
      device_time<&device_times::doorbell>("device.doorbell_ns"),
      device_time<&device_times::doorbell_issue>("device.doorbell_issue_ns"),
      device_time<&device_times::read>("device.read_ns"),
      device_time<&device_times::read_occupancy>("device.read_occupancy_ns"),
  };
  return all;
}

std::vector<double> published_ratios(const topology& t, double within) {
  std::vector<double> out;
  for (const auto& p : published_contention) {
    contention_options o;
    o.cpus = p.cpus;
    o.think = t.think;
    o.time = run_time;
    out.push_back(run_contention(p.strategy, "msi", t, o).per_cpu_per_second / p.per_cpu_per_second);
    if (std::abs(out.back() - 1) > within) {
      out.pop_back();
      break;
    }
  }
  return out;
}

std::vector<kept_machine> draw_machines(const topology& base, const draw_options& o) {
  if (published_ratios(base, o.within).size() != published_contention.size())
    throw std::invalid_argument(fmt::format("the machine \"{}\" itself is not within {} % of the published figures",
                                            base.name, 100 * o.within));
  const triangle l = cholesky(precision(slopes(base, o.threads), o.within));
  std::vector<kept_machine> out(o.keep);
  std::mutex lock;
  unsigned kept = 0;
  in_parallel(o.threads, walks, [&](std::size_t w) {
    walk here(base, l, o.within, o.seed * walks + w);
    for (std::size_t i = w; i < out.size(); i += walks) {
      out[i] = here.next(i == w ? 3 * o.steps : o.steps);  // longer at first, to get away from the base
      const std::scoped_lock one(lock);
      ++kept;
      if (o.progress) o.progress(kept);
    }
  });
  return out;
}

void in_parallel(unsigned threads, std::size_t n, const std::function<void(std::size_t)>& task) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex lock;
  const auto work = [&] {
    for (std::size_t i = next++; i < n; i = next++) try {
        task(i);
      } catch (...) {
        const std::scoped_lock one(lock);
        if (!failure) failure = std::current_exception();
        next = n;
      }
  };
  std::vector<std::jthread> others;
  for (unsigned t = 1; t < threads; ++t) others.emplace_back(work);
  work();
  others.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace cmdq::manycore
