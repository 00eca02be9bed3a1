// SPDX-License-Identifier: BSL-1.0
#include <cmdq/core/position.hpp>

#include "support/test.hpp"

using namespace cmdq;

CMDQ_TEST(bug_L66_full_is_not_empty) {
  const geometry g{2};
  CMDQ_CHECK(g.full(4, 0));
  CMDQ_CHECK(!g.empty(4, 0));
}
