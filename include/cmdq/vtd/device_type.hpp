// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/platform/concepts.hpp>

namespace cmdq::vtd {

/// A VT-d unit as the queue sees it. write_prod() is IQT, read_cons() the low half of IQH. write_fsts() writes ones to
/// clear and orders like write_prod(); read_iqercd() may return 0 where there is no such register.
template <class D>
concept device_type = ring_device<D> && requires(D& d, uint32_t v) {
  { d.read_fsts() } -> cmdq::detail::same_as<uint32_t>;
  d.write_fsts(v);
  { d.read_iqercd() } -> cmdq::detail::same_as<uint64_t>;
};

}  // namespace cmdq::vtd
