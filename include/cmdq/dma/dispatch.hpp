// SPDX-License-Identifier: BSL-1.0
// DMA operations chosen at run time. Where the mapper's type is known, call it: that is the library's way and costs
// nothing. A driver that must serve whatever mapper its device has holds a `handle`: the common mapper is called
// directly behind a branch, any other through a table of functions. Without speculation in indirect branches
// (retpolines) the branch is many times cheaper than the call.
#pragma once

#include <cmdq/core/status.hpp>
#include <cmdq/dma/device.hpp>
#include <cmdq/platform/concepts.hpp>

namespace cmdq::dma {

/// What a handle can refer to: the operations with the meaning they have in mapper.
template <class M>
concept mapping = requires(M& m, uint32_t cpu, const device& dev, uint64_t address, uint64_t bytes, direction way,
                           const segment* list, uint32_t n, segment* out, const coherent_memory& memory) {
  { m.map(cpu, dev, address, bytes, way) } -> detail::same_as<result<uint64_t>>;
  { m.unmap(cpu, dev, address, bytes) } -> detail::same_as<status>;
  { m.map_sg(cpu, dev, list, n, out, way) } -> detail::same_as<result<uint32_t>>;
  { m.unmap_sg(cpu, dev, list, n) } -> detail::same_as<status>;
  { m.sync_for_device(cpu, dev, address, bytes) } -> detail::same_as<status>;
  { m.sync_for_cpu(cpu, dev, address, bytes) } -> detail::same_as<status>;
  { m.alloc(cpu, dev, bytes) } -> detail::same_as<result<coherent_memory>>;
  { m.free(cpu, dev, memory) } -> detail::same_as<status>;
};

/// A device without an IOMMU: it sees physical addresses. It has no memory of its own to give: alloc() is refused
/// (no_space).
struct passthrough {
  result<uint64_t> map(uint32_t, const device& dev, uint64_t pa, uint64_t bytes, direction = direction::both) noexcept {
    if (bytes == 0) return refusal{status::invalid_argument, "bytes", bytes, 1};
    const uint64_t last = dev.address_bits < 64 ? (uint64_t{1} << dev.address_bits) - 1 : ~uint64_t{0};
    if (pa > last || bytes - 1 > last - pa) return refusal{status::out_of_range, "pa", pa, last};
    return pa;
  }
  status unmap(uint32_t, const device&, uint64_t, uint64_t bytes) noexcept {
    return bytes == 0 ? status::invalid_argument : status::ok;
  }
  /// Joins what is contiguous in memory.
  result<uint32_t> map_sg(uint32_t cpu, const device& dev, const segment* list, uint32_t n, segment* out,
                          direction = direction::both) noexcept {
    if (n == 0 || list == nullptr || out == nullptr) return refusal{status::invalid_argument, "segments", n, 1};
    for (uint32_t i = 0; i < n; ++i) {
      const result<uint64_t> one = map(cpu, dev, list[i].address, list[i].bytes);
      if (!one) return one.why();
    }
    uint32_t used = 0;
    for (uint32_t i = 0; i < n; ++i) {
      const segment in = list[i];
      const bool meets = used != 0 && out[used - 1].address + out[used - 1].bytes == in.address &&
                         out[used - 1].bytes <= dev.most_per_segment &&
                         in.bytes <= dev.most_per_segment - out[used - 1].bytes;
      if (meets) {
        out[used - 1].bytes += in.bytes;
      } else {
        out[used++] = in;
      }
    }
    return used;
  }
  status unmap_sg(uint32_t, const device&, const segment* mapped, uint32_t n) noexcept {
    return mapped == nullptr || n == 0 ? status::invalid_argument : status::ok;
  }
  status sync_for_device(uint32_t, const device&, uint64_t, uint64_t) noexcept { return status::ok; }
  status sync_for_cpu(uint32_t, const device&, uint64_t, uint64_t) noexcept { return status::ok; }
  result<coherent_memory> alloc(uint32_t, const device&, uint64_t bytes) noexcept {
    return refusal{status::no_space, "bytes", bytes, 0};
  }
  status free(uint32_t, const device&, const coherent_memory&) noexcept { return status::invalid_argument; }
};

/// A device that must not do DMA: every operation is refused (invalid_argument) and changes nothing.
struct refuse_all {
  result<uint64_t> map(uint32_t, const device&, uint64_t pa, uint64_t, direction = direction::both) noexcept {
    return refusal{status::invalid_argument, "device", pa, 0};
  }
  status unmap(uint32_t, const device&, uint64_t, uint64_t) noexcept { return status::invalid_argument; }
  result<uint32_t> map_sg(uint32_t, const device&, const segment*, uint32_t n, segment*,
                          direction = direction::both) noexcept {
    return refusal{status::invalid_argument, "device", n, 0};
  }
  status unmap_sg(uint32_t, const device&, const segment*, uint32_t) noexcept { return status::invalid_argument; }
  status sync_for_device(uint32_t, const device&, uint64_t, uint64_t) noexcept { return status::invalid_argument; }
  status sync_for_cpu(uint32_t, const device&, uint64_t, uint64_t) noexcept { return status::invalid_argument; }
  result<coherent_memory> alloc(uint32_t, const device&, uint64_t bytes) noexcept {
    return refusal{status::invalid_argument, "device", bytes, 0};
  }
  status free(uint32_t, const device&, const coherent_memory&) noexcept { return status::invalid_argument; }
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

