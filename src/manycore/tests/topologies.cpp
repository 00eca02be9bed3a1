// SPDX-License-Identifier: BSL-1.0
// Topology files: what is shipped can be read, and what is wrong in one is named.
#include <nlohmann/json.hpp>

#include "../topology.hpp"
#include "check.hpp"

namespace cmdq::manycore {
namespace {

std::string complaint(const std::function<void(nlohmann::ordered_json&)>& spoil) {
  auto j = to_json(load_topology("server-64"));
  spoil(j);
  try {
    static_cast<void>(parse_topology(j.dump(), "t.json"));
  } catch (const topology_error& e) {
    return e.what();
  }
  return "no complaint";
}

}  // namespace

CHECKED_TEST(shipped_topologies_have_their_cpus) {
  CHECK_EQUAL(load_topology("arm-server-128").cpus(), 128U);
  CHECK_EQUAL(load_topology("server-64").cpus(), 64U);
  CHECK_EQUAL(load_topology("soc-8").cpus(), 8U);
  CHECK_EQUAL(shipped_topologies().size(), 3U);
}

CHECKED_TEST(a_topology_survives_writing_and_reading) {
  for (const auto& name : shipped_topologies()) {
    const auto written = to_json(load_topology(name)).dump();
    CHECK_EQUAL(to_json(parse_topology(written, name)).dump(), written);
  }
}

CHECKED_TEST(topology_errors_name_the_field) {
  CHECK_EQUAL(complaint([](auto& j) { j.erase("hold_ns"); }), "t.json: field \"hold_ns\" is missing");
  CHECK_EQUAL(complaint([](auto& j) { j["device"]["sync_ns"] = -1; }),
              "t.json: field \"device.sync_ns\" is -1, must be a time from 0 to 1000000000 nanoseconds");
  CHECK_EQUAL(complaint([](auto& j) { j["device"]["socket"] = 1; }),
              "t.json: field \"device.socket\" is 1, must be an integer from 0 to 0");
  CHECK_EQUAL(complaint([](auto& j) { j["sockets"] = "two"; }),
              "t.json: field \"sockets\" is \"two\", must be an integer from 1 to 16");
  CHECK_EQUAL(complaint([](auto& j) { j["sockets"] = 16; }),
              "t.json: field \"cpus_per_cluster\" makes 1024 CPUs in all, the limit is 256");
  CHECK_EQUAL(complaint([](auto& j) { j["distance_ns"] = 3; }), "t.json: field \"distance_ns\" must be an object");
  CHECK_EQUAL(complaint([](auto& j) { j["distance_ns"]["far"] = 3; }),
              "t.json: field \"distance_ns.far\" is not a known field");
}

CHECKED_TEST(a_topology_that_is_not_there_is_named) {
  std::string text;
  try {
    static_cast<void>(load_topology("no-such"));
  } catch (const topology_error& e) {
    text = e.what();
  }
  CHECK_EQUAL(text,
              "no-such: neither a readable file nor a shipped topology (shipped: arm-server-128 server-64 soc-8)");
}

}  // namespace cmdq::manycore
