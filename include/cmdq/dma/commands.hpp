// SPDX-License-Identifier: BSL-1.0
// Which commands drop the translations of a range, of stage 1, of stage 2, and of what a guest made of stage 2.
#pragma once

#include <cmdq/dma/gather.hpp>
#include <cmdq/dma/page_policy.hpp>
#include <cmdq/smmuv3/commands.hpp>
#include <cmdq/smmuv3/range.hpp>

namespace cmdq::dma {

/// What the mapper's addresses are.
enum class stage : uint8_t {
  one,     ///< VAs of an ASID (non-global mappings)
  two,     ///< IPAs of a VMID, used by devices without a stage 1 of their own
  nested,  ///< IPAs of a VMID under a stage 1 that a guest owns: caches also hold VAs straight to PAs
};

/// The address space whose translations are dropped (4 KiB granule).
struct address_space {
  uint16_t vmid = 0;
  uint16_t asid = 0;  ///< stage one only
  bool ril = false;   ///< the device has IDR3.RIL
  stage of = stage::one;
  bool ats = false;  ///< streams with an ATC may be attached
};

/// The commands for one run of pages. A 64 KiB page is 16 level-3 entries; only 2 MiB pages are of another level. Runs
/// of mixed pages give no level, and take walk caches along.
constexpr result<smmuv3::range_commands> commands_for(const page_run& run, const address_space& space) noexcept {
  smmuv3::invalidation what;
  what.op = space.of == stage::one ? smmuv3::opcode::tlbi_nh_va : smmuv3::opcode::tlbi_s2_ipa;
  what.start = run.iova;
  what.end = run.iova + run.bytes;
  what.page_sizes = uint64_t{1} << log2_4k | uint64_t{1} << log2_2m;
  what.leaf_size = uint64_t{1} << (run.page_log2 == log2_2m ? log2_2m : log2_4k);
  what.leaf = run.page_log2 != page_run::mixed;
  what.ril = space.ril;
  what.vmid = space.vmid;
  what.asid = space.of == stage::one ? space.asid : 0;
  return smmuv3::range_commands::make(what);
}

/// The one command for all translations of the space, a guest's combined ones included.
constexpr command command_for_all(const address_space& space) noexcept {
  if (space.of == stage::one) return *smmuv3::encode(smmuv3::tlbi_nh_asid{.vmid = space.vmid, .asid = space.asid});
  return *smmuv3::encode(smmuv3::tlbi_s12_vmall{.vmid = space.vmid});
}

/// What must follow the ranges of a nested space, behind a CMD_SYNC of theirs: a TLBI by IPA drops stage 2 entries, and
/// an entry that leads from a VA to a PA is found by VA, ASID or VMID only. Before the CMD_SYNC a walk may still make
/// such an entry from a stage 2 entry that is on its way out; CPUs put a DSB there for the same reason.
constexpr command command_for_combined(const address_space& space) noexcept {
  return *smmuv3::encode(smmuv3::tlbi_nh_all{.vmid = space.vmid});
}

}  // namespace cmdq::dma
