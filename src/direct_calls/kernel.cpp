// SPDX-License-Identifier: BSL-1.0
#include "kernel.hpp"

#include <cmdq/dma/dispatch.hpp>

namespace cmdq::direct_calls {

// One copy per way of compiling: internal linkage, so that the linker cannot merge them.
namespace {

using dma::device;
constexpr device some_device{};
constexpr std::uint64_t buffer_bytes = 2048;

/// Table in C's manner.
struct operations {
  result<std::uint64_t> (*map)(void*, std::uint32_t, const device&, std::uint64_t, std::uint64_t);
  status (*unmap)(void*, std::uint32_t, const device&, std::uint64_t, std::uint64_t);
};

struct abstract_mapper {
  virtual result<std::uint64_t> map(std::uint32_t, const device&, std::uint64_t, std::uint64_t) = 0;
  virtual status unmap(std::uint32_t, const device&, std::uint64_t, std::uint64_t) = 0;

 protected:
  ~abstract_mapper() = default;
};

struct concrete_mapper final : abstract_mapper {
  result<std::uint64_t> map(std::uint32_t cpu, const device& dev, std::uint64_t pa, std::uint64_t bytes) override {
    return real.map(cpu, dev, pa, bytes);
  }
  status unmap(std::uint32_t cpu, const device& dev, std::uint64_t iova, std::uint64_t bytes) override {
    return real.unmap(cpu, dev, iova, bytes);
  }
  dma::passthrough real;
};

/// A mapper of another type, for a handle that goes through its table.
struct other_mapper : dma::passthrough {};

using any_handle = dma::handle<dma::passthrough>;

struct by_table {
  const operations* table;
  void* object;
  result<std::uint64_t> map(std::uint32_t cpu, const device& dev, std::uint64_t pa, std::uint64_t bytes) const {
    return table->map(object, cpu, dev, pa, bytes);
  }
  status unmap(std::uint32_t cpu, const device& dev, std::uint64_t iova, std::uint64_t bytes) const {
    return table->unmap(object, cpu, dev, iova, bytes);
  }
};

std::uint64_t other_step(std::uint64_t x) { return x * 0x9e3779b97f4a7c15ULL + 1; }
using other_call = std::uint64_t (*)(std::uint64_t);

/// Hides from the optimiser what a pointer points to.
template <class T>
T opaque(T value) {
  __asm__ __volatile__("" : "+r"(value));
  return value;
}

template <class Mapper>
std::uint64_t loop(Mapper& mapper, const packet_shape& shape, std::uint64_t packets) {
  std::uint64_t sum = 1;
  for (std::uint64_t i = 0; i < packets; ++i) {
    for (unsigned p = 0; p < shape.pairs; ++p) {
      const auto iova = mapper.map(0, some_device, 0x10000 + (sum & 0xf000), buffer_bytes);
      sum += *iova + static_cast<std::uint64_t>(mapper.unmap(0, some_device, *iova, buffer_bytes));
    }
    for (unsigned c = 0; c < shape.other_calls; ++c) sum = opaque<other_call>(other_step)(sum);
    for (unsigned w = 0; w < shape.work; ++w) sum = opaque(sum * 0x9e3779b97f4a7c15ULL + w);
  }
  return sum;
}

/// Makes the two calls of an operation; the sum depends on all that they returned.
template <class Mapper>
std::uint64_t operate(Mapper& mapper, operation what, std::uint64_t sum) {
  const std::uint64_t pa = 0x10000 + (sum & 0xf000);
  switch (what) {
    case operation::map_sg: {
      dma::segment list[4] = {{pa, 4096}, {pa + 4096, 4096}, {pa + 0x100000, 4096}, {pa + 0x200000, 2048}};
      const auto n = mapper.map_sg(0, some_device, list, 4, list);
      return *n + list[0].bytes + static_cast<std::uint64_t>(mapper.unmap_sg(0, some_device, list, *n));
    }
    case operation::sync:
      return static_cast<std::uint64_t>(mapper.sync_for_device(0, some_device, pa, buffer_bytes)) +
             static_cast<std::uint64_t>(mapper.sync_for_cpu(0, some_device, pa, buffer_bytes)) + 1;
    case operation::alloc_free: {
      const auto m = mapper.alloc(0, some_device, buffer_bytes);
      return static_cast<std::uint64_t>(m.code()) + static_cast<std::uint64_t>(mapper.free(0, some_device, {}));
    }
    default: {
      const auto iova = mapper.map(0, some_device, pa, buffer_bytes);
      if (!iova.ok()) return static_cast<std::uint64_t>(iova.code());
      return *iova + static_cast<std::uint64_t>(mapper.unmap(0, some_device, *iova, buffer_bytes));
    }
  }
}

template <class Mapper>
std::uint64_t repeat(Mapper& mapper, operation what, std::uint64_t times) {
  std::uint64_t sum = 1;
  for (std::uint64_t i = 0; i < times; ++i) sum = opaque(sum + operate(mapper, what, sum));
  return sum;
}

struct other_refuse_all : dma::refuse_all {};

/// `Other`: the same operations in another type, so that a handle goes through its table.
template <class Common, class Other>
std::uint64_t repeat_by(reach how, operation what, std::uint64_t times) {
  Common common;
  Other other;
  if (how == reach::statically) return repeat(common, what, times);
  using handle = dma::handle<Common>;
  const handle* const through = opaque<const handle*>(how == reach::handle ? new handle(common) : new handle(other));
  const std::uint64_t sum = repeat(*through, what, times);
  delete through;
  return sum;
}

}  // namespace

#if defined(CMDQ_RETPOLINE_BUILD)
std::uint64_t retpoline_operation(reach how, operation what, std::uint64_t times) {
#else
std::uint64_t plain_operation(reach how, operation what, std::uint64_t times) {
#endif
  if (what == operation::refused) return repeat_by<dma::refuse_all, other_refuse_all>(how, what, times);
  return repeat_by<dma::passthrough, other_mapper>(how, what, times);
}

#if defined(CMDQ_RETPOLINE_BUILD)
std::uint64_t retpoline_packets(reach how, const packet_shape& shape, std::uint64_t packets) {
#else
std::uint64_t plain_packets(reach how, const packet_shape& shape, std::uint64_t packets) {
#endif
  dma::passthrough common;
  other_mapper other;
  concrete_mapper concrete;
  static constexpr operations table = {
      [](void* m, std::uint32_t cpu, const device& dev, std::uint64_t pa, std::uint64_t bytes) {
        return static_cast<dma::passthrough*>(m)->map(cpu, dev, pa, bytes);
      },
      [](void* m, std::uint32_t cpu, const device& dev, std::uint64_t iova, std::uint64_t bytes) {
        return static_cast<dma::passthrough*>(m)->unmap(cpu, dev, iova, bytes);
      }};
  switch (how) {
    case reach::statically:
      return loop(common, shape, packets);
    case reach::function_pointer: {
      const by_table through{opaque(&table), &common};
      return loop(through, shape, packets);
    }
    case reach::virtually: {
      abstract_mapper* const through = opaque<abstract_mapper*>(&concrete);
      return loop(*through, shape, packets);
    }
    case reach::handle: {
      const any_handle* const through = opaque<const any_handle*>(new any_handle(common));
      const std::uint64_t sum = loop(*through, shape, packets);
      delete through;
      return sum;
    }
    default: {
      const any_handle* const through = opaque<const any_handle*>(new any_handle(other));
      const std::uint64_t sum = loop(*through, shape, packets);
      delete through;
      return sum;
    }
  }
}

}  // namespace cmdq::direct_calls
