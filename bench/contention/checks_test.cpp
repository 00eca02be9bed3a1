// SPDX-License-Identifier: BSL-1.0
// Does a run see what it checks for? Contenders with one defect each. Exit codes: 0 every defect was named, 1 not.
#include <fmt/core.h>

#include <mutex>

#include "run.hpp"

namespace {

using namespace bench;

enum class defect { none, loses, doubles, reverses, tears, fails };

/// One lock around the inline device; the hundredth list of all is treated badly,
template <defect Defect>
class broken final : public contender {
  class one final : public session {
   public:
    explicit one(broken& owner) : owner_(owner) {}
    bool issue(const cmdq::command* list, std::uint32_t n) override { return owner_.issue(list, n); }

   private:
    broken& owner_;
  };

 public:
  explicit broken(const scenario& s) : contender(s) {}
  std::unique_ptr<session> join() override { return std::make_unique<one>(*this); }

 private:
  bool issue(const cmdq::command* list, std::uint32_t n) {
    const std::lock_guard hold(mutex_);
    const bool now = ++lists_ == 100;
    if (now && Defect == defect::fails) return false;
    if (now && Defect == defect::loses) return true;
    std::vector<cmdq::command> what(list, list + n);
    if (now && Defect == defect::doubles) what.insert(what.end(), list, list + n);
    if (now && Defect == defect::reverses) what = {what.rbegin(), what.rend()};
    if (now && Defect == defect::tears) what.back().word[1] ^= 0x1000;
    for (const cmdq::command& c : what) entries()[next_++ % (1U << ring_log2)].put(c);
    dev().write_prod(next_ % (2U << ring_log2));
    return true;
  }

  std::mutex mutex_;
  std::uint64_t lists_ = 0;
  std::uint32_t next_ = 0;
};

template <defect Defect>
bool expect(const char* name, bool failure) {
  const entrant who{name, "cons", "yield", side::ours, [](const scenario& s) -> std::unique_ptr<contender> {
                      return std::make_unique<broken<Defect>>(s);
                    }};
  const measurement m = run(who, {2, 4, {}, 0, 500});
  const bool good = m.failure.empty() != failure;
  fmt::print("{:<8} {}: {}\n", good ? "ok" : "FAILED", name, m.failure.empty() ? "no failure" : m.failure);
  return good;
}

/// Who got how much decides, and no run: how a machine shares its processors out is no test's business.
bool expect_fairness(const char* name, const std::vector<double>& got, bool starved, double least, double jain) {
  const fairness f = fairness_of(got);
  const auto near = [](double a, double b) { return a - b < 1e-9 && b - a < 1e-9; };
  const bool good = f.starved() == starved && near(f.least_share, least) && near(f.jain, jain);
  fmt::print("{:<8} {}: least share {:.3f}, Jain's index {:.3f}\n", good ? "ok" : "FAILED", name, f.least_share,
             f.jain);
  return good;
}

}  // namespace

int main() {
  bool good = expect<defect::none>("sound", false);
  good = expect<defect::loses>("loses a list", true) && good;
  good = expect<defect::doubles>("doubles a list", true) && good;
  good = expect<defect::reverses>("reverses a list", true) && good;
  good = expect<defect::tears>("tears a command", true) && good;
  good = expect<defect::fails>("fails", true) && good;
  good = expect_fairness("fair", {7, 7, 7, 7}, false, 1, 1) && good;
  good = expect_fairness("unequal", {1, 3}, false, 0.5, 0.8) && good;
  good = expect_fairness("starves a thread", {0, 10}, true, 0, 0.5) && good;
  good = expect_fairness("nothing done", {0, 0}, true, 0, 0) && good;
  return good ? 0 : 1;
}
