// SPDX-License-Identifier: BSL-1.0
#include "engine_impl.hpp"

namespace cmdq::checks {
template rl::test_result_e explore_threads<2>(rl::test_params&, std::string&);
}
