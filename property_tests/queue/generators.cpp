// SPDX-License-Identifier: BSL-1.0
#include "generators.hpp"

#include <algorithm>

namespace cmdq::test {

namespace {
template <class T>
T any(T from, T below) {
  return *rc::gen::inRange<T>(from, below);
}
bool one_in(unsigned n) { return any(0U, n) == n - 1; }
}  // namespace

rc::Gen<position> first_positions(unsigned log2) {
  return rc::gen::exec([=] {
    const position n = position{1} << log2;
    const position wraps[] = {0, n, 2 * n, position{1} << 30, position{1} << 31, 0U - 2 * n, 0U};
    const position wrap = wraps[any(0U, 7U)];
    return wrap == 0 && any(0U, 2U) == 0 ? position{0} : wrap - any<position>(0, 2 * n + 1);
  });
}

void draw_groups(setup& s) {
  if (!shares_syncs(s.allocation)) return;
  s.opts.groups = any(0, 2) == 1 ? any(2U, 5U) : 1U;
  s.opts.cpus_per_group = any(1U, 4U);
}

rc::Gen<setup> setups(strategy which, unsigned threads) {
  return rc::gen::exec([=] {
    setup s;
    s.allocation = which;
    s.msi = any(0, 2) == 1;
    s.locked = any(0, 2) == 1;
    s.park = one_in(6);
    const unsigned smallest = threads > 2 ? 3 : 2;
    s.opts.log2_size = any(smallest, 6U);
    const std::uint32_t n = std::uint32_t{1} << s.opts.log2_size;
    const std::uint32_t share = looks_for_space_first(which) ? n : n / threads;
    // The largest batch fills the ring exactly; a small one leaves room for lists that nobody waits for.
    s.opts.batch_limit = one_in(2) ? share - 1 : any<std::uint32_t>(1, share);
    s.opts.producers = threads;
    s.opts.deadline_ns = test_deadline_ns;
    s.opts.fetch_retries = 3;
    s.opts.first = *first_positions(s.opts.log2_size);
    s.opts.sync_every_batch = s.opts.batch_limit >= 2 && one_in(6);
    draw_groups(s);
    s.caps.part.sync_every_batch = s.caps.part.one_class_per_batch = s.opts.sync_every_batch;
    s.caps.part.msi_64bit = one_in(3);
    s.speed.msi_late_steps = s.msi && one_in(2) ? any(1U, 40U) : 0;
    s.speed.cons_every = any(1U, 4U);
    s.speed.cons_idle_steps = any(0U, 4U);
    s.speed.defer_effects = any(0, 2) == 1;
    s.speed.error_code = any(0, 2) == 1 ? model::stale_error::cleared : model::stale_error::stays;
    return s;
  });
}

rc::Gen<std::vector<kind>> lists(std::uint32_t most, bool errors) {
  return rc::gen::exec([=] {
    const std::uint32_t n = one_in(4) ? most : any<std::uint32_t>(0, most + 1);
    std::vector<kind> kinds;
    for (std::uint32_t i = 0; i < n; ++i) {
      const unsigned roll = any(0U, errors ? 20U : 16U);
      if (roll < 12)
        kinds.push_back(kind::tlb);
      else if (roll < 14)
        kinds.push_back(kind::configuration);
      else if (roll < 16)
        kinds.push_back(kind::atc);
      else
        kinds.push_back(roll == 19 ? kind::dead_atc : kind::illegal);
    }
    return kinds;
  });
}

namespace {
/// A list that is never cut: one class, at most `most` commands.
std::vector<kind> one_class(std::uint32_t most, bool errors) {
  std::vector<kind> kinds = *lists(most, errors);
  const bool atc = !kinds.empty() && (kinds[0] == kind::atc || kinds[0] == kind::dead_atc);
  for (kind& k : kinds)
    if ((k == kind::atc || k == kind::dead_atc) != atc || k == kind::configuration) k = atc ? kind::atc : kind::tlb;
  if (!kinds.empty() && kinds[0] == kind::illegal)
    for (kind& k : kinds) k = kind::illegal;
  for (kind& k : kinds)
    if (k == kind::illegal && kinds[0] != kind::illegal) k = kinds[0];
  return kinds;
}

std::uint32_t most_in_one_list(const setup& s) { return s.opts.batch_limit - (s.opts.sync_every_batch ? 1U : 0U); }
}  // namespace

rc::Gen<std::vector<kind>> whole_lists(const setup& s, bool errors) {
  return rc::gen::exec([=] { return one_class(most_in_one_list(s), errors); });
}

namespace {
op any_op(const setup& s, bool errors) {
  op o;
  const unsigned roll = any(0U, 12U);
  o.call = roll < 5    ? op::what::issue
           : roll < 8  ? op::what::insert
           : roll < 10 ? op::what::submit_and_wait
           : roll < 11 ? (any(0, 2) == 0 ? op::what::fill : op::what::fill_and_leave)
                       : op::what::submit_and_forget;
  const std::uint32_t limit = most_in_one_list(s);
  if (o.call == op::what::issue || o.call == op::what::insert)
    o.kinds = *lists(one_in(5) ? 2 * limit + 1 : limit, errors);
  else
    o.kinds = *whole_lists(s, errors);
  const bool can_fill = !o.kinds.empty() && !s.opts.sync_every_batch;  // the writer refuses such devices
  if (o.call == op::what::fill_and_leave && can_fill && (o.kinds[0] == kind::atc || o.kinds[0] == kind::dead_atc))
    o.call = op::what::fill;  // its errors are told at a CMD_SYNC only
  if ((o.call == op::what::fill || o.call == op::what::fill_and_leave) && !can_fill) o.call = op::what::submit_and_wait;
  if (s.opts.groups != 1 && one_in(4)) o.cpu = any(0U, s.opts.groups * s.opts.cpus_per_group);
  return o;
}
}  // namespace

rc::Gen<choices> interleavings() {
  return rc::gen::scale(4.0, rc::gen::container<choices>(rc::gen::inRange<std::uint8_t>(0, 40)));
}

rc::Gen<crew_case> concurrent_case(strategy which, harm expected, bool crowded) {
  return rc::gen::exec([=] {
    crew_case c;
    c.expected = expected;
    const unsigned threads = crowded ? any(3U, 5U) : any(1U, 5U);
    c.what = *setups(which, threads);
    if (crowded) {
      c.what.opts.groups = any(2U, 5U);
      c.what.opts.cpus_per_group = any(2U, 4U);
    }
    const bool errors = any(0, 3) == 2;
    for (unsigned i = 0; i < threads; ++i) {
      program p;
      for (unsigned k = any(1U, 5U); k > 0; --k) p.push_back(any_op(c.what, errors));
      c.programs.push_back(std::move(p));
    }
    c.dead_reports = any(1U, c.what.opts.fetch_retries + 1);
    for (unsigned i = any(0U, 3U); i > 0; --i) {
      const std::uint64_t stands = any<std::uint64_t>(0, test_deadline_ns / 8);
      c.pauses.push_back({any(0U, 40U), expected == harm::breaks && one_in(2) ? 3 * test_deadline_ns : stands});
    }
    if (errors || expected == harm::breaks) {
      for (unsigned i = any(0U, 3U); i > 0; --i) {
        const bool for_ever = expected == harm::breaks && one_in(3);
        c.aborts.emplace_back(any(0U, 20U), for_ever ? model::for_ever : any(1U, c.what.opts.fetch_retries));
        c.dead_reports = 1;  // retries are counted per position: together they stay within the bound
      }
      if (c.aborts.size() == 2 && c.aborts[0].first == c.aborts[1].first) c.aborts.pop_back();
      c.msi_failures = one_in(6);
    }
    c.service_failure = expected == harm::breaks && one_in(8);
    if (expected == harm::lies) {
      c.lie = static_cast<model::lie>(any(1, 7));
      c.seed = any(0U, 1U << 30);
    }
    if (one_in(4)) c.idle_groups = any(1U, 4U) << 30;
    c.interleaving = *interleavings();
    return c;
  });
}

}  // namespace cmdq::test
