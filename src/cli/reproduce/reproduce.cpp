// SPDX-License-Identifier: BSL-1.0
#include "reproduce/reproduce.hpp"

#include <fmt/core.h>

#include <fstream>
#include <memory>
#include <vector>

#include "commands.hpp"
#include "output/chart.hpp"

namespace cmdq::cli {

namespace {

struct figure {
  const char* name;
  const char* title;
  reproduction (*run)();
};

constexpr figure figures[] = {
    {"contention", "Contention on one queue: published and simulated", reproduce_contention},
    {"completion", "Completion by MSI or by polling CONS: published and simulated", reproduce_completion},
    {"safe", "USB Ethernet behind a display's SAFE signal: published and simulated", reproduce_safe},
    {"huge-pages", "Huge pages under an IOMMU: published and simulated", reproduce_huge_pages},
    {"direct-calls", "Direct calls in the DMA path: published and measured here", reproduce_direct_calls},
};

struct outputs {
  std::string json;
  std::string html;
};

void write_file(const std::string& path, const std::string& content) {
  std::ofstream file(path);
  file << content;
  if (!file.flush()) throw input_error(fmt::format("{}: cannot be written", path));
}

std::string page(const std::string& body) {
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>cmdq: published and own figures"
         "</title>\n<style>body{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}"
         "table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #ccc;padding:.25em .6em;text-align:right}"
         "th:first-child,td:first-child{text-align:left}svg{max-width:100%;height:auto;margin:1em 0}</style></head>"
         "<body>\n<h1>Published and own figures</h1>\n" +
         body + "</body></html>\n";
}

void run(const std::vector<const figure*>& chosen, const outputs& to) {
  nlohmann::ordered_json json;
  std::string body;
  for (const figure* f : chosen) {
    const reproduction r = f->run();
    fmt::print("{}\n\n{}\n", f->title, r.text);
    body += fmt::format("<h2>{}</h2>\n{}", escaped(f->title), r.html);
    if (chosen.size() == 1)
      json = r.json;
    else
      json[f->name] = r.json;
  }
  if (!to.json.empty()) write_file(to.json, json.dump(2) + "\n");
  if (!to.html.empty()) write_file(to.html, page(body));
}

void add(CLI::App& parent, const std::string& name, const std::string& what, std::vector<const figure*> chosen) {
  CLI::App* command = parent.add_subcommand(name, what);
  auto to = std::make_shared<outputs>();
  command->add_option("--json", to->json, "Write the figures to this file as JSON");
  command->add_option("--html", to->html, "Write a self-contained page with charts to this file");
  command->callback([chosen = std::move(chosen), to] { run(chosen, *to); });
}

}  // namespace

void add_reproduce(CLI::App& app) {
  CLI::App* reproduce = app.add_subcommand("reproduce", "Published figures beside the library's own");
  reproduce->require_subcommand(1);
  std::vector<const figure*> all;
  for (const figure& f : figures) {
    add(*reproduce, f.name, f.title, {&f});
    all.push_back(&f);
  }
  add(*reproduce, "all", "Everything above in one report", all);
}

}  // namespace cmdq::cli
