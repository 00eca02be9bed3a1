// SPDX-License-Identifier: BSL-1.0
// The family that a configuration has unless it names another one: the only place where the queue knows of one.
#pragma once

#include <cmdq/smmuv3/family.hpp>

namespace cmdq {

using default_family = smmuv3::family;

}  // namespace cmdq
