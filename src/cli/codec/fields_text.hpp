// SPDX-License-Identifier: BSL-1.0
// Commands as text: shared by `decode`, `encode` and the check of recorded streams.
#pragma once

#include <cmdq/smmuv3/codec.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace cmdq::cli {

/// The fields of a command in one line, `name=value` with semicolons between, in the order of the command's layout;
/// identifiers and addresses in hexadecimal. SSV, SSID and GLOBAL appear only when they are not 0. Throws input_error
/// with explain()'s text when the command cannot be decoded.
std::string fields_text(const command& c);

/// The name of the command's opcode, "unknown" when there is none.
std::string_view command_name(const command& c);

/// Why a command or a value was refused, with the field, the value and the limit.
std::string explain(const refusal& why);

/// A number in decimal or, with 0x, in hexadecimal. Throws input_error naming `what` for anything else.
uint64_t parse_number(std::string_view text, std::string_view what);

/// {"command", "opcode", "words": [2 strings], "fields": {...}, "legal"}. Precondition: the command decodes.
nlohmann::ordered_json to_json(const command& c);

/// Several lines for people: name and fields, words, then each field with its place and meaning.
/// Precondition: the command decodes.
std::string to_table(const command& c);

}  // namespace cmdq::cli
