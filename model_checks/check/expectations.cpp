// SPDX-License-Identifier: BSL-1.0
#include "expectations.hpp"

#include <array>

namespace cmdq::checks {

namespace {

constexpr std::array rejections = {
    rejection{{site::valid_mark, order::relaxed}, "self/message_passing"},
    rejection{{site::valid_wait, order::relaxed}, "self/message_passing"},
};

}  // namespace

std::span<const rejection> known_rejections() { return rejections; }

std::span<const explanation> known_explanations() { return {}; }

}  // namespace cmdq::checks
