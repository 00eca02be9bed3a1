// SPDX-License-Identifier: BSL-1.0
// Commands of the families other than the SMMUv3, which describe theirs by tables: "vtd", "amdvi", "riscv".
#pragma once

#include <cmdq/core/command.hpp>
#include <string>
#include <vector>

#include "output/results.hpp"

namespace cmdq::cli {

/// The fields of a command, for people and as JSON. Throws input_error: no command, reserved bits.
void decode_by_table(const std::string& family, const command& c, results& out);

/// Its words, from name and field=value. Throws input_error.
void encode_by_table(const std::string& family, const std::string& name, const std::vector<std::string>& fields,
                     results& out);

/// Names and fields of all commands.
void list_table(const std::string& family, results& out);

}  // namespace cmdq::cli
