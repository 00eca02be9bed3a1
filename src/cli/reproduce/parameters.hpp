// SPDX-License-Identifier: BSL-1.0
// Every number that a reproduced figure hangs on and that is not a published figure itself: with its value, limits and
// where it comes from, changeable from the command line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cmdq::cli {

/// Where a number comes from. Of a figure: how ours came about.
enum class origin {
  input,      ///< published, or a fact of the hardware; taken as it is
  fitted,     ///< chosen so that a published figure comes out
  chosen,     ///< nobody published it: an assumption, perhaps made after the results were seen
  predicted,  ///< figures only: could have come out otherwise
};
const char* name(origin o);

struct parameter {
  const char* name;  ///< "section.what"
  double value;
  double least;
  double most;
  bool whole;  ///< integers only
  const char* unit;
  origin from;
  const char* source;
};

/// All of them, with the values of this run.
class parameters {
 public:
  parameters();
  /// Precondition: there is one of that name.
  [[nodiscard]] double operator[](std::string_view name) const;
  /// "name=value". Throws input_error with what is known, or the limits.
  void set(const std::string& assignment);
  void set(std::size_t index, double value) { all_[index].value = value; }
  [[nodiscard]] const std::vector<parameter>& all() const noexcept { return all_; }

 private:
  std::vector<parameter> all_;
};

}  // namespace cmdq::cli
