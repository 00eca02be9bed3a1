// SPDX-License-Identifier: BSL-1.0
// The SMMUv3 for C: its commands, its registers with their barriers, bring-up. The same in every configuration.
#include "port.hpp"
#include "values.hpp"

#include <cmdq/smmuv3/device.hpp>

namespace {

using device = cmdq::smmuv3::device<>;

device mapped_at(void* base) noexcept { return device({reinterpret_cast<uintptr_t>(base)}); }

}  // namespace

extern "C" {

cmdq_refusal cmdq_encode(const cmdq_fields* fields, cmdq_command* out) {
  using namespace cmdq;
  if (fields == nullptr || out == nullptr)
    return c::to_c(refusal{status::invalid_argument, fields == nullptr ? "fields" : "out", 0, 0});
  const auto op = static_cast<uint32_t>(fields->op);
  if (op > 0xff) return c::to_c(refusal{status::invalid_argument, "opcode", op, 0xff});
  const result<command> r = encode(c::of_c(*fields));
  if (r) *out = {{r->word[0], r->word[1]}};
  return c::to_c(r.why());
}

cmdq_device cmdq_smmuv3(void* base) {
  return {base,
          [](void* b, uint32_t v) { mapped_at(b).write_prod(v); },
          [](void* b) { return mapped_at(b).read_cons(); },
          [](void* b) { return mapped_at(b).read_gerror(); },
          [](void* b) { return mapped_at(b).read_gerrorn(); },
          [](void* b, uint32_t v) { mapped_at(b).write_gerrorn(v); }};
}

cmdq_refusal cmdq_smmuv3_bring_up(void* base, cmdq_options* wanted, uint64_t ring, uint64_t timeout_ns) {
  using namespace cmdq;
  if (base == nullptr || wanted == nullptr)
    return c::to_c(refusal{status::invalid_argument, base == nullptr ? "base" : "options", 0, 0});
  device d = mapped_at(base);
  const smmuv3::capabilities can = d.read_capabilities();
  const options fitted = smmuv3::fit(c::of_c(*wanted), can);
  const auto up = d.bring_up<c::platform>(
      {.queue_base = ring, .queue_log2 = fitted.log2_size, .first = fitted.first, .timeout_ns = timeout_ns});
  if (up) *wanted = c::to_c(fitted);
  return c::to_c(up.why());
}

}  // extern "C"
