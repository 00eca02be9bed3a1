// SPDX-License-Identifier: BSL-1.0
// The check of a replay must see each thing that can be wrong: a sound run is damaged in one way at a time, and each
// damage has to be named. Also: streams of all shapes are split as their rows say.
#include "replay/check.hpp"

#include <cmdq/smmuv3/wire.hpp>

#include <functional>
#include <iostream>
#include <string>

namespace {

using namespace cmdq;
using namespace cmdq::cli;

int failures = 0;

void expect(bool ok, const std::string& what) {
  std::cout << (ok ? "ok     " : "FAILED ") << what << '\n';
  failures += ok ? 0 : 1;
}

command tlbi(std::uint64_t page) { return {{0x12, page << 12}}; }

/// Two threads, two lists each: [a b S] [c S] by thread 0, [d] without a sync and [e S] by thread 1, in ring order
/// a b S d c S e S.
struct run {
  stream s;
  evidence e;
  run() {
    for (std::uint64_t page = 1; page <= 5; ++page) s.commands.push_back(tlbi(page));
    s.lists = {{0, 2, true, 3}, {3, 1, false, 6}, {2, 1, true, 5}, {4, 1, true, 7}};
    const command sync = make_sync(sync_signal::event);
    for (const command& c : {tlbi(1), tlbi(2), sync, tlbi(4), tlbi(3), sync, tlbi(5), sync}) e.device.push_back({c, 1});
    e.device.resize(10);
    e.told = 8;
    e.threads = {{{0, 0, true}, {2, 4, true}}, {{1, 3, false}, {3, 6, true}}};
  }
};

void damaged(const std::string& how, const std::string& must_say, const std::function<void(run&)>& damage) {
  run r;
  damage(r);
  const std::string said = check_replay(r.s, r.e);
  expect(said.find(must_say) != std::string::npos, how + ": \"" + said + "\"");
}

void test_check() {
  const run sound;
  expect(check_replay(sound.s, sound.e).empty(), "a sound run passes");
  damaged("a command lost", "entry 3 was executed 0 times", [](run& r) { r.e.device[3].times = 0; });
  damaged("a command executed twice", "entry 4 was executed 2 times", [](run& r) { r.e.device[4].times = 2; });
  damaged("executed beyond PROD", "entry 8 was executed 1 times", [](run& r) { r.e.device[8] = {tlbi(1), 1}; });
  damaged("executed beyond all lists", "more commands executed", [](run& r) { r.e.overflow = 1; });
  damaged("order within a list", "list 0 (line 3), command 0", [](run& r) { std::swap(r.e.device[0], r.e.device[1]); });
  damaged("a torn command", "list 3 (line 7), command 0", [](run& r) { r.e.device[6].what.word[1] = 1; });
  damaged("lists interleaved", "lists 2 and 1 interleave at entry 3", [](run& r) {
    r.e.threads[0][1].first = 3;
    r.e.device[3].what = tlbi(3);
  });
  damaged("a thread's lists out of order", "list 0 lies before list 2", [](run& r) {
    std::swap(r.e.threads[0][0], r.e.threads[0][1]);
    r.e.threads[0][0].list = 2;
  });
  damaged("returned before done", "list 2 (line 5): its call returned before",
          [](run& r) { r.e.threads[0][1].done = false; });
  damaged("a list left out", "list 3 (line 7) was never issued", [](run& r) {
    r.e.threads[1].pop_back();
    r.e.device[6].what = make_sync(sync_signal::event);
  });
  damaged("a list issued twice", "list 0 was issued twice", [](run& r) { r.e.threads[1][1].list = 0; });
  damaged("a list behind PROD", "behind PROD at 8", [](run& r) { r.e.threads[1][1].first = 8; });
  damaged("a command of nobody", "a command that nobody issued", [](run& r) { r.e.device[5].what = tlbi(9); });
}

void test_waited() {
  run r;
  expect(executed_with_sync(r.e.device, 0, 2), "list and CMD_SYNC executed");
  expect(!executed_with_sync(r.e.device, 6, 4), "CMD_SYNC inside the list does not count");
  r.e.device[2].times = 0;
  expect(!executed_with_sync(r.e.device, 0, 2), "list executed, its CMD_SYNC not");
  r.e.device[1].times = 0;
  expect(!executed_with_sync(r.e.device, 0, 2), "list not executed");
}

stream parse(const std::string& rows) {
  const std::string text = "# comment\nseq,write,slot,opcode,d0,d1,fields\n" + rows;
  return parse_stream(text, "folder/test.csv");
}

std::string row(int seq, int write, const std::string& opcode, const std::string& d0, const std::string& fields) {
  return std::to_string(seq) + "," + std::to_string(write) + ",0," + opcode + "," + d0 + ",0x0000000000000000," +
         fields + "\n";
}

void test_split() {
  const auto all = [](int seq, int write) { return row(seq, write, "0x30", "0x0000000000000030", ""); };
  const auto sync = [](int seq, int write) {
    return row(seq, write, "0x46", "0x0000000000002046", "cs=2;msh=0;msiattr=0x0;msidata=0x0;msiaddr=0x0");
  };
  const auto atc = [](int seq, int write) {
    return row(seq, write, "0x40", "0x0000000000000040", "sid=0x0;size=0;addr=0x0");
  };
  // One PROD write: a list of two, a lone CMD_SYNC, a list without; the next write: a list without.
  const stream s = parse(all(0, 0) + all(1, 0) + sync(2, 0) + sync(3, 0) + all(4, 0) + all(5, 1));
  expect(s.name == "test.csv" && s.commands.size() == 4 && s.lists.size() == 4 && s.longest() == 2, "split into lists");
  expect(s.lists[0].n == 2 && s.lists[0].sync && s.lists[0].line == 3, "a list ends at its CMD_SYNC");
  expect(s.lists[1].n == 0 && s.lists[1].sync && s.lists[1].line == 6, "a lone CMD_SYNC");
  expect(s.lists[2].n == 1 && !s.lists[2].sync && s.lists[3].n == 1 && !s.lists[3].sync,
         "a PROD write ends a list too");
  // Where the queue would cut a list, the stream is cut before: each piece is one call.
  const stream cut = parse(all(0, 0) + atc(1, 0) + sync(2, 0));
  expect(cut.lists.size() == 2 && cut.lists[0].n == 1 && cut.lists[0].sync && cut.lists[1].sync, "cut between classes");
}

}  // namespace

int main() {
  test_check();
  test_waited();
  test_split();
  std::cout << failures << " failed\n";
  return failures == 0 ? 0 : 1;
}
