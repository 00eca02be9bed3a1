// SPDX-License-Identifier: BSL-1.0
// DMA operations chosen at run time. Where the mapper's type is known, call it: that is the library's way and costs
// nothing. A driver that must serve whatever mapper its device has holds a `handle`: the common mapper is called
// directly behind a branch, any other through a table of functions. Without speculation in indirect branches
// (retpolines) the branch is many times cheaper than the call.
#pragma once

#include <cmdq/core/status.hpp>
#include <cmdq/dma/mapper.hpp>

namespace cmdq::dma {

/// What a handle can refer to: map and unmap with the meaning they have in mapper.
template <class M>
concept mapping = requires(M& m, uint32_t cpu, const device& dev, uint64_t address, uint64_t bytes) {
  { m.map(cpu, dev, address, bytes) } -> detail::same_as<result<uint64_t>>;
  { m.unmap(cpu, dev, address, bytes) } -> detail::same_as<status>;
};

/// A device without an IOMMU: it sees physical addresses.
struct passthrough {
  result<uint64_t> map(uint32_t, const device&, uint64_t pa, uint64_t bytes) noexcept {
    if (bytes == 0) return refusal{status::invalid_argument, "bytes", bytes, 1};
    return pa;
  }
  status unmap(uint32_t, const device&, uint64_t, uint64_t bytes) noexcept {
    return bytes == 0 ? status::invalid_argument : status::ok;
  }
};

/// Two pointers and a table; copies refer to the same mapper, which must outlive them. `Common`: the mapper that most
/// devices have.
template <mapping Common>
class handle {
 public:
  /// Direct calls.
  explicit handle(Common& common) noexcept : common_(&common) {}
  /// Calls through a table.
  template <mapping Other>
  requires(!detail::same<Other, Common>) explicit handle(Other& other) noexcept
      : other_(&other), table_(&table_for<Other>) {}

  /// As Common::map(). Cost beyond it: one branch, or one indirect call.
  result<uint64_t> map(uint32_t cpu, const device& dev, uint64_t pa, uint64_t bytes) const noexcept {
    if (common_ != nullptr) return common_->map(cpu, dev, pa, bytes);
    return table_->map(other_, cpu, dev, pa, bytes);
  }
  /// As Common::unmap(). Cost beyond it: one branch, or one indirect call.
  status unmap(uint32_t cpu, const device& dev, uint64_t iova, uint64_t bytes) const noexcept {
    if (common_ != nullptr) return common_->unmap(cpu, dev, iova, bytes);
    return table_->unmap(other_, cpu, dev, iova, bytes);
  }
  [[nodiscard]] bool direct() const noexcept { return common_ != nullptr; }

 private:
  struct table {
    result<uint64_t> (*map)(void*, uint32_t, const device&, uint64_t, uint64_t) noexcept;
    status (*unmap)(void*, uint32_t, const device&, uint64_t, uint64_t) noexcept;
  };
  template <class M>
  static constexpr table table_for = {
      [](void* m, uint32_t cpu, const device& dev, uint64_t pa, uint64_t bytes) noexcept {
        return static_cast<M*>(m)->map(cpu, dev, pa, bytes);
      },
      [](void* m, uint32_t cpu, const device& dev, uint64_t iova, uint64_t bytes) noexcept {
        return static_cast<M*>(m)->unmap(cpu, dev, iova, bytes);
      }};

  Common* common_ = nullptr;
  void* other_ = nullptr;
  const table* table_ = nullptr;
};

}  // namespace cmdq::dma
