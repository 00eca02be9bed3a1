// SPDX-License-Identifier: BSL-1.0
// Typed commands as a user's own namespace sees them: nothing of cmdq is named but the commands.
#include <cmdq/smmuv3/commands.hpp>

#include "support/test.hpp"

namespace somebody_elses {
namespace {

template <class T>
constexpr bool encodes() {
  return requires(const T& c) { encode(c); };
}

template <class... Ts>
unsigned how_many_encode() {
  return (0U + ... + (encodes<Ts>() ? 1U : 0U));
}

namespace smmu = cmdq::smmuv3;

CMDQ_TEST(r25_encode_is_found_without_a_namespace) {
  const unsigned found =
      how_many_encode<smmu::prefetch_config, smmu::prefetch_addr, smmu::cfgi_ste, smmu::cfgi_ste_range, smmu::cfgi_cd,
                      smmu::cfgi_cd_all, smmu::tlbi_nh_all, smmu::tlbi_nh_asid, smmu::tlbi_nh_va, smmu::tlbi_nh_vaa,
                      smmu::tlbi_el3_all, smmu::tlbi_el3_va, smmu::tlbi_el2_all, smmu::tlbi_el2_asid, smmu::tlbi_el2_va,
                      smmu::tlbi_s12_vmall, smmu::tlbi_s2_ipa, smmu::tlbi_nsnh_all, smmu::atc_inv, smmu::pri_resp,
                      smmu::resume, smmu::stall_term, smmu::cmd_sync, smmu::any_command>();
  CMDQ_CHECK_EQ(found, static_cast<unsigned>(std::size(smmu::layouts)) + 1U);
}

}  // namespace
}  // namespace somebody_elses
