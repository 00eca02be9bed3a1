// SPDX-License-Identifier: BSL-1.0
// A picture of a queue that works or is stuck, for a debugger's hand, a watchdog or a crash report. It stops nobody,
// waits for nobody and changes nothing: atomic words are read, each once, and the device's registers.
#pragma once

#include <cmdq/queue/command_queue.hpp>

#include <stddef.h>

namespace cmdq {

/// Where a queue is. Positions are read from the back to the front, so that turn <= told and done <= told <= claimed
/// also while others work; what is between them may be a moment old.
struct queue_picture {
  uint32_t entries = 0;        ///< of the ring
  uint32_t producers = 0;      ///< options.producers
  position turn = 0;           ///< the next owner's start: before `told` while one is about to hand the turn over
  position done = 0;           ///< software CONS: what is before it is done, and its entries are free
  position told = 0;           ///< the device has been told of what is before, or is about to be
  position claimed = 0;        ///< what is between told and claimed is being written, or its owner waits for its turn
  uint32_t prod = 0;           ///< producer's register, as the queue has written it for `told`
  uint32_t cons = 0;           ///< consumer's register with all that it shows; 0 where retired
  uint32_t device_errors = 0;  ///< active bits of the family's error register, as pending_errors(); 0 where retired
  uint32_t errors = 0;         ///< errors of commands that were told so far, modulo 2^30
  bool stalled = false;        ///< a waiter saw the device stand for a whole deadline
  bool failed = false;         ///< calls end with device_fault until recover()
  bool retired = false;        ///< see retire(); the registers are another queue's then, and are not read
  bool left = false;           ///< some call left what others are to go on with
};

/// What one producer's cell says.
struct producer_picture {
  bool attached = false;
  uint32_t use = in_use::idle;  ///< of in_use: inside a call, filling, owing (in debt), gone
  bool duty = false;            ///< its last call left a duty: the rest of a claim, for others to finish
  /// The list [start, end) that it waits for or owes, without a CMD_SYNC that is shared; else its last one. Not yet
  /// this call's before it has claimed, with allocation::delegated before it is placed.
  position start = 0;
  position end = 0;
  status untold = status::ok;  ///< first error of its lists that it was not told yet
  position error_at = 0;       ///< of that error's command
};

/// Reads a queue. Any thread, also from a handler, at any time while queue, memory and device are there; the device
/// must have power. Wait-free. Costs: queue() two or three register reads; producer() five loads.
template <class Queue>
class inspector {
 public:
  explicit inspector(Queue& q) noexcept : queue_(q) {}

  [[nodiscard]] queue_picture queue() const noexcept {
    auto& ring = queue_.ring_;
    queue_picture p;
    p.entries = ring.shape().entries();
    p.producers = ring.opts().producers;
    p.turn = ring.told();
    p.done = queue_.allocation_.cons(at<site::cons_look>);
    p.told = ring.limit();  // [L] carried by what `done` comes from
    p.claimed = queue_.allocation_.claimed();
    if (distance(p.claimed, p.told) > 0) p.claimed = p.told;  // an older value: what is told was claimed
    p.retired = ring.retired();
    if (!p.retired) {
      p.cons = ring.device().read_cons();
      p.device_errors = queue_.pending_errors();
    }
    p.prod = Queue::ring_type::positions::to_register(ring.shape(), p.told);
    const uint32_t word = queue_.errors_.enter();
    p.stalled = (word & health::stalled) != 0;
    p.failed = (word & health::failed) != 0;
    p.errors = word / health::one_error;
    p.left = queue_.allocation_.anything_left();
    return p;
  }

  /// `i` below options.producers.
  [[nodiscard]] producer_picture producer(uint32_t i) const noexcept {
    const auto& cell = queue_.ring_.cell(i);
    producer_picture p;
    p.attached = cell.taken.load(at<site::attach_look>) != 0;
    p.use = cell.use.load(at<site::cell_use_look>);
    p.duty = cell.left.any();
    const uint64_t list = cell.waited.load(at<site::cell_look>);
    p.start = static_cast<position>(list >> 32);
    p.end = static_cast<position>(list);
    const uint64_t error = cell.error.load(at<site::cell_verdict>);
    p.untold = status_of(static_cast<fault>(static_cast<uint32_t>(error)));
    p.error_at = static_cast<position>(error >> 32);
    return p;
  }

