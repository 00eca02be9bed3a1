// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmdq/platform/concepts.hpp>

namespace cmdq::riscv {

/// A RISC-V IOMMU as the queue sees it. write_prod() is cqt, read_cons() cqh. clear_errors() writes ones to those bits
/// of cqcsr, the enables as they are, and orders like write_prod().
template <class D>
concept device_type = ring_device<D> && requires(D& d, uint32_t v) {
  { d.read_cqcsr() } -> cmdq::detail::same_as<uint32_t>;
  d.clear_errors(v);
};

}  // namespace cmdq::riscv
