// SPDX-License-Identifier: BSL-1.0
// Fits the machine's free parameters to the fitted points of published.hpp, and to nothing else.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "published.hpp"
#include "topology.hpp"

namespace cmdq::manycore {

struct compared_point {
  std::string what;
  use kind;
  double published;
  double simulated;
  [[nodiscard]] double relative_error() const noexcept { return simulated / published - 1; }
};

/// A parameter that the fit may move, within bounds.
struct free_parameter {
  const char* name;
  picoseconds& (*in)(topology&);
  double least_ns;
  double most_ns;
};

const std::vector<free_parameter>& free_parameters();

/// Each published point on the given machine: 4 seeds of 5 ms each, averaged.
std::vector<compared_point> compare(const topology& t, use kind);

struct calibration {
  topology best;
  double error = 0;  ///< root of the mean squared logarithmic error over the fitted points
  unsigned evaluations = 0;
};

/// Nelder-Mead over the logarithms of the free parameters, once for each near_first of `tries`. Deterministic.
/// `progress` is called after each try.
calibration calibrate(const topology& start, const std::vector<unsigned>& tries,
                      const std::function<void(const calibration&)>& progress);

}  // namespace cmdq::manycore
