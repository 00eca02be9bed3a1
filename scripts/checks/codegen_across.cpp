// SPDX-License-Identifier: BSL-1.0
// Calls of codegen.cpp from another file: with link-time optimisation they may be inlined, and must keep their order.
#include "codegen.hpp"

using namespace cmdq;
using namespace cmdq::codegen;

extern "C" {
void put_entry(ring_entry<P>& e, const command& c);
void tell(device& d, uint32_t v);
uint32_t look(device& d);
void get_entry(const ring_entry<P>& e, command& c);
}

CMDQ_SEEN void across__entry_then_prod(ring_entry<P>& e, const command& c, device& d, uint32_t v) {
  put_entry(e, c);
  tell(d, v);
}
CMDQ_SEEN uint64_t across__cons_then_entry(const ring_entry<P>& e, device& d) {
  const uint32_t cons = look(d);
  command c;
  get_entry(e, c);
  return cons + c.word[0] + c.word[1];
}
