// SPDX-License-Identifier: BSL-1.0
// Does a run see what it checks for? Contenders with one defect each. Exit codes: 0 every defect was named, 1 not.
#include <fmt/core.h>

#include <chrono>
#include <mutex>

#include "run.hpp"

namespace {

using namespace bench;

enum class defect { none, loses, doubles, reverses, tears, fails, starves };

/// One lock around the inline device; the hundredth list of all is treated badly, or the first thread always.
template <defect Defect>
class broken final : public contender {
  class one final : public session {
   public:
    one(broken& owner, bool first) : owner_(owner), first_(first) {}
    bool issue(const cmdq::command* list, std::uint32_t n) override { return owner_.issue(list, n, first_); }

   private:
    broken& owner_;
    const bool first_;
  };

 public:
  explicit broken(const scenario& s) : contender(s) {}
  std::unique_ptr<session> join() override {
    const std::lock_guard hold(mutex_);
    return std::make_unique<one>(*this, joined_++ == 0);
  }

 private:
  bool issue(const cmdq::command* list, std::uint32_t n, bool first) {
    if (Defect == defect::starves && first) std::this_thread::sleep_for(std::chrono::milliseconds(20));
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
  std::uint32_t joined_ = 0;
  std::uint64_t lists_ = 0;
  std::uint32_t next_ = 0;
};

template <defect Defect>
bool expect(const char* name, bool failure, bool starved) {
  const entrant who{name, "cons", "yield", side::ours, [](const scenario& s) -> std::unique_ptr<contender> {
                      return std::make_unique<broken<Defect>>(s);
                    }};
  const scenario s{2, 4, {}, 0.3, starved || Defect == defect::none ? 0U : 500U};
  const measurement m = run(who, s);
  const bool good = m.failure.empty() != failure && m.starved == starved;
  fmt::print("{:<8} {}: {}{}\n", good ? "ok" : "FAILED", name, m.failure.empty() ? "no failure" : m.failure,
             m.starved ? fmt::format(", least share {:.3f}", m.least_share) : "");
  return good;
}

}  // namespace

int main() {
  bool good = expect<defect::none>("sound", false, false);
  good = expect<defect::loses>("loses a list", true, false) && good;
  good = expect<defect::doubles>("doubles a list", true, false) && good;
  good = expect<defect::reverses>("reverses a list", true, false) && good;
  good = expect<defect::tears>("tears a command", true, false) && good;
  good = expect<defect::fails>("fails", true, false) && good;
  good = expect<defect::starves>("starves a thread", false, true) && good;
  return good ? 0 : 1;
}
