// SPDX-License-Identifier: BSL-1.0
// What one CPU does in a phase. The last command says that it is the last.
#pragma once

#include "producers.hpp"

namespace producers {

template <class Hand>
struct workload {
  static void wrap(Hand& h, const phase& p) {
    for (uint32_t i = 0; i < p.rounds && h.ok(); ++i) h.issue(1 + i % 3);
    h.issue(1, true);
  }
  static void unsynced(Hand& h, const phase& p) {
    for (uint32_t i = 0; i < p.rounds && h.ok(); ++i) {
      if (i % 4 == 3) {
        h.issue(2);
      } else {
        h.insert_ok(1 + i % 3);
      }
      if (i % 16 == 15) h.sync();
    }
    h.issue(1, true);
  }
  static void batches(Hand& h, const phase& p) {
    for (uint32_t i = 0; i < p.rounds && h.ok(); ++i) {
      h.insert_ok(1);
      h.issue(i % 2 == 0 ? 64 : 1);
      h.insert_ok(64);
    }
    h.issue(1, true);
  }
  static void illegal(Hand& h, const phase& p) {
    for (uint32_t i = 0; i < p.rounds && h.ok(); ++i) {
      h.issue(1 + i % 3);
      if (i % 4 == 1 && h.cpu() < 8) h.issue_illegal(2);
    }
    h.issue(1, true);
  }
  /// Two lists on their way at once; the later is polled for, the earlier waited for.
  static void tickets(Hand& h, const phase& p) {
    for (uint32_t i = 0; i < p.rounds && h.ok(); ++i) {
      const auto first = h.submit(1 + i % 3);
      const auto second = h.submit(2);
      h.poll(second);
      h.wait(first);
    }
    h.issue(1, true);
  }
};

}  // namespace producers