 private:
  Queue& queue_;
};

namespace detail {

/// One line of a picture, in place.
class dump_line {
 public:
  dump_line& operator<<(const char* s) noexcept {
    while (*s != '\0' && used_ != sizeof text_ - 1) text_[used_++] = *s++;
    return *this;
  }
  dump_line& operator<<(uint32_t v) noexcept { return number(v, 10, ""); }
  dump_line& hex(uint32_t v) noexcept { return number(v, 16, "0x"); }
  /// With its end of line, which always has room.
  template <class Sink>
  void to(const Sink& sink) noexcept {
    text_[used_++] = '\n';
    sink(static_cast<const char*>(text_), used_);
    used_ = 0;
  }

 private:
  dump_line& number(uint32_t v, uint32_t base, const char* before) noexcept {
    char digits[11];
    size_t i = sizeof digits;
    digits[--i] = '\0';
    do {
      digits[--i] = "0123456789abcdef"[v % base];
      v /= base;
    } while (v != 0);
    return *this << before << digits + i;
  }

  char text_[192] = {};
  size_t used_ = 0;
};

constexpr const char* use_name(uint32_t use) noexcept {
  constexpr const char* names[] = {"idle", "inside", "filling", "owing", "gone"};
  return use < sizeof names / sizeof names[0] ? names[use] : "unknown";
}

template <class Sink>
void dump_queue(const queue_picture& p, const Sink& sink) noexcept {
  dump_line line;
  line << "queue: " << p.entries << " entries, done " << p.done << ", told " << p.told << ", claimed " << p.claimed
       << ", turn of " << p.turn;
  line.to(sink);
  line << "device: PROD ";
  line.hex(p.prod);
  if (!p.retired) {
    line << ", CONS ";
    line.hex(p.cons) << ", errors ";
    line.hex(p.device_errors);
  }
  line.to(sink);
  line << "health:" << (p.stalled ? " stalled" : "") << (p.failed ? " failed" : "") << (p.retired ? " retired" : "")
       << (p.stalled || p.failed || p.retired ? "" : " works") << ", errors of commands " << p.errors
       << (p.left ? ", something is left" : "");
  line.to(sink);
}

template <class Sink>
void dump_producer(uint32_t i, const producer_picture& p, const Sink& sink) noexcept {
  dump_line line;
  line << "producer " << i << ": " << use_name(p.use) << (p.attached ? "" : ", detached");
  if (p.use != in_use::idle) line << ", list [" << p.start << ", " << p.end << ")";
  if (p.duty) line << ", left a duty";
  if (p.untold != status::ok) line << ", untold " << name(p.untold) << " at " << p.error_at;
  line.to(sink);
}

}  // namespace detail

/// Writes a picture of `q` as text: three lines for the queue and its device, one for each producer that is inside a
/// call, in debt, or has left a duty or an untold error, one that counts the attached. `sink(const char*, size_t)` is
/// called once per line, its end included, and must not throw. Who may call it: see inspector. Never waits; bounded by
/// options.producers. No heap; under 300 bytes of stack beside the sink's.
template <class Queue, class Sink>
void dump(Queue& q, const Sink& sink) noexcept {
  const inspector<Queue> look(q);
  const queue_picture whole = look.queue();
  detail::dump_queue(whole, sink);
  uint32_t attached = 0;
  for (uint32_t i = 0; i < whole.producers; ++i) {
    const producer_picture p = look.producer(i);
    if (p.attached) ++attached;
    if (p.use != in_use::idle || p.duty || p.untold != status::ok) detail::dump_producer(i, p, sink);
  }
  detail::dump_line line;
  line << "producers: " << attached << " of " << whole.producers << " attached";
  line.to(sink);
}

}  // namespace cmdq
