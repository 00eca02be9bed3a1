// SPDX-License-Identifier: BSL-1.0
#include "topology.hpp"

#include <fmt/core.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "shipped_topologies.hpp"

namespace cmdq::manycore {

namespace {

/// Reads the fields of one JSON object, and complains about missing, wrong and unknown ones by their full name.
class reader {
 public:
  reader(const nlohmann::json& object, std::string origin, std::string path)
      : object_(object), origin_(std::move(origin)), path_(std::move(path)) {
    if (!object_.is_object()) fail("must be an object");
  }

  unsigned count(const std::string& field, unsigned least, unsigned most) {
    const auto& v = get(field);
    if (!v.is_number_integer() || v.get<double>() < least || v.get<double>() > most)
      fail(field, fmt::format("is {}, must be an integer from {} to {}", v.dump(), least, most));
    return v.get<unsigned>();
  }

  picoseconds time(const std::string& field) {
    constexpr double most = 1e9;
    const auto& v = get(field);
    if (!v.is_number() || v.get<double>() < 0 || v.get<double>() > most)
      fail(field, fmt::format("is {}, must be a time from 0 to {} nanoseconds", v.dump(), most));
    return static_cast<picoseconds>(std::llround(v.get<double>() * 1000));
  }

  std::string text(const std::string& field) {
    const auto& v = get(field);
    if (!v.is_string()) fail(field, fmt::format("is {}, must be a text", v.dump()));
    return v.get<std::string>();
  }

  reader object(const std::string& field) { return {get(field), origin_, name_of(field)}; }

  void no_more() const {
    for (const auto& [key, value] : object_.items())
      if (!known_.contains(key)) fail(key, "is not a known field");
  }

 private:
  const nlohmann::json& get(const std::string& field) {
    known_.insert(field);
    const auto at = object_.find(field);
    if (at == object_.end()) fail(field, "is missing");
    return *at;
  }
  [[nodiscard]] std::string name_of(const std::string& field) const {
    return path_.empty() ? field : path_ + "." + field;
  }
  [[noreturn]] void fail(const std::string& field, const std::string& what) const {
    throw topology_error(fmt::format("{}: field \"{}\" {}", origin_, name_of(field), what));
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw topology_error(path_.empty() ? fmt::format("{}: the whole file {}", origin_, what)
                                       : fmt::format("{}: field \"{}\" {}", origin_, path_, what));
  }

  const nlohmann::json& object_;
  std::string origin_;
  std::string path_;
  std::set<std::string> known_;
};

distance_times read_distances(reader r) {
  distance_times d;
  d.l1 = r.time("l1");
  d.cluster = r.time("cluster");
  d.die = r.time("die");
  d.socket = r.time("socket");
  d.remote = r.time("remote");
  d.memory = r.time("memory");
  r.no_more();
  return d;
}

device_times read_device(reader r, unsigned sockets) {
  device_times d;
  d.socket = r.count("socket", 0, sockets - 1);
  d.command = r.time("command_ns");
  d.sync = r.time("sync_ns");
  d.fetch = r.time("fetch_ns");
  d.fetch_ahead = r.count("fetch_ahead", 0, 16);
  d.doorbell = r.time("doorbell_ns");
  d.doorbell_issue = r.time("doorbell_issue_ns");
  d.read = r.time("read_ns");
  d.read_occupancy = r.time("read_occupancy_ns");
  r.no_more();
  return d;
}

double ns(picoseconds t) { return static_cast<double>(t) / 1000.0; }

}  // namespace

topology parse_topology(const std::string& text, const std::string& origin) {
  nlohmann::json root;
  try {
    root = nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& e) {
    throw topology_error(fmt::format("{}: not JSON: {}", origin, e.what()));
  }
  reader r(root, origin, "");
  topology t;
  t.name = r.text("name");
  t.source = r.text("source");
  t.sockets = r.count("sockets", 1, 16);
  t.dies_per_socket = r.count("dies_per_socket", 1, 16);
  t.clusters_per_die = r.count("clusters_per_die", 1, max_cpus);
  t.cpus_per_cluster = r.count("cpus_per_cluster", 1, max_cpus);
  if (t.cpus() > max_cpus)
    throw topology_error(fmt::format("{}: field \"cpus_per_cluster\" makes {} CPUs in all, the limit is {}", origin,
                                     t.cpus(), max_cpus));
  t.distance = read_distances(r.object("distance_ns"));
  t.hold = r.time("hold_ns");
  t.retry = r.time("retry_ns");
  t.near_first = r.count("near_first", 0, 1000);
  t.share = r.time("share_ns");
  t.spin = r.time("spin_ns");
  t.think = r.time("think_ns");
  t.poll = r.time("poll_ns");
  t.clock = r.time("clock_ns");
  t.store_buffer = r.count("store_buffer", 0, 256);
  t.misses = r.count("misses", 1, 16);
  t.device = read_device(r.object("device"), t.sockets);
  r.no_more();
  return t;
}

nlohmann::ordered_json to_json(const topology& t) {
  const auto& d = t.distance;
  const auto& v = t.device;
  return {{"name", t.name},
          {"source", t.source},
          {"sockets", t.sockets},
          {"dies_per_socket", t.dies_per_socket},
          {"clusters_per_die", t.clusters_per_die},
          {"cpus_per_cluster", t.cpus_per_cluster},
          {"distance_ns",
           {{"l1", ns(d.l1)},
            {"cluster", ns(d.cluster)},
            {"die", ns(d.die)},
            {"socket", ns(d.socket)},
            {"remote", ns(d.remote)},
            {"memory", ns(d.memory)}}},
          {"hold_ns", ns(t.hold)},
          {"retry_ns", ns(t.retry)},
          {"near_first", t.near_first},
          {"share_ns", ns(t.share)},
          {"spin_ns", ns(t.spin)},
          {"think_ns", ns(t.think)},
          {"poll_ns", ns(t.poll)},
          {"clock_ns", ns(t.clock)},
          {"store_buffer", t.store_buffer},
          {"misses", t.misses},
          {"device",
           {{"socket", v.socket},
            {"command_ns", ns(v.command)},
            {"sync_ns", ns(v.sync)},
            {"fetch_ns", ns(v.fetch)},
            {"fetch_ahead", v.fetch_ahead},
            {"doorbell_ns", ns(v.doorbell)},
            {"doorbell_issue_ns", ns(v.doorbell_issue)},
            {"read_ns", ns(v.read)},
            {"read_occupancy_ns", ns(v.read_occupancy)}}}};
}

topology load_topology(const std::string& name_or_file) {
  for (const auto& s : shipped_topology_texts)
    if (name_or_file == s.name) return parse_topology(s.text, s.name);
  std::ifstream file(name_or_file);
  if (!file) {
    std::string names;
    for (const auto& n : shipped_topologies()) names += " " + n;
    throw topology_error(
        fmt::format("{}: neither a readable file nor a shipped topology (shipped:{})", name_or_file, names));
  }
  std::ostringstream text;
  text << file.rdbuf();
  return parse_topology(text.str(), name_or_file);
}

std::vector<std::string> shipped_topologies() {
  std::vector<std::string> names;
  for (const auto& s : shipped_topology_texts) names.emplace_back(s.name);
  return names;
}

}  // namespace cmdq::manycore
