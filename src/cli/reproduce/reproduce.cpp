// SPDX-License-Identifier: BSL-1.0
#include "reproduce/reproduce.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "commands.hpp"
#include "output/chart.hpp"
#include "output/results.hpp"
#include "output/terminal.hpp"

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

std::string page(const std::string& body) {
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>cmdq: published and own figures"
         "</title>\n<style>body{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}"
         "table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #ccc;padding:.25em .6em;text-align:right}"
         "th:first-child,td:first-child{text-align:left}svg{max-width:100%;height:auto;margin:1em 0}</style></head>"
         "<body>\n<h1>Published and own figures</h1>\n" +
         body + "</body></html>\n";
}

void run(const std::vector<const figure*>& chosen, const outputs& to) {
  results out(to.json);
  output_file html("--html", to.html);
  std::string body;
  progress line(chosen.size());
  for (const figure* f : chosen) {
    line.step(f->name);
    const reproduction r = f->run();
    out.say(fmt::format("{}\n\n{}\n", f->title, r.text));
    body += fmt::format("<h2>{}</h2>\n{}", escaped(f->title), r.html);
    out.add([&](auto& j) {
      if (chosen.size() == 1)
        j.update(r.json);
      else
        j[f->name] = r.json;
    });
  }
  out.finish();
  if (html.wanted()) html.write(page(body));
}

void add(arguments& parent, const std::string& name, const std::string& what, std::vector<const figure*> chosen) {
  arguments command = parent.add(name, what);
  auto to = std::make_shared<outputs>();
  command.json(to->json);
  command.text("--html", to->html, "Write a self-contained page with charts to this file");
  command.runs([chosen = std::move(chosen), to] { run(chosen, *to); });
}

}  // namespace

void add_reproduce(arguments& program) {
  arguments reproduce = program.add("reproduce", "Published figures beside the library's own");
  std::vector<const figure*> all;
  for (const figure& f : figures) {
    add(reproduce, f.name, f.title, {&f});
    all.push_back(&f);
  }
  add(reproduce, "all", "Everything above in one report", all);
}

}  // namespace cmdq::cli
