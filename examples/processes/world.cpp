// SPDX-License-Identifier: BSL-1.0
#include "world.hpp"

#include <new>

#include <sys/mman.h>

namespace processes {

bool world::map(int fd, unsigned salt) noexcept {
  // A hint far from where the system would put it, and from other processes' hints.
  auto* const hint = reinterpret_cast<void*>(0x200000000000ULL + (std::uint64_t{salt} << 32));
  void* const got = mmap(hint, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (got == MAP_FAILED) return false;
  base_ = static_cast<char*>(got);
  return true;
}

void world::begin() noexcept {
  new (base_) control;
  for (std::size_t i = 0; i < sizes_.accounts; ++i) new (&of_worker(i)) account;
}

}  // namespace processes
