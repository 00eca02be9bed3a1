// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/smmuv3/wire.hpp>

#include <string>
#include <vector>

namespace cmdq::cli {

/// The command of that name, in any case, with or without the CMD_ of the specification, with fields given as
/// `field=value`; those not given are 0. Throws input_error with name, value and limit.
command command_from(const std::string& name, const std::vector<std::string>& fields);

}  // namespace cmdq::cli
