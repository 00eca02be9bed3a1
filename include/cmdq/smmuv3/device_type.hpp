// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/platform/concepts.hpp>

namespace cmdq {

/// An SMMUv3 as the queue sees it: the command-queue registers. write_prod() and read_cons() as in ring_device;
/// write_gerrorn() orders like write_prod().
/// Where producers of several processes share a queue, the device object lies in the shared block, too, and must hold
/// no addresses: that of its registers comes from a static of each process, which has mapped them for itself.
template <class D>
concept device_type = ring_device<D> && requires(D& d, uint32_t v) {
  { d.read_gerror() } -> detail::same_as<uint32_t>;
  { d.read_gerrorn() } -> detail::same_as<uint32_t>;
  d.write_gerrorn(v);
};

}  // namespace cmdq
