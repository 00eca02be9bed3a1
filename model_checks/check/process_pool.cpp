// SPDX-License-Identifier: BSL-1.0
#include "process_pool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <deque>
#include <stdexcept>

namespace cmdq::checks {

namespace {

using steady = std::chrono::steady_clock;

double seconds_since(steady::time_point start) { return std::chrono::duration<double>(steady::now() - start).count(); }

struct child {
  job what;
  pid_t pid = 0;
  int out = -1;
  std::string text;
  steady::time_point start;
};

child start_child(job what) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  std::vector<char*> argv;
  std::string self = "/proc/self/exe";
  argv.push_back(self.data());
  argv.push_back(what.command.data());
  for (std::string& a : what.args) argv.push_back(a.data());
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("cannot fork");
  if (pid == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execv(self.c_str(), argv.data());
    _exit(127);
  }
  close(ends[1]);
  return {std::move(what), pid, ends[0], {}, steady::now()};
}

/// Reads what there is. False at the end of the child's output.
bool read_some(child& c) {
  char buffer[65536];
  const ssize_t n = read(c.out, buffer, sizeof buffer);
  if (n > 0) c.text.append(buffer, static_cast<std::size_t>(n));
  return n > 0;
}

answer finish_child(child& c, bool too_long) {
  if (too_long) kill(c.pid, SIGKILL);
  close(c.out);
  int status = 0;
  waitpid(c.pid, &status, 0);
  answer a = answer::parse(c.text, nullptr, false);
  if (!a.is_discarded() && a.is_object()) return a;
  return {{"result", too_long ? "ran too long" : "crashed"},
          {"detail", fmt::format("wait status {:#x}", static_cast<unsigned>(status))},
          {"executions", 0},
          {"seconds", seconds_since(c.start)}};
}

class progress_line {
 public:
  progress_line(const std::vector<job>& jobs, bool on) : on_(on) {
    for (const job& j : jobs) all_ += j.weight;
    count_ = jobs.size();
  }
  void add(double weight) {
    all_ += weight;
    ++count_;
  }
  void finished(double weight) {
    done_ += weight;
    ++finished_;
  }
  void show() {
    if (!on_ || seconds_since(last_) < 5) return;
    last_ = steady::now();
    const double elapsed = seconds_since(start_);
    const std::string left = done_ > 0 ? fmt::format("about {:.0f} s left", elapsed * (all_ - done_) / done_) : "";
    fmt::print(stderr, "  {} of {} explorations, {:.0f} s, {}\n", finished_, count_, elapsed, left);
  }

 private:
  bool on_;
  double all_ = 0;
  double done_ = 0;
  std::size_t count_ = 0;
  std::size_t finished_ = 0;
  steady::time_point start_ = steady::now();
  steady::time_point last_ = steady::now();
};

}  // namespace

void run_jobs(std::vector<job> jobs, const pool_options& options,
              const std::function<std::optional<job>(const job&, const answer&)>& done) {
  progress_line progress(jobs, options.progress);
  std::deque<job> waiting(jobs.begin(), jobs.end());
  std::vector<child> running;
  while (!waiting.empty() || !running.empty()) {
    while (!waiting.empty() && running.size() < options.jobs) {
      running.push_back(start_child(std::move(waiting.front())));
      waiting.pop_front();
    }
    std::vector<pollfd> fds;
    for (const child& c : running) fds.push_back({c.out, POLLIN, 0});
    poll(fds.data(), fds.size(), 1000);
    for (std::size_t i = running.size(); i-- > 0;) {
      child& c = running[i];
      const bool too_long = seconds_since(c.start) > options.timeout_s;
      if (!too_long && (fds[i].revents == 0 || read_some(c))) continue;
      const answer a = finish_child(c, too_long);
      progress.finished(c.what.weight);
      if (std::optional<job> next = done(c.what, a)) {
        progress.add(next->weight);
        waiting.push_front(std::move(*next));
      }
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    }
    progress.show();
  }
}

}  // namespace cmdq::checks