  // Each as in Common. Cost beyond it: one branch, or one indirect call.

  result<uint64_t> map(uint32_t cpu, const device& dev, uint64_t pa, uint64_t bytes,
                       direction way = direction::both) const noexcept {
    if (common_ != nullptr) return common_->map(cpu, dev, pa, bytes, way);
    return table_->map(other_, cpu, dev, pa, bytes, way);
  }
  status unmap(uint32_t cpu, const device& dev, uint64_t iova, uint64_t bytes) const noexcept {
    if (common_ != nullptr) return common_->unmap(cpu, dev, iova, bytes);
    return table_->unmap(other_, cpu, dev, iova, bytes);
  }
  result<uint32_t> map_sg(uint32_t cpu, const device& dev, const segment* list, uint32_t n, segment* out,
                          direction way = direction::both) const noexcept {
    if (common_ != nullptr) return common_->map_sg(cpu, dev, list, n, out, way);
    return table_->map_sg(other_, cpu, dev, list, n, out, way);
  }
  status unmap_sg(uint32_t cpu, const device& dev, const segment* mapped, uint32_t n) const noexcept {
    if (common_ != nullptr) return common_->unmap_sg(cpu, dev, mapped, n);
    return table_->unmap_sg(other_, cpu, dev, mapped, n);
  }
  status sync_for_device(uint32_t cpu, const device& dev, uint64_t iova, uint64_t bytes) const noexcept {
    if (common_ != nullptr) return common_->sync_for_device(cpu, dev, iova, bytes);
    return table_->sync_for_device(other_, cpu, dev, iova, bytes);
  }
  status sync_for_cpu(uint32_t cpu, const device& dev, uint64_t iova, uint64_t bytes) const noexcept {
    if (common_ != nullptr) return common_->sync_for_cpu(cpu, dev, iova, bytes);
    return table_->sync_for_cpu(other_, cpu, dev, iova, bytes);
  }
  result<coherent_memory> alloc(uint32_t cpu, const device& dev, uint64_t bytes) const noexcept {
    if (common_ != nullptr) return common_->alloc(cpu, dev, bytes);
    return table_->alloc(other_, cpu, dev, bytes);
  }
  status free(uint32_t cpu, const device& dev, const coherent_memory& memory) const noexcept {
    if (common_ != nullptr) return common_->free(cpu, dev, memory);
    return table_->free(other_, cpu, dev, memory);
  }
  [[nodiscard]] bool direct() const noexcept { return common_ != nullptr; }

 private:
  struct table {
    result<uint64_t> (*map)(void*, uint32_t, const device&, uint64_t, uint64_t, direction) noexcept;
    status (*unmap)(void*, uint32_t, const device&, uint64_t, uint64_t) noexcept;
    result<uint32_t> (*map_sg)(void*, uint32_t, const device&, const segment*, uint32_t, segment*, direction) noexcept;
    status (*unmap_sg)(void*, uint32_t, const device&, const segment*, uint32_t) noexcept;
    status (*sync_for_device)(void*, uint32_t, const device&, uint64_t, uint64_t) noexcept;
    status (*sync_for_cpu)(void*, uint32_t, const device&, uint64_t, uint64_t) noexcept;
    result<coherent_memory> (*alloc)(void*, uint32_t, const device&, uint64_t) noexcept;
    status (*free)(void*, uint32_t, const device&, const coherent_memory&) noexcept;
  };
  template <class M>
  static M& as(void* object) noexcept {
    return *static_cast<M*>(object);
  }
  template <class M>
  static constexpr table table_for = {
      [](void* m, uint32_t cpu, const device& dev, uint64_t pa, uint64_t bytes, direction way) noexcept {
        return as<M>(m).map(cpu, dev, pa, bytes, way);
      },
      [](void* m, uint32_t cpu, const device& dev, uint64_t iova, uint64_t bytes) noexcept {
        return as<M>(m).unmap(cpu, dev, iova, bytes);
      },
      [](void* m, uint32_t cpu, const device& dev, const segment* list, uint32_t n, segment* out,
         direction way) noexcept { return as<M>(m).map_sg(cpu, dev, list, n, out, way); },
      [](void* m, uint32_t cpu, const device& dev, const segment* mapped, uint32_t n) noexcept {
        return as<M>(m).unmap_sg(cpu, dev, mapped, n);
      },
      [](void* m, uint32_t cpu, const device& dev, uint64_t iova, uint64_t bytes) noexcept {
        return as<M>(m).sync_for_device(cpu, dev, iova, bytes);
      },
      [](void* m, uint32_t cpu, const device& dev, uint64_t iova, uint64_t bytes) noexcept {
        return as<M>(m).sync_for_cpu(cpu, dev, iova, bytes);
      },
      [](void* m, uint32_t cpu, const device& dev, uint64_t bytes) noexcept { return as<M>(m).alloc(cpu, dev, bytes); },
      [](void* m, uint32_t cpu, const device& dev, const coherent_memory& memory) noexcept {
        return as<M>(m).free(cpu, dev, memory);
      }};

  Common* common_ = nullptr;
  void* other_ = nullptr;
  const table* table_ = nullptr;
};

}  // namespace cmdq::dma
