// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>

namespace cmdq::cli {

/// All of a file, plain or compressed by gzip; "-": of standard input. Throws input_error when it cannot be read, is
/// cut short or damaged where it is compressed, or is longer than a gigabyte.
std::string read_input(const std::string& file);

}  // namespace cmdq::cli
