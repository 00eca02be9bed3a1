// SPDX-License-Identifier: BSL-1.0
// Machines other than the calibrated one that meet the published figures as well: how they are drawn.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "published.hpp"
#include "random.hpp"
#include "topology.hpp"

namespace cmdq::manycore {

/// A parameter that nobody has measured on the machine of the published figures. It may lie anywhere from half to twice
/// what the base machine has; 0 stays 0.
struct uncertain_parameter {
  const char* name;
  double (*get)(const topology&);
  void (*set)(topology&, double);
};
const std::vector<uncertain_parameter>& uncertain_parameters();

/// Simulated / published for each of published_contention, on a run of 3 ms. Stops at the first figure that is off by
/// more than `within` (0.15: 15 %): the rest is then missing.
std::vector<double> published_ratios(const topology& t, double within);

struct kept_machine {
  topology machine;
  std::vector<double> figures;  ///< as published_ratios()
};

struct draw_options {
  unsigned keep = 200;
  double within = 0.15;
  std::uint64_t seed = 1;
  unsigned threads = 1;
  unsigned steps = 8;                           ///< of the walk between two machines that are kept
  std::function<void(unsigned kept)> progress;  ///< called by one thread at a time
};

/// Draws options.keep machines. Target: the uniform distribution, in the logarithms of the parameters, over all
/// machines within a factor of two of `base` either way that meet every published figure within options.within. Method:
/// 8 walks from `base`, each by slice sampling along random directions (a step picks a point at random on a line
/// through the last one and shrinks towards that one until it meets the figures); directions are drawn longer where, by
/// a linear fit at `base`, the figures do not change. A step with fetch_ahead 0 and 1 exchanged is tried before each
/// machine that is kept. Same base and options: the same machines, whatever the number of threads. Throws
/// std::invalid_argument when `base` itself does not meet the figures.
std::vector<kept_machine> draw_machines(const topology& base, const draw_options& o);

/// Runs task(0) .. task(n - 1) on so many threads. Rethrows what a task threw first.
void in_parallel(unsigned threads, std::size_t n, const std::function<void(std::size_t)>& task);

}  // namespace cmdq::manycore
