// SPDX-License-Identifier: BSL-1.0
// The explorer proves itself: known numbers of Mazurkiewicz traces, and random programs against plain enumeration.
#include "platform.hpp"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>

namespace {

using namespace cmdq;
using namespace cmdq::exhaust;
using P = checks::explored_platform;
using cell = P::atomic<std::uint32_t>;

int failures = 0;
void expect(bool holds, const std::string& what) {
  if (holds) return;
  fmt::print("FAILED: {}\n", what);
  ++failures;
}

/// Programs over a few words, as data. Registers take what is read.
enum class action : std::uint8_t { load, store, add, compare, await, await_sum };
struct step {
  action what;
  unsigned word = 0;
  std::uint32_t value = 0;   ///< stored, added, expected or awaited
  std::uint32_t wanted = 0;  ///< compare: stored
};
using code = std::vector<std::vector<step>>;
constexpr unsigned words = 3;

struct machine {
  std::array<std::uint32_t, words> memory{};
  std::vector<std::vector<std::uint32_t>> registers;
  [[nodiscard]] std::string text() const {
    std::string out = fmt::format("{}", fmt::join(memory, " "));
    for (const auto& r : registers) out += fmt::format("|{}", fmt::join(r, " "));
    return out;
  }
};

/// A program's final states and how often each was reached, by the explorer.
class explored : public program {
 public:
  explicit explored(const code& c) : code_(c) {}
  [[nodiscard]] unsigned threads() const override { return static_cast<unsigned>(code_.size()); }
  void begin() override {
    memory_ = std::make_unique<std::array<cell, words>>();
    registers_.assign(code_.size(), {});
    done_ = 0;
  }
  void thread(unsigned i) override {
    for (const step& s : code_[i]) run(s, registers_[i]);
    ++done_;
  }
  void finish() override {
    machine m;
    for (unsigned w = 0; w < words; ++w) m.memory[w] = (*memory_)[w].load(at<site::setup>);
    m.registers = registers_;
    if (done_ == code_.size() || stuck_too) finals.insert(m.text());
  }
  void end() override { memory_.reset(); }

  std::set<std::string> finals;
  bool stuck_too = true;

 private:
  void run(const step& s, std::vector<std::uint32_t>& r) {
    cell& w = (*memory_)[s.word];
    switch (s.what) {
      case action::load:
        return r.push_back(w.load(at<site::setup>));
      case action::store:
        return w.store(s.value, at<site::setup>);
      case action::add:
        return r.push_back(w.fetch_add(s.value, at<site::setup>));
      case action::compare: {
        std::uint32_t expected = s.value;
        return r.push_back(w.compare_exchange(expected, s.wanted, at<site::setup>) ? 1 : 0);
      }
      case action::await:
        while (w.load(at<site::setup>) != s.value) P::pause_for(&w);
        return;
      case action::await_sum:
        for (;;) {
          const std::uint32_t a = w.load(at<site::setup>);
          const std::uint32_t b = (*memory_)[(s.word + 1) % words].load(at<site::setup>);
          if (a + b >= s.value) return r.push_back(16 * a + b);
          P::pause(nullptr, 0);
        }
    }
  }
  const code& code_;
  std::unique_ptr<std::array<cell, words>> memory_;
  std::vector<std::vector<std::uint32_t>> registers_;
  std::size_t done_ = 0;
};

/// The same by plain enumeration.
class enumerated {
 public:
  explicit enumerated(const code& c) : code_(c) {}

  /// Every interleaving: final states (stuck ones too) and Mazurkiewicz traces.
  void all() {
    state s = initial();
    std::vector<access_made> made;
    walk(s, made);
  }
  /// Every state: final states of programs that spin.
  void states() { visit(initial()); }

  std::set<std::string> finals;
  std::set<std::string> traces;
  std::uint64_t interleavings = 0;

