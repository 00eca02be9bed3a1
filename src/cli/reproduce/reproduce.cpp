// SPDX-License-Identifier: BSL-1.0
#include "reproduce/reproduce.hpp"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "commands.hpp"
#include "errors.hpp"
#include "output/chart.hpp"
#include "output/results.hpp"
#include "output/terminal.hpp"
#include "reproduce/expected.hpp"
#include "reproduce/sensitivity.hpp"
#include "simulate/topology_file.hpp"

namespace cmdq::cli {

namespace {

struct section {
  const char* name;
  const char* title;
  reproduction (*run)(const reproduce_input&);
  std::vector<std::string> parameters;  ///< prefixes of those that it hangs on
};

const std::vector<section>& sections() {
  static const std::vector<section> all = {
      {"contention",
       "Contention on one queue: published and simulated",
       reproduce_contention,
       {"contention.", "machine."}},
      {"completion",
       "Completion by MSI or by polling CONS: published and simulated",
       reproduce_completion,
       {"completion.", "machine."}},
      {"safe",
       "USB Ethernet behind a display's SAFE signal: published and simulated",
       reproduce_safe,
       {"safe.", "display."}},
      {"huge-pages", "Huge pages under an IOMMU: published and simulated", reproduce_huge_pages, {"huge."}},
      {"direct-calls", "Direct calls in the DMA path: published and measured here", reproduce_direct_calls, {"calls."}},
  };
  return all;
}

struct options {
  std::string json;
  std::string html;
  std::string machine = "arm-server-128";
  std::string expect;
  std::vector<std::string> set;
  bool sensitivity = false;
};

std::string page(const std::string& body) {
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>cmdq: published and own figures"
         "</title>\n<style>body{font-family:sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#222}"
         "table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #ccc;padding:.25em .6em;text-align:right}"
         "th:first-child,td:first-child,td:last-child{text-align:left}svg{max-width:100%;height:auto;margin:1em 0}"
         "</style></head><body>\n<h1>Published and own figures</h1>\n"
         "<p>\"input\": published, taken as it is. \"fitted\": a parameter was chosen so that it comes out. "
         "\"chosen\": "
         "follows from an assumption. \"predicted\": could have come out otherwise; it counts only where it is nearer "
         "to what was published than every dull guess (null model), by a tenth of that one's error and 1 % of the "
         "figure at least.</p>\n" +
         body + "</body></html>\n";
}

/// The section's report; what went wrong in `failed`, and nothing of other sections is lost for it.
reproduction run_section(const section& s, const reproduce_input& in, const options& o, const nlohmann::json& expected,
                         std::string& failed) {
  reproduction r;
  try {
    r = s.run(in);
    if (o.sensitivity) add_sensitivity(r, s.run, in, s.parameters);
    if (!o.expect.empty()) check_expected(r, s.name, expected);
  } catch (const std::exception& e) {
    failed += fmt::format("{}{}: {}", failed.empty() ? "" : "; ", s.name, e.what());
    r.json["failed"] = e.what();
    add_paragraph(r, fmt::format("Failed: {}", e.what()));
  }
  return r;
}

void run(const std::vector<const section*>& chosen, const options& o) {
  reproduce_input in;
  in.machine = read_topology(o.machine);
  for (const std::string& s : o.set) set_parameter(in, s);
  const nlohmann::json expected = o.expect.empty() ? nlohmann::json() : read_expected(o.expect);
  results out(o.json);
  output_file html("--html", o.html);
  std::string body;
  std::string failed;
  progress line(chosen.size());
  for (const section* s : chosen) {
    line.step(s->name);
    const reproduction r = run_section(*s, in, o, expected, failed);
    out.add([&](auto& j) {
      if (chosen.size() == 1)
        j.update(r.json);
      else
        j[s->name] = r.json;
    });
    out.save();
    out.say(fmt::format("{}\n\n{}\n", s->title, r.text));
    body += fmt::format("<h2>{}</h2>\n{}", escaped(s->title), r.html);
    if (html.wanted()) html.write(page(body));
  }
  out.finish();
  if (!failed.empty()) throw check_error("reproduce: failed: " + failed);
}

void add(arguments& parent, const std::string& name, const std::string& what, std::vector<const section*> chosen) {
  arguments command = parent.add(name, what);
  auto o = std::make_shared<options>();
  command.json(o->json);
  command.text("--html", o->html, "Write a self-contained page with charts to this file");
  command.texts("--set", o->set, "Parameters of the models: NAME=VALUE,...; see `reproduce parameters`", false);
  command.text("--machine", o->machine, "Simulated machine: a shipped one's name, or a JSON file");
  command.flag("--sensitivity", o->sensitivity, "Vary each parameter over a factor of two and tell what moves");
  command.text("--expect", o->expect, "JSON of an earlier `reproduce all`: fail where a figure is off by over 1 %");
  command.runs([chosen = std::move(chosen), o] { run(chosen, *o); });
}

void list_parameters(const std::string& json) {
  results out(json);
  const parameters all;
  for (const parameter& p : all.all()) {
    out.say(fmt::format("{:<28} {:>10.6g} {:<9} {:<7} {}\n", p.name, p.value, p.unit, name(p.from), p.source));
    out.add([&](auto& j) {
      j["parameters"].push_back({{"name", p.name},
                                 {"value", p.value},
                                 {"unit", p.unit},
                                 {"least", p.least},
                                 {"most", p.most},
                                 {"kind", name(p.from)},
                                 {"source", p.source}});
    });
  }
  out.finish();
}

}  // namespace

void add_reproduce(arguments& program) {
  arguments reproduce = program.add("reproduce", "Published figures beside the library's own, and beside dull guesses");
  std::vector<const section*> all;
  for (const section& s : sections()) {
    add(reproduce, s.name, s.title, {&s});
    all.push_back(&s);
  }
  add(reproduce, "all", "Everything above in one report", all);
  arguments listed = reproduce.add("parameters", "What --set can change: values, limits, where they come from");
  const auto json = std::make_shared<std::string>();
  listed.json(*json);
  listed.runs([json] { list_parameters(*json); });
}

}  // namespace cmdq::cli
