// SPDX-License-Identifier: BSL-1.0
// Performance lost to the IOMMU by i915 loads without and with transparent huge pages. Source: the measurements linked
// from the patch "drm/i915/gem: Use Transparent Hugepages when IOMMU is enabled" of 2021-09-09; percent against IOMMU
// off, as intervals; negative: gained. A load that only the first table lists lost less than what the second one's
// smallest row says, which is taken as 0 to 1 %; what only the second one lists had no published loss before it.
#pragma once

namespace cmdq::cli {

struct interval {
  double low;
  double high;
};

struct huge_page_load {
  const char* platform;
  const char* name;
  interval small_pages;
  interval huge_pages;
};

inline constexpr huge_page_load huge_page_fit = {"small Skylake", "OglVSTangent", {14, 14}, {2, 2}};

inline constexpr huge_page_load huge_page_loads[] = {
    {"Skylake GT4e", "SynMark CSDof", {30, 35}, {3, 3}},
    {"Skylake GT4e", "Unigine Heaven", {20, 25}, {2, 3}},
    {"Skylake GT4e", "Unigine Valley", {5, 6}, {2, 3}},
    {"Skylake GT4e", "GLB Egypt (1/2 screen)", {20, 20}, {15, 20}},
    {"Skylake GT4e", "GLB T-Rex (1/2 screen)", {10, 15}, {10, 15}},
    {"Skylake GT4e", "GfxBench T-Rex", {8, 10}, {4, 7}},
    {"Skylake GT4e", "GfxBench Manhattan 3.0", {6, 7}, {3, 3}},
    {"Skylake GT4e", "GfxBench Manhattan 3.1", {6, 7}, {1, 3}},
    {"Skylake GT4e", "GfxBench CarChase", {5, 6}, {1, 3}},
    {"Skylake GT4e", "GfxBench AztecRuins", {3, 5}, {1, 3}},
    {"Skylake GT4e", "GfxBench ALU2", {3, 5}, {1, 8}},
    {"Skylake GT4e", "MemBW GPU texture", {3, 5}, {2, 3}},
    {"Skylake GT4e", "SynMark TexMem128", {6, 7}, {20, 25}},
    {"Broxton", "SynMark ZBuffer", {25, 25}, {1, 2}},
    {"Broxton", "GpuTest Triangle", {15, 15}, {2, 4}},
    {"Broxton", "MemBW GPU texture", {10, 15}, {15, 20}},
    {"Broxton", "GLB Egypt", {10, 10}, {8, 9}},
    {"Broxton", "Unigine Heaven", {10, 10}, {2, 3}},
    {"Broxton", "Unigine Valley", {6, 8}, {2, 3}},
    {"Broxton", "SynMark TerrainFly*", {10, 10}, {1, 3}},
    {"Broxton", "GLB T-Rex", {7, 9}, {4, 5}},
    {"Broxton", "GfxBench Manhattan 3.0", {7, 9}, {3, 6}},
    {"Broxton", "GfxBench Manhattan 3.1", {5, 6}, {3, 4}},
    {"Broxton", "GfxBench CarChase", {6, 8}, {1, 2}},
    {"Broxton", "SynMark Deferred", {7, 9}, {3, 6}},
    {"Broxton", "SynMark TexMem*", {7, 9}, {10, 10}},
    {"Broxton", "SynMark TexFilterTri", {5, 6}, {3, 6}},
    {"Tiger Lake H", "MemBW GPU texture", {20, 25}, {-10, -5}},
    {"Tiger Lake H", "GpuTest Triangle", {15, 20}, {1, 2}},
    {"Tiger Lake H", "SynMark DeferredAA", {13, 15}, {-2, -1}},
    {"Tiger Lake H", "SynMark HdrBloom", {13, 15}, {4, 6}},
    {"Tiger Lake H", "GfxBench Manhattan 3.1", {8, 10}, {1, 1}},
    {"Tiger Lake H", "GfxBench Manhattan 3.0", {6, 7}, {1, 1}},
    {"Tiger Lake H", "SynMark DrvRes", {8, 10}, {3, 3}},
    {"Tiger Lake H", "GfxBench CarChase, AztecRuins", {4, 6}, {1, 2}},
    {"Tiger Lake H", "SynMark DrvState", {4, 6}, {4, 6}},
    {"Tiger Lake H", "GfxBench T-Rex, Egypt", {3, 5}, {1, 3}},
    {"Tiger Lake H", "Unigine Heaven", {3, 5}, {1, 1}},
    {"Tiger Lake H", "Unigine Valley", {3, 5}, {1, 2}},
};

/// In the first table only.
struct unlisted_load {
  const char* platform;
  const char* name;
  interval small_pages;
};
inline constexpr interval not_listed = {0, 1};
inline constexpr unlisted_load unlisted_loads[] = {
    {"Skylake GT4e", "MemBW GPU write", {20, 25}},
    {"Skylake GT4e", "SynMark VSTangent", {20, 25}},
    {"Skylake GT4e", "MemBW GPU blit", {8, 10}},
    {"Skylake GT4e", "SynMark DeferredAA, TerrainFly*, ZBuffer", {7, 8}},
    {"Skylake GT4e", "SynMark CSCloth", {6, 7}},
    {"Skylake GT4e", "SynMark Fill*, Deferred, TerrainPan*", {3, 5}},
    {"Broxton", "MemBW GPU write", {30, 30}},
    {"Broxton", "SynMark Fill*", {25, 25}},
    {"Broxton", "MemBW GPU blit", {20, 20}},
    {"Broxton", "MemBW GPU blend", {15, 15}},
    {"Broxton", "SynMark CSCloth, ShMapVsm", {6, 8}},
    {"Broxton", "SynMark CSDof", {5, 6}},
    {"Broxton", "GfxBench ALU2", {2, 4}},
    {"Tiger Lake H", "SynMark TerrainFly*", {13, 15}},
    {"Tiger Lake H", "SynMark TerrainPan*", {8, 10}},
    {"Tiger Lake H", "GLB onscreen Fill", {4, 8}},
    {"Tiger Lake H", "GfxBench ALU2", {4, 6}},
    {"Tiger Lake H", "GpuTest 32-bit Julia", {4, 6}},
    {"Tiger Lake H", "SynMark CSDof", {4, 6}},
    {"Tiger Lake H", "GpuTest Plot3D", {3, 5}},
};

}  // namespace cmdq::cli
