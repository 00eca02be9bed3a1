// SPDX-License-Identifier: BSL-1.0
// The platform that the scenarios run on: Relacy's, or the explorer's where they are compiled a second time for it.
#pragma once

#if defined(CMDQ_EXHAUST)
#include "../exhaust/platform.hpp"
#else
#include "relacy_platform.hpp"

#include <cmdq/wait/spin.hpp>
#endif

namespace cmdq::checks {

#if defined(CMDQ_EXHAUST)
using P = explored_platform;
using busy_wait = explored_wait;
#else
using P = relacy_platform;
using busy_wait = wait::spin;
#endif

}  // namespace cmdq::checks
