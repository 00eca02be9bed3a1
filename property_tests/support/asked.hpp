// SPDX-License-Identifier: BSL-1.0
// What a driver learns of a modelled device by its identification registers.
#pragma once

#include <cmdq/model/capabilities.hpp>
#include <cmdq/smmuv3/capabilities.hpp>

namespace cmdq::test {

inline smmuv3::capabilities asked(const model::capabilities& c) {
  smmuv3::capabilities seen =
      smmuv3::decode_capabilities(model::idr0(c), model::idr1(c), model::idr3(c), model::idr5(), c.iidr);
  seen.part = seen.part | c.part;  // parts that are known by firmware tables only
  return seen;
}

}  // namespace cmdq::test