 private:
  struct state {
    machine m;
    std::vector<std::size_t> at;
    std::vector<int> half;  ///< await_sum: the first word, once read
  };
  struct access_made {
    unsigned thread;
    unsigned word;
    bool wrote;
  };
  [[nodiscard]] state initial() const {
    state s;
    s.m.registers.resize(code_.size());
    s.at.assign(code_.size(), 0);
    s.half.assign(code_.size(), -1);
    return s;
  }
  /// False where the thread has ended or must wait.
  bool go(state& s, unsigned i, access_made& a) const {
    if (s.at[i] == code_[i].size()) return false;
    const step& c = code_[i][s.at[i]];
    std::uint32_t& w = s.m.memory[c.word];
    auto& r = s.m.registers[i];
    a = {i, c.word, false};
    switch (c.what) {
      case action::load:
        r.push_back(w);
        break;
      case action::store:
        w = c.value;
        a.wrote = true;
        break;
      case action::add:
        r.push_back(w);
        w += c.value;
        a.wrote = true;
        break;
      case action::compare:
        a.wrote = w == c.value;
        if (a.wrote) w = c.wanted;
        r.push_back(a.wrote ? 1 : 0);
        break;
      case action::await:
        if (w != c.value) return false;
        break;
      case action::await_sum:
        return sum(s, i, c);
    }
    ++s.at[i];
    return true;
  }
  static bool sum(state& s, unsigned i, const step& c) {
    if (s.half[i] < 0) {
      s.half[i] = static_cast<int>(s.m.memory[c.word]);
      return true;
    }
    const auto a = static_cast<std::uint32_t>(s.half[i]);
    const std::uint32_t b = s.m.memory[(c.word + 1) % words];
    s.half[i] = -1;
    if (a + b < c.value) return true;
    s.m.registers[i].push_back(16 * a + b);
    ++s.at[i];
    return true;
  }
  void walk(const state& s, std::vector<access_made>& made) {
    bool last = true;
    for (unsigned i = 0; i < code_.size(); ++i) {
      state next = s;
      access_made a{};
      if (!go(next, i, a)) continue;
      last = false;
      made.push_back(a);
      walk(next, made);
      made.pop_back();
    }
    if (!last) return;
    ++interleavings;
    finals.insert(s.m.text());
    traces.insert(trace_of(made));
  }
  /// Of each word: its writes in order, and who reads between them.
  static std::string trace_of(const std::vector<access_made>& made) {
    std::array<std::string, words> text;
    std::array<std::multiset<std::string>, words> reads;
    std::map<unsigned, unsigned> number;
    for (const access_made& a : made) {
      const std::string who = fmt::format("{}.{}", a.thread, number[a.thread]++);
      if (!a.wrote) {
        reads[a.word].insert(who);
        continue;
      }
      text[a.word] += fmt::format("({})={};", fmt::join(reads[a.word], ","), who);
      reads[a.word].clear();
    }
    std::string out;
    for (unsigned w = 0; w < words; ++w) out += fmt::format("{}({})/", text[w], fmt::join(reads[w], ","));
    return out;
  }
  void visit(const state& s) {
    const std::string key = fmt::format("{}/{}/{}", s.m.text(), fmt::join(s.at, " "), fmt::join(s.half, " "));
    if (!seen_.insert(key).second) return;
    bool ended = true;
    for (unsigned i = 0; i < code_.size(); ++i) {
      ended = ended && s.at[i] == code_[i].size();
      state next = s;
      access_made a{};
      if (go(next, i, a)) visit(next);
    }
    if (ended) finals.insert(s.m.text());
  }
  const code& code_;
  std::set<std::string> seen_;
};

findings explore(explored& p, unsigned daemons) {
  explorer e(p, {.daemons = daemons, .depth = 200});
  return e.explore();
}

void known(const std::string& name, const code& c, std::uint64_t traces) {
  explored p(c);
  const findings f = explore(p, 0);
  expect(f.failure.empty() && f.complete, name + " is explored completely: " + f.failure);
  expect(f.executions == traces, fmt::format("{}: {} executions, {} traces", name, f.executions, traces));
}

constexpr action load = action::load;
constexpr action store = action::store;
constexpr action add = action::add;
constexpr action compare = action::compare;
constexpr action await = action::await;
constexpr action await_sum = action::await_sum;

void known_numbers() {
  known("3 writers of 3 words", {{{store, 0, 1}}, {{store, 1, 1}}, {{store, 2, 1}}}, 1);
  known("3 writers of a word", {{{store, 0, 1}}, {{store, 0, 2}}, {{store, 0, 3}}}, 6);
  known("3 readers", {{{load, 0}, {load, 1}}, {{load, 0}, {load, 1}}, {{load, 1}, {load, 0}}}, 1);
  known("a writer and 3 readers", {{{store, 0, 1}}, {{load, 0}}, {{load, 0}}, {{load, 0}}}, 8);
  known("store buffering", {{{store, 0, 1}, {load, 1}}, {{store, 1, 1}, {load, 0}}}, 3);
  known("message passing", {{{store, 0, 1}, {store, 1, 1}}, {{load, 1}, {load, 0}}}, 3);
  known("message passing, awaited", {{{store, 0, 1}, {store, 1, 1}}, {{await, 1, 1}, {load, 0}}}, 1);
  known("independent reads of independent writes",
        {{{store, 0, 1}}, {{store, 1, 1}}, {{load, 0}, {load, 1}}, {{load, 1}, {load, 0}}}, 15);
  known("a lock taken by 3",
        {{{await, 0, 0}, {compare, 0, 0, 1}}, {{await, 0, 1}, {compare, 0, 1, 2}}, {{await, 0, 2}, {store, 0, 0}}}, 1);
  known("tickets", {{{add, 0, 1}}, {{add, 0, 1}}, {{add, 0, 1}}, {{add, 0, 1}}}, 24);
  known("a turn handed on", {{{await, 0, 2}, {store, 0, 3}}, {{await, 0, 1}, {store, 0, 2}}, {{store, 0, 1}}}, 1);
}

class generator {
 public:
  explicit generator(unsigned seed) : random_(seed) {}
  code next(bool sums) {
    code c(2 + pick(2));
    for (auto& t : c) {
      const unsigned n = 1 + pick(c.size() == 2 ? 4 : 3);
      for (unsigned i = 0; i < n; ++i) t.push_back(one(sums));
    }
    return c;
  }

