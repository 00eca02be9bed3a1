// SPDX-License-Identifier: BSL-1.0
// The parent: starts device and workers, kills workers at random, rebuilds the queue when one of them has left a hole.
#pragma once

#include <csignal>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/prctl.h>
#include <sys/wait.h>

#include "device.hpp"
#include "worker.hpp"

namespace processes {

struct settings {
  unsigned workers = 8;
  unsigned kills = 100;
  double seconds = 20;
  std::uint64_t seed = 1;
  unsigned log2_size = 8;
};

struct results {
  std::uint64_t kills = 0;
  std::uint64_t calls = 0;
  std::uint64_t ended[statuses] = {};  ///< calls by status
  std::uint64_t hangs = 0;
  std::uint64_t lost = 0;
  std::uint64_t repeated = 0;
  std::uint64_t cells_back = 0;
  std::uint64_t cells_missing = 0;  ///< that nobody could attach to at the end
  std::uint64_t rebuilds = 0;
  [[nodiscard]] bool good() const { return hangs == 0 && lost == 0 && repeated == 0 && cells_missing == 0; }
};

template <class Shared>
class supervisor {
 public:
  /// Throws std::runtime_error, with what the system or the library said, when it cannot start.
  supervisor(const settings& s, int fd)
      : settings_(s), options_(options_for(s)), world_(sizes_for(s, options_)), fd_(fd), dice_(s.seed) {
    if (ftruncate(fd, static_cast<off_t>(world_.bytes())) != 0) throw std::runtime_error("ftruncate: the memory file");
    if (!world_.map(fd, 0)) throw std::runtime_error("mmap: the memory file");
    world_.begin();
  }

  results run() {
    make_queue(0);
    device_ = start([this] { run_device<Shared>(world_, accounts(settings_)); });
    wait_for_ack(1);
    for (unsigned i = 0; i < settings_.workers; ++i) hire(i);
    const std::uint64_t began = now_ns();
    const auto length = static_cast<std::uint64_t>(settings_.seconds * 1e9);
    std::uint64_t next_kill = began + pause_between(length);
    while (results_.kills < settings_.kills || now_ns() - began < length) {
      if (results_.kills < settings_.kills && now_ns() >= next_kill) {
        next_kill += pause_between(length);
        kill_one(static_cast<unsigned>(dice_.below(settings_.workers)));
      }
      watch();
      usleep(200);
    }
    finish();
    return results_;
  }

 private:
  static constexpr std::uint64_t patience_ns = 500'000'000;  ///< a hole: so long without any progress

  static cmdq::options options_for(const settings& s) {
    cmdq::options o;
    o.log2_size = s.log2_size;
    o.batch_limit = batch_limit;
    o.producers = s.workers;
    o.deadline_ns = deadline_ns;
    return o;
  }
  static std::size_t accounts(const settings& s) { return s.workers + s.kills + 1; }
  static world::sizes sizes_for(const settings& s, const cmdq::options& o) {
    const auto where = Shared::layout(o, 0);
    if (!where) throw std::runtime_error(refused(where.why()));
    // A queue is rebuilt after a kill only, once more at the end.
    return {.accounts = accounts(s), .queues = s.kills + 2, .block = where->bytes};
  }
  static std::string refused(const cmdq::refusal& r) {
    return std::string(name(r.code)) + ": " + r.field + " is " + std::to_string(r.value) + ", limit " +
           std::to_string(r.limit);
  }

  /// Kills come at random times, spread over the run.
  std::uint64_t pause_between(std::uint64_t length) {
    return settings_.kills == 0 ? length : dice_.below(2 * length / settings_.kills + 1);
  }

  template <class Body>
  pid_t start(const Body& body) {
    const pid_t parent = getpid();
    const unsigned salt = ++salt_;
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("fork");
    if (child != 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || !world_.map(fd_, salt)) _exit(3);  // its own address: the parent's mapping is not used
    body();
    _exit(0);
  }

  void hire(unsigned place) {
    post& p = control_().posts[place];
    p.began.store(0);
    p.last_ok.store(now_ns());
    const auto number = static_cast<std::uint16_t>(hired_++);
    if (workers_.size() <= place) workers_.resize(place + 1);
    workers_[place] = start([=, this] { _exit(worker<Shared>(world_, place, number).run()); });
  }

  void kill_one(unsigned place) {
    kill(workers_[place], SIGKILL);
    int ended = 0;
    waitpid(workers_[place], &ended, 0);
    ++results_.kills;
    take_back();
    hire(place);
  }

