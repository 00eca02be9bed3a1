// SPDX-License-Identifier: BSL-1.0
// Threads of one execution as fibers that may be abandoned anywhere. Most executions end with threads in the middle of
// a call; unwinding them would throw through functions that are noexcept, so their stacks are simply used again.
#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/stack_context.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace cmdq::exhaust {

/// A fiber that is never destroyed: a new one takes its place and its stack.
class fiber_slot {
 public:
  fiber_slot() : stack_(new char[stack_bytes]) { ::new (place_) boost::context::fiber; }
  fiber_slot(const fiber_slot&) = delete;
  fiber_slot& operator=(const fiber_slot&) = delete;

  /// `body` runs at the first resume(), and returns where to go when it ends.
  template <class Body>
  void start(Body body) {
    ::new (place_) boost::context::fiber(std::allocator_arg, own_stack{stack_.get()}, std::move(body));
  }
  void resume() { fiber() = std::move(fiber()).resume(); }
  /// Whoever resumed the running fiber.
  void came_from(boost::context::fiber&& other) { ::new (place_) boost::context::fiber(std::move(other)); }
  boost::context::fiber leave() { return std::move(fiber()); }

 private:
  static constexpr std::size_t stack_bytes = std::size_t{64} << 10;
  struct own_stack {
    char* memory;
    boost::context::stack_context allocate() const {
      boost::context::stack_context c;
      c.size = stack_bytes;
      c.sp = memory + stack_bytes;
      return c;
    }
    void deallocate(boost::context::stack_context&) const noexcept {}
  };
  boost::context::fiber& fiber() { return *std::launder(reinterpret_cast<boost::context::fiber*>(place_)); }

  std::unique_ptr<char[]> stack_;
  alignas(boost::context::fiber) unsigned char place_[sizeof(boost::context::fiber)];
};

}  // namespace cmdq::exhaust
