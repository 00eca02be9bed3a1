// SPDX-License-Identifier: BSL-1.0
#include "calibrate.hpp"

#include <algorithm>
#include <cmath>

#include "experiments.hpp"

namespace cmdq::manycore {

namespace {

struct effort {
  unsigned seeds;
  picoseconds time;
};
constexpr effort while_fitting{1, 3'000'000'000};
constexpr effort for_the_report{4, 5'000'000'000};

contention_result average(const topology& t, const char* strategy, unsigned cpus, effort e) {
  contention_options o;
  o.cpus = cpus;
  o.think = t.think;
  o.time = e.time;
  return average_over_seeds(strategy, "msi", t, o, e.seeds);
}

std::vector<compared_point> compare(const topology& t, use kind, effort e) {
  std::vector<compared_point> out;
  for (const auto& p : published_contention) {
    if (p.kind != kind) continue;
    const auto r = average(t, p.strategy, p.cpus, e);
    out.push_back({fmt::format("{} at {} CPUs", p.strategy, p.cpus), kind, p.per_cpu_per_second, r.per_cpu_per_second});
    if (std::string(p.strategy) == "cmpxchg_loop/published" && p.cpus == 64)
      out.push_back(
          {"attempts per claim of cmpxchg_loop at 64 CPUs", kind, published_attempts_64, 1 / r.claims_that_succeed});
  }
  return out;
}

/// The distance to another socket is not fitted but follows from the other two, by pipe latencies measured on a 128-CPU
/// part of this kind (lmbench lat_pipe to another cluster, die, socket: 7.67, 8.51, 13.25 us; openEuler
/// wayca-scheduler, tools/kp920.2P.8CCL.type4). A pipe costs a fixed part and a number of line transfers, so the
/// differences are in proportion: (remote - socket) / (socket - die) = 4.74 / 0.84.
picoseconds remote_distance(const distance_times& d) {
  constexpr picoseconds percent = 564;
  return d.socket + (d.socket > d.die ? (d.socket - d.die) * percent / 100 : 0);
}

using point = std::vector<double>;

topology at(const topology& base, const point& logs) {
  topology t = base;
  for (std::size_t i = 0; i < logs.size(); ++i)
    free_parameters()[i].in(t) = static_cast<picoseconds>(std::llround(std::exp(logs[i]) * 1000));
  t.distance.remote = remote_distance(t.distance);
  return t;
}

/// Inside the bounds, else the nearest point there is.
point clamp(point p) {
  for (std::size_t i = 0; i < p.size(); ++i)
    p[i] = std::clamp(p[i], std::log(free_parameters()[i].least_ns), std::log(free_parameters()[i].most_ns));
  return p;
}

double error_of(const topology& t) {
  double sum = 0;
  const auto points = compare(t, use::fitted, while_fitting);
  for (const auto& p : points) sum += std::pow(std::log(p.simulated / p.published), 2);
  return std::sqrt(sum / static_cast<double>(points.size()));
}

/// Nelder-Mead with the usual coefficients: reflect 1, expand 2, contract and shrink by half.
class simplex {
 public:
  simplex(const topology& base, unsigned& evaluations) : base_(base), evaluations_(evaluations) {
    topology t = base;
    point start;
    for (const auto& f : free_parameters()) start.push_back(std::log(static_cast<double>(f.in(t)) / 1000));
    corners_.push_back(evaluated(start));
    for (std::size_t i = 0; i < start.size(); ++i) {
      point moved = start;
      moved[i] += 0.1;
      corners_.push_back(evaluated(moved));
    }
  }

  void step() {
    sort();
    const std::size_t n = corners_.size() - 1;
    point centre(n, 0.0);
    for (std::size_t c = 0; c < n; ++c)
      for (std::size_t i = 0; i < n; ++i) centre[i] += corners_[c].where[i] / static_cast<double>(n);
    auto& worst = corners_.back();
    const corner reflected = along(centre, worst.where, -1);
    if (reflected.error < corners_.front().error) {
      const corner expanded = along(centre, worst.where, -2);
      worst = expanded.error < reflected.error ? expanded : reflected;
    } else if (reflected.error < corners_[n - 1].error) {
      worst = reflected;
    } else {
      const corner contracted = along(centre, worst.where, 0.5);
      if (contracted.error < worst.error)
        worst = contracted;
      else
        shrink();
    }
  }

  [[nodiscard]] calibration best() {
    sort();
    return {at(base_, corners_.front().where), corners_.front().error, evaluations_};
  }

 private:
  struct corner {
    point where;
    double error;
  };

  corner evaluated(const point& p) {
    const point inside = clamp(p);
    ++evaluations_;
    return {inside, error_of(at(base_, inside))};
  }
  corner along(const point& centre, const point& worst, double factor) {
    point p = centre;
    for (std::size_t i = 0; i < p.size(); ++i) p[i] += factor * (worst[i] - centre[i]);
    return evaluated(p);
  }
  void shrink() {
    const point best_point = corners_.front().where;
    for (std::size_t c = 1; c < corners_.size(); ++c) corners_[c] = along(best_point, corners_[c].where, 0.5);
  }
  void sort() {
    std::stable_sort(corners_.begin(), corners_.end(), [](const auto& a, const auto& b) { return a.error < b.error; });
  }

  const topology& base_;
  unsigned& evaluations_;
  std::vector<corner> corners_;
};

}  // namespace

const std::vector<free_parameter>& free_parameters() {
  static const std::vector<free_parameter> all = {
      {"hold_ns", [](topology& t) -> picoseconds& { return t.hold; }, 1, 40},
      {"distance_ns.die", [](topology& t) -> picoseconds& { return t.distance.die; }, 20, 80},
      {"distance_ns.socket", [](topology& t) -> picoseconds& { return t.distance.socket; }, 50, 150},
      {"device.sync_ns", [](topology& t) -> picoseconds& { return t.device.sync; }, 20, 1000},
  };
  return all;
}

std::vector<compared_point> compare(const topology& t, use kind) { return compare(t, kind, for_the_report); }

calibration calibrate(const topology& start, const std::vector<unsigned>& tries,
                      const std::function<void(const calibration&)>& progress) {
  constexpr int steps = 30;
  calibration best;
  unsigned evaluations = 0;
  for (const unsigned near_first : tries) {
    topology base = start;
    base.near_first = near_first;
    simplex s(base, evaluations);
    for (int i = 0; i < steps; ++i) s.step();
    const calibration found = s.best();
    if (best.evaluations == 0 || found.error < best.error) best = found;
    progress(found);
  }
  best.evaluations = evaluations;
  return best;
}

}  // namespace cmdq::manycore
