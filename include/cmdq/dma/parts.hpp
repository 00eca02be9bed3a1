// SPDX-License-Identifier: BSL-1.0
// Work on part of a mapped buffer.
#pragma once

#include <cmdq/dma/page_pool.hpp>
#include <cmdq/dma/page_table.hpp>

namespace cmdq::dma {

/// use(iova, page) for each page of a range that check_part() found right.
template <platform_type P, class Use>
void each_page(const page_table<P>& table, uint64_t iova, uint64_t bytes, const Use& use) noexcept {
  for (uint64_t done = 0; done < bytes;) {
    const auto p = table.look(iova + done);
    use(iova + done, p);
    done += uint64_t{1} << p.log2;
  }
}

/// ok: whole mapped pages of one buffer. misaligned: a larger page is cut. Precondition: multiples of 4 KiB.
template <platform_type P>
status check_part(const page_table<P>& table, uint64_t iova, uint64_t bytes) noexcept {
  if (!table.inside(iova) || bytes > table.bytes()) return status::invalid_argument;
  for (uint64_t done = 0; done < bytes;) {
    const auto p = table.look(iova + done);
    if (!p.known && table.walk(iova + done).valid) return status::misaligned;
    if (!p.valid || (p.end.first && done != 0)) return status::invalid_argument;
    done += uint64_t{1} << p.log2;
    if (done > bytes) return status::misaligned;
    if (p.end.last && done != bytes) return status::invalid_argument;
  }
  return status::ok;
}

/// copy(page, low, high) for each bounce page in [iova, iova + bytes), with the bytes of it that are. Errors:
/// invalid_argument (some of it is not mapped; what comes before is copied).
template <platform_type P, class Copy>
status each_bounced(const page_table<P>& table, const page_pool<P>& pool, uint64_t iova, uint64_t bytes,
                    const Copy& copy) noexcept {
  constexpr uint64_t page = uint64_t{1} << log2_4k;
  if (bytes == 0 || !table.inside(iova) || bytes > table.bytes() - (iova - table.base()))
    return status::invalid_argument;
  for (uint64_t at_iova = iova & ~(page - 1); at_iova < iova + bytes; at_iova += page) {
    const translation t = table.walk(at_iova);
    if (!t.valid) return status::invalid_argument;
    const uint32_t i = pool.bounce_at(t.pa);
    if (i == page_pool<P>::none) continue;
    const uint64_t low = iova > at_iova ? iova - at_iova : 0;
    const uint64_t high = iova + bytes - at_iova;
    copy(i, static_cast<uint32_t>(low), static_cast<uint32_t>(high < page ? high : page));
  }
  return status::ok;
}

}  // namespace cmdq::dma
