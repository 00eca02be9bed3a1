// SPDX-License-Identifier: BSL-1.0
// Typed commands: one struct per opcode with its fields by name, for designated initialisers:
//   const auto c = encode(tlbi_nh_va{.vmid = 1, .asid = 7, .leaf = true, .addr = 0x8000});
// Members are wider than their fields, so that a value out of range is refused and never cut.
#pragma once

#include <cmdq/smmuv3/codec.hpp>

namespace cmdq::smmuv3 {

namespace detail {

/// NUM, SCALE, LEAF, TTL, TG and the address, common to all TLBI by address.
constexpr void each_of_range(auto& c, auto&& f) noexcept {
  f(field::num, c.num);
  f(field::scale, c.scale);
  f(field::leaf, c.leaf);
  f(field::ttl, c.ttl);
  f(field::tg, c.tg);
  f(field::addr, c.addr);
}

}  // namespace detail

/// Commands with operands of the same shape differ by opcode only. In this namespace, not in detail: encode() is found
/// through the namespace of its argument's type, and an alias has none of its own.
template <opcode Op>
struct no_operands {
  static constexpr opcode op = Op;
  static constexpr void each(auto&, auto&&) noexcept {}
};

template <opcode Op>
struct by_stream {
  static constexpr opcode op = Op;
  uint32_t sid = 0;
  static constexpr void each(auto& c, auto&& f) noexcept { f(field::sid, c.sid); }
};

template <opcode Op>
struct by_vmid {
  static constexpr opcode op = Op;
  uint32_t vmid = 0;
  static constexpr void each(auto& c, auto&& f) noexcept { f(field::vmid, c.vmid); }
};

/// Address (VA or IPA) with VMID. Range: (num + 1) * 2^scale granules from addr where tg != 0.
template <opcode Op>
struct by_address_and_vmid {
  static constexpr opcode op = Op;
  uint32_t vmid = 0;
  uint32_t num = 0;
  uint32_t scale = 0;
  bool leaf = false;
  uint32_t ttl = 0;
  uint32_t tg = 0;
  uint64_t addr = 0;
  static constexpr void each(auto& c, auto&& f) noexcept {
    f(field::vmid, c.vmid);
    detail::each_of_range(c, f);
  }
};

/// May be executed as a no-op, never as an error. Has no address and no size.
struct prefetch_config {
  static constexpr opcode op = opcode::prefetch_config;
  bool ssv = false;  ///< ssid is given
  uint32_t ssid = 0;
  uint32_t sid = 0;
  static constexpr void each(auto& c, auto&& f) noexcept {
    f(field::ssv, c.ssv);
    f(field::ssid, c.ssid);
    f(field::sid, c.sid);
  }
};

/// Prefetches 2^size translations, 2^(12 + stride) bytes apart. Positions of size and stride: not confirmed.
struct prefetch_addr {
  static constexpr opcode op = opcode::prefetch_addr;
  bool ssv = false;
  uint32_t ssid = 0;
  uint32_t sid = 0;
  uint32_t size = 0;
  uint32_t stride = 0;
  uint64_t addr = 0;
  static constexpr void each(auto& c, auto&& f) noexcept {
    f(field::ssv, c.ssv);
    f(field::ssid, c.ssid);
    f(field::sid, c.sid);
    f(field::size, c.size);
    f(field::stride, c.stride);
    f(field::addr, c.addr);
  }
};

struct cfgi_ste {
  static constexpr opcode op = opcode::cfgi_ste;
  uint32_t sid = 0;
  bool leaf = false;
  static constexpr void each(auto& c, auto&& f) noexcept {
    f(field::sid, c.sid);
    f(field::leaf, c.leaf);
  }
};

/// 2^(range + 1) stream ids around sid, aligned to their number; range 31: all of them.
struct cfgi_ste_range {
  static constexpr opcode op = opcode::cfgi_ste_range;
  uint32_t sid = 0;
  uint32_t range = 0;
  static constexpr void each(auto& c, auto&& f) noexcept {
    f(field::sid, c.sid);
    f(field::range, c.range);
  }
  /// First stream id covered and the one after the last, in 64 bits: it is 2^32 for range 31.
  [[nodiscard]] constexpr uint64_t first() const noexcept { return sid & ~((2ULL << (range & 31U)) - 1); }
  [[nodiscard]] constexpr uint64_t end() const noexcept { return first() + (2ULL << (range & 31U)); }
};
inline constexpr cfgi_ste_range cfgi_all{.sid = 0, .range = 31};

struct cfgi_cd {
  static constexpr opcode op = opcode::cfgi_cd;
  uint32_t ssid = 0;
  uint32_t sid = 0;
  bool leaf = false;
  static constexpr void each(auto& c, auto&& f) noexcept {
    f(field::ssid, c.ssid);
    f(field::sid, c.sid);
    f(field::leaf, c.leaf);
  }
};
using cfgi_cd_all = by_stream<opcode::cfgi_cd_all>;

using tlbi_nh_all = by_vmid<opcode::tlbi_nh_all>;
/// Entries that are not global, of one address space.
struct tlbi_nh_asid {
  static constexpr opcode op = opcode::tlbi_nh_asid;
  uint32_t vmid = 0;
  uint32_t asid = 0;
  static constexpr void each(auto& c, auto&& f) noexcept {
    f(field::vmid, c.vmid);
    f(field::asid, c.asid);
  }
};
struct tlbi_nh_va {
  static constexpr opcode op = opcode::tlbi_nh_va;
  uint32_t vmid = 0;
  uint32_t asid = 0;
  uint32_t num = 0;
  uint32_t scale = 0;
  bool leaf = false;
  uint32_t ttl = 0;
  uint32_t tg = 0;
  uint64_t addr = 0;
  static constexpr void each(auto& c, auto&& f) noexcept {
    f(field::vmid, c.vmid);
    f(field::asid, c.asid);
    detail::each_of_range(c, f);
  }
};
using tlbi_nh_vaa = by_address_and_vmid<opcode::tlbi_nh_vaa>;

/// The EL3 commands can be encoded, but a Non-secure queue answers them with CERROR_ILL: legal() is false.
using tlbi_el3_all = no_operands<opcode::tlbi_el3_all>;
struct tlbi_el3_va {
  static constexpr opcode op = opcode::tlbi_el3_va;
  uint32_t num = 0;
  uint32_t scale = 0;
  bool leaf = false;
  uint32_t ttl = 0;
  uint32_t tg = 0;
  uint64_t addr = 0;
  static constexpr void each(auto& c, auto&& f) noexcept { detail::each_of_range(c, f); }
};

using tlbi_el2_all = no_operands<opcode::tlbi_el2_all>;
/// The ASID counts where CR2.E2H = 1.
struct tlbi_el2_asid {
  static constexpr opcode op = opcode::tlbi_el2_asid;
  uint32_t asid = 0;
  static constexpr void each(auto& c, auto&& f) noexcept { f(field::asid, c.asid); }
};
struct tlbi_el2_va {
  static constexpr opcode op = opcode::tlbi_el2_va;
  uint32_t asid = 0;
  uint32_t num = 0;
  uint32_t scale = 0;
  bool leaf = false;
  uint32_t ttl = 0;
  uint32_t tg = 0;
  uint64_t addr = 0;
  static constexpr void each(auto& c, auto&& f) noexcept {
    f(field::asid, c.asid);
    detail::each_of_range(c, f);
  }
};

using tlbi_s12_vmall = by_vmid<opcode::tlbi_s12_vmall>;
using tlbi_s2_ipa = by_address_and_vmid<opcode::tlbi_s2_ipa>;
using tlbi_nsnh_all = no_operands<opcode::tlbi_nsnh_all>;

/// 2^size pages of 4 KiB around addr, aligned to their size; size 52: everything. Only a CMD_SYNC reports its failure.
struct atc_inv {
  static constexpr opcode op = opcode::atc_inv;
  bool global = false;
  bool ssv = false;
  uint32_t ssid = 0;
  uint32_t sid = 0;
  uint32_t size = 0;
  uint64_t addr = 0;
  static constexpr void each(auto& c, auto&& f) noexcept {
    f(field::global, c.global);
    f(field::ssv, c.ssv);
    f(field::ssid, c.ssid);
    f(field::sid, c.sid);
    f(field::size, c.size);
    f(field::addr, c.addr);
  }
};

/// resp: 0 deny, 1 fail, 2 success. Needs no CMD_SYNC.
struct pri_resp {
  static constexpr opcode op = opcode::pri_resp;
  bool ssv = false;
  uint32_t ssid = 0;
  uint32_t sid = 0;
  uint32_t grpid = 0;
  uint32_t resp = 0;
  static constexpr void each(auto& c, auto&& f) noexcept {
    f(field::ssv, c.ssv);
    f(field::ssid, c.ssid);
    f(field::sid, c.sid);
    f(field::grpid, c.grpid);
    f(field::resp, c.resp);
  }
};

/// resp: 0 terminate, 1 retry, 2 abort. Needs no CMD_SYNC.
struct resume {
  static constexpr opcode op = opcode::resume;
  uint32_t sid = 0;
  uint32_t resp = 0;
  uint32_t stag = 0;
  static constexpr void each(auto& c, auto&& f) noexcept {
    f(field::sid, c.sid);
    f(field::resp, c.resp);
    f(field::stag, c.stag);
  }
};
/// Position of sid: the common one, not confirmed for this command.
using stall_term = by_stream<opcode::stall_term>;

/// cs: 0 none, 1 interrupt or MSI, 2 event. make_sync and make_msi_sync (wire.hpp) build what the queue needs.
struct cmd_sync {
  static constexpr opcode op = opcode::sync;
  uint32_t cs = 0;
  uint32_t msh = 0;
  uint32_t msiattr = 0;
  uint32_t msidata = 0;
  uint64_t msiaddr = 0;
  static constexpr void each(auto& c, auto&& f) noexcept {
    f(field::cs, c.cs);
    f(field::msh, c.msh);
    f(field::msiattr, c.msiattr);
    f(field::msidata, c.msidata);
    f(field::msiaddr, c.msiaddr);
  }
};

/// One of the structs above.
template <class T>
concept typed_command = requires(T& t) {
  static_cast<uint8_t>(T::op);
  T::each(t, [](field, auto&) {});
};

/// Errors, limits and cost as encode(any_command).
template <typed_command T>
constexpr result<command> encode(const T& c) noexcept {
  any_command any;
  any.op = T::op;
  T::each(c, [&any](field f, const auto& v) { any.set(f, static_cast<uint64_t>(v)); });
  return encode(any);
}

/// The typed form. Errors as decode(command), and invalid_argument "opcode" when `c` is another command (limit: the
/// opcode of T).
template <typed_command T>
constexpr result<T> decode_as(const command& c) noexcept {
  const result<any_command> any = decode(c);
  if (!any) return any.why();
  if (any->op != T::op) {
    return refusal{status::invalid_argument, "opcode", static_cast<uint64_t>(any->op), static_cast<uint64_t>(T::op)};
  }
  T out;
  T::each(out, [&any]<class V>(field f, V& v) { v = static_cast<V>(any->get(f)); });
  return out;
}

}  // namespace cmdq::smmuv3
