// SPDX-License-Identifier: BSL-1.0
// A stateless model checker with dynamic partial-order reduction: source sets and sleep sets (Abdulla, Aronis, Jonsson,
// Sagonas: Optimal dynamic partial order reduction, POPL 2014), under sequential consistency. Executions that differ
// only in the order of accesses that do not conflict are explored once.
//
// Waits block. A thread that polls in vain, that is: calls pause() after loads alone, sleeps until a word that it read
// has changed, and its loads count as not made (the idea of Kokologiannakis, Marmanis, Vafeiadis: Unblocking dynamic
// partial order reduction, CAV 2023). Where they cannot be taken back, since others have run between them, the thread
// gives up: the execution goes on without it, is found redundant, and shows what must happen before those loads.
#pragma once

#include "fibers.hpp"
#include "trace.hpp"

#include <string>

namespace cmdq::exhaust {

/// What is explored. begin() must build the same state each time.
class program {
 public:
  virtual ~program() = default;
  [[nodiscard]] virtual unsigned threads() const = 0;
  virtual void begin() = 0;
  virtual void thread(unsigned index) = 0;
  virtual void finish() = 0;  ///< after each complete execution
  virtual void end() = 0;     ///< after every execution, wherever it was left
};

struct limits {
  static constexpr unsigned nobody = max_threads;
  unsigned daemons = 0;          ///< the last threads, which need not end
  unsigned time_outs = 0;        ///< how many calls may find their deadline past, wherever they wait
  unsigned ticks = 0;            ///< how often time goes on once all threads wait, each time twice as long
  unsigned stopped = nobody;     ///< a thread that stops for ever
  unsigned stops_before = 0;     ///< ... before its store or read-modify-write of this number, from 0
  unsigned depth = 4000;         ///< events after which an execution counts as a livelock
  std::uint64_t executions = 0;  ///< after so many the search is cut; 0: never
  double seconds = 0;            ///< the same by time
};

struct findings {
  std::uint64_t executions = 0;  ///< complete ones, each of another Mazurkiewicz trace
  std::uint64_t redundant = 0;   ///< begun, and found to lead nowhere new
  bool complete = false;         ///< nothing is left to be explored
  bool stopped = false;          ///< the thread that is to stop came to that point
  double seconds = 0;
  std::string failure;  ///< "" where nothing failed
  std::string history;  ///< of the execution that failed
};

/// What fail() throws outside of threads.
struct broken_promise {};

/// Who has accessed a plain word, and when.
struct plain_state {
  unsigned writer = slots;
  std::uint16_t written = 0;
  std::array<std::uint16_t, slots> read{};
};

class explorer {
 public:
  explorer(program& what, const limits& how);
  explorer(const explorer&) = delete;
  explorer& operator=(const explorer&) = delete;
  findings explore();

  /// The explorer whose thread calls; null outside of its threads.
  static explorer* running() noexcept { return running_; }
  /// The explorer at work in this process.
  static explorer* at_work() noexcept { return at_work_; }
  static std::uint32_t new_word() noexcept { return next_word_++; }

  // What the threads call.
  void before(access kind, const word& where, const char* site);
  void did(bool wrote, std::uint64_t value);
  void pause(const void* line, bool alone);
  void plain_access(plain_state& of, bool writes);
  [[noreturn]] void fail(const std::string& why);
  [[nodiscard]] std::uint64_t now_ns() const { return 1 + now_ + threads_[self_].late_ns; }
  [[nodiscard]] unsigned self() const { return self_; }

 private:
  struct seen {
    word where;
    std::uint64_t value;
    unsigned version;
    const char* site;
    bool own = false;  ///< left behind by the thread itself
  };
  /// ready: before an access. polling: polled in vain. given_up: the same, but its loads stand.
  enum class condition : std::uint8_t { ready, polling, given_up, stopped, done };
  struct thread {
    fiber_slot fiber;
    condition state = condition::ready;
    bool goes_on = false;  ///< polls once more: time has gone on, or its last poll saw a word change
    bool saw_change = false;
    bool polls_several = false;
    bool polls_writing = false;  ///< its last poll left something behind, and stands
    bool loops = false;          ///< nothing but loads since its last pause
    word pending;
    const char* pending_site = "";
    unsigned writes = 0;
    std::uint64_t late_ns = 0;
    vector_clock clock;
    std::vector<seen> loads;  ///< since its last pause or store
    std::vector<seen> known;  ///< what it saw or left in each word since its last pause
    std::vector<seen> watch;  ///< what has to change for it to go on
    std::vector<seen> last_poll;
    std::vector<seen> tried;  ///< what it has polled in vain since its last event
  };
  struct word_state {
    int last_write = -1;
    unsigned version = 0;
    std::array<int, slots> reads;
  };
  enum class ending : std::uint8_t { running, complete, redundant, failed };

  // One execution.
  void execute();
  void start_threads();
  void schedule();
  void leave() { main_.resume(); }
  void hand_over();
  void take(node& n, choice c);
  choice choose(node& n);
  choice choose_stuck(node& n);
  choice end_with(ending e) {
    ending_ = e;
    return no_choice;
  }
  void let_time_pass();
  static void note(thread& t, const seen& s);
  void sleep(thread& t, std::size_t poll, const void* line, condition how);
  void take_back(thread& t, std::size_t n, bool impossible);
  [[nodiscard]] std::size_t known_poll(const thread& t);
  [[nodiscard]] bool own_and_free(std::size_t n) const;
  void offer_time_out(node& n);
  [[nodiscard]] bool enabled(const thread& t) const;
  [[nodiscard]] bool possible(choice c) const;
  [[nodiscard]] bool replaying() const { return events_.size() < prefix_; }
  node& here();
  thread& me() { return threads_[self_]; }
  static std::uint64_t value_at(const word& w);

  // What it shows.
  void record(event& e, thread& t, bool wrote, std::uint64_t value);
  void confirm();
  void reverse(int first, const event& second, std::size_t end);
  void reverse_missed();
  void reverse_missed(unsigned who);
  bool next_prefix();
  [[nodiscard]] std::string history() const;

  static inline explorer* running_ = nullptr;
  static inline explorer* at_work_ = nullptr;
  static inline std::uint32_t next_word_ = first_word;

  program& what_;
  const limits how_;
  const unsigned count_;
  std::array<thread, max_threads> threads_;
  fiber_slot main_;
  std::vector<event> events_;
  std::vector<node> nodes_;
  std::size_t known_nodes_ = 0;
  std::size_t prefix_ = 0;    ///< events that are given
  std::size_t analysed_ = 0;  ///< events whose races are told
  std::size_t vain_at_ = 0;
  std::vector<word_state> words_;
  std::vector<std::vector<const char*>> polls_;  ///< sites of what is known to be one poll of some wait
  bool learnt_ = false;                          ///< of another one: all starts again
  unsigned self_ = 0;
  bool starting_ = false;
  bool granted_ = false;  ///< the next access of the running thread is chosen already
  bool in_vain_ = false;  ///< the running thread repeats a poll that is known to be in vain
  ending ending_ = ending::running;
  unsigned time_outs_ = 0;
  unsigned ticks_ = 0;
  std::uint64_t now_ = 0;
  vector_clock time_clock_;
  findings found_;
};

}  // namespace cmdq::exhaust