 private:
  unsigned pick(unsigned n) { return static_cast<unsigned>(random_() % n); }
  step one(bool sums) {
    const action what = static_cast<action>(pick(sums ? 6 : 5));
    return {what, pick(words), what == await_sum ? 1 + pick(3) : pick(3), pick(3)};
  }
  std::mt19937 random_;
};

std::string text_of(const code& c) {
  static constexpr const char* names[] = {"load", "store", "add", "compare", "await", "await_sum"};
  std::string out;
  for (const auto& t : c) {
    out += "\n   ";
    for (const step& s : t)
      out += fmt::format(" {}(w{} {} {})", names[static_cast<unsigned>(s.what)], s.word, s.value, s.wanted);
  }
  return out;
}

void random_programs(unsigned n) {
  std::uint64_t executions = 0;
  std::uint64_t redundant = 0;
  std::uint64_t interleavings = 0;
  for (unsigned seed = 0; seed < n; ++seed) {
    const code c = generator(seed).next(false);
    explored p(c);
    const findings f = explore(p, static_cast<unsigned>(c.size()));
    enumerated all(c);
    all.all();
    expect(f.complete && f.failure.empty(), fmt::format("program {} is explored: {}", seed, f.failure));
    expect(p.finals == all.finals,
           fmt::format("program {}: {} final states, {} by enumeration", seed, p.finals.size(), all.finals.size()));
    expect(f.executions == all.traces.size(),
           fmt::format("program {}: {} executions, {} traces{}", seed, f.executions, all.traces.size(), text_of(c)));
    executions += f.executions;
    redundant += f.redundant;
    interleavings += all.interleavings;
  }
  fmt::print("{} programs: {} interleavings, {} executions, {} redundant\n", n, interleavings, executions, redundant);
}

/// Waits that read two words: what each round read may be spread over what others do.
void random_spinners(unsigned n) {
  std::uint64_t executions = 0;
  std::uint64_t redundant = 0;
  for (unsigned seed = 0; seed < n; ++seed) {
    const code c = generator(seed + 1'000'000).next(true);
    explored p(c);
    p.stuck_too = false;
    const findings f = explore(p, static_cast<unsigned>(c.size()));
    enumerated all(c);
    all.states();
    expect(f.complete && f.failure.empty(), fmt::format("spinning program {} is explored: {}", seed, f.failure));
    expect(p.finals == all.finals, fmt::format("spinning program {}: {} final states, {} by enumeration{}", seed,
                                               p.finals.size(), all.finals.size(), text_of(c)));
    executions += f.executions;
    redundant += f.redundant;
  }
  fmt::print("{} spinning programs: {} executions, {} redundant\n", n, executions, redundant);
}

}  // namespace

int main() {
  known_numbers();
  random_programs(3000);
  random_spinners(3000);
  fmt::print("{}\n", failures == 0 ? "all as expected" : "NOT as expected");
  return failures == 0 ? 0 : 1;
}
