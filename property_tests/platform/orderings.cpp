// SPDX-License-Identifier: BSL-1.0
// The orders that single bugs were about, as the table has them. That nothing weaker would do is shown by the model
// checks; this is the tripwire in the table itself, and it costs nothing.
#include <cmdq/platform/orderings.hpp>

#include "support/test.hpp"

using namespace cmdq;

namespace {
bool acquires(site s) {
  return order_of(s) == order::acquire || order_of(s) == order::acq_rel || order_of(s) == order::seq_cst;
}
bool releases(site s) {
  return order_of(s) == order::release || order_of(s) == order::acq_rel || order_of(s) == order::seq_cst;
}
}  // namespace

CMDQ_TEST(bug_L45_who_reads_an_index_acquires_the_entries) {
  CMDQ_CHECK(acquires(site::device_prod_read));
  CMDQ_CHECK(releases(site::device_prod_write));
  CMDQ_CHECK(acquires(site::device_cons_read));
  CMDQ_CHECK(releases(site::device_cons_write));
}

CMDQ_TEST(bug_L81_valid_bits_are_acquired_before_the_entries) {
  CMDQ_CHECK(acquires(site::valid_wait));
  CMDQ_CHECK(releases(site::valid_mark));
  CMDQ_CHECK(acquires(site::told_wait));
  CMDQ_CHECK(releases(site::told_store));
}