  void take_back() {
    const cmdq::gone_report found = queue_.queue().take_back();
    results_.cells_back += found.cells;
    owing_ = found.owing;
  }

  /// Has anybody left a hole? And does every call end?
  void watch() {
    take_back();
    const std::uint64_t now = now_ns();
    const std::uint32_t told = queue_.queue().prod_register();
    bool all_late = true;
    for (unsigned i = 0; i < settings_.workers; ++i) {
      post& p = control_().posts[i];
      const std::uint64_t call = p.began.load();
      if (call != 0 && now > call && now - call > hang_ns) {
        ++results_.hangs;
        kill_one(i);
      }
      const std::uint64_t good = p.last_ok.load();
      all_late = all_late && now > good && now - good > patience_ns;
      if (waitpid(workers_[i], nullptr, WNOHANG) != 0) throw std::runtime_error("a worker ended by itself");
    }
    if (waitpid(device_, nullptr, WNOHANG) != 0) throw std::runtime_error("the device process ended by itself");
    if (told != told_ || owing_ == 0) since_ = now;
    told_ = told;
    if (results_.kills > kills_before_ && (now - since_ > patience_ns || all_late)) rebuild();
  }

  /// The steps of command_queue::retire(). The device's registers are new ones here, so nothing that somebody may still
  /// do with the old ones can reach the new queue.
  void rebuild() {
    queue_.queue().retire();
    control_().enabled.store(0);
    wait_for_ack(0);
    make_queue(control_().queue.load() + 1);
    wait_for_ack(1);
    ++results_.rebuilds;
    kills_before_ = results_.kills;
    for (unsigned i = 0; i < settings_.workers; ++i) control_().posts[i].last_ok.store(now_ns());
  }

  void make_queue(std::uint32_t number) {
    if (number >= world_.queues()) throw std::runtime_error("more rebuilds than kills");
    const auto made = Shared::create(world_.block(number), world_.block_bytes(), options_, 0);
    if (!made) throw std::runtime_error(refused(made.why()));
    queue_ = *made;
    owing_ = 0;
    since_ = now_ns();
    control_().queue.store(number);
    control_().enabled.store(1);
  }

  void wait_for_ack(std::uint32_t wanted) {
    while (control_().enabled_ack.load() != wanted) {
      if (waitpid(device_, nullptr, WNOHANG) != 0) throw std::runtime_error("the device process ended by itself");
      usleep(50);
    }
  }

  void finish() {
    control_().stop.store(1);
    const std::uint64_t end = now_ns() + hang_ns;
    for (const pid_t w : workers_) {
      int ended = 0;
      while (waitpid(w, &ended, WNOHANG) == 0 && now_ns() < end) usleep(200);
      if (now_ns() < end) continue;
      ++results_.hangs;
      kill(w, SIGKILL);
      waitpid(w, nullptr, 0);
    }
    check_cells();
    control_().enabled.store(0);
    wait_for_ack(0);
    kill(device_, SIGKILL);
    waitpid(device_, nullptr, 0);
    for (unsigned i = 0; i < settings_.workers; ++i) {
      results_.calls += control_().posts[i].calls.load();
      for (unsigned s = 0; s < statuses; ++s) results_.ended[s] += control_().posts[i].ended[s].load();
    }
    results_.lost = control_().lost.load();
    results_.repeated = control_().repeated.load();
  }

  /// Every cell must be had again; on a new queue where the last kill has left a hole.
  void check_cells() {
    for (bool rebuilt = false;; rebuilt = true) {
      const std::uint64_t end = now_ns() + patience_ns;
      do {
        take_back();
        usleep(200);
      } while (owing_ != 0 && now_ns() < end);
      std::vector<typename Shared::producer> all(settings_.workers);
      results_.cells_missing = settings_.workers;
      for (auto& p : all)
        if (queue_.queue().attach(p) == cmdq::status::ok) --results_.cells_missing;
      if (results_.cells_missing == 0 || rebuilt || owing_ == 0) return;
      rebuild();
    }
  }

  [[nodiscard]] control& control_() const { return world_.shared_control(); }

  settings settings_;
  cmdq::options options_;
  world world_;
  int fd_;
  dice dice_;
  Shared queue_;
  results results_;
  std::vector<pid_t> workers_;
  pid_t device_ = 0;
  unsigned salt_ = 0;
  unsigned hired_ = 0;
  std::uint32_t owing_ = 0;
  std::uint32_t told_ = 0;
  std::uint64_t since_ = 0;         ///< owing or not, the queue moved then
  std::uint64_t kills_before_ = 0;  ///< when the queue was made
};

}  // namespace processes
