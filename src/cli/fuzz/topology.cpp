// SPDX-License-Identifier: BSL-1.0
// Topologies: what is taken is written and read again to the same.
#include <nlohmann/json.hpp>

#include "errors.hpp"
#include "fuzz/target.hpp"
#include "simulate/topology_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cmdq;
  try {
    const auto t = cli::parse_topology_text(cli::text_of(data, size), "input");
    cli::must(t.cpus() >= 1 && t.cpus() <= manycore::max_cpus && t.distance.l1 > 0, "limits");
    const std::string written = to_json(t).dump();
    cli::must(to_json(cli::parse_topology_text(written, "written")).dump() == written, "written and read again");
  } catch (const cli::input_error&) {
  } catch (const manycore::topology_error&) {
  }
  return 0;
}
