// SPDX-License-Identifier: BSL-1.0
// The C interface in one configuration: CMDQ_C_ALLOCATION and CMDQ_C_COMPLETION name the policies. Freestanding.
#include "port.hpp"
#include "values.hpp"

#include <cmdq/completion/automatic.hpp>
#include <cmdq/dma/arena.hpp>
#include <cmdq/smmuv3/device.hpp>

#if !defined(CMDQ_C_ALLOCATION)
#define CMDQ_C_ALLOCATION combining
#endif
#if !defined(CMDQ_C_COMPLETION)
#define CMDQ_C_COMPLETION poll_cons
#endif

namespace {

using namespace cmdq;
using c::of_c;
using c::to_c;
using P = c::platform;

struct config : freestanding_config {
  using platform = P;
  using allocation = cmdq::allocation::CMDQ_C_ALLOCATION;
  using completion = cmdq::completion::CMDQ_C_COMPLETION;
};

using queue_type = command_queue<c::device, config>;
using producer_type = queue_type::producer;
static_assert(sizeof(producer_type) <= sizeof(cmdq_producer) && alignof(producer_type) <= alignof(cmdq_producer));

/// All zeroes is a producer that is not attached: its calls are refused.
producer_type& of_c(cmdq_producer* p) noexcept { return *static_cast<producer_type*>(static_cast<void*>(p)); }

constexpr uint64_t line = 64;

/// What lies in the work memory: f(type's size, how many) for each, in the order in which it is taken.
struct counts {
  explicit counts(const options& o) noexcept
      : entries(uint64_t{1} << o.log2_size),
        words(valid_words({o.log2_size})),
        lines(config::allocation::delegates ? uint64_t{o.producers} * lines_per_mailbox(o.batch_limit) : 0) {}
  uint64_t entries;
  uint32_t words;
  uint64_t lines;
};

constexpr uint64_t in_lines(uint64_t bytes) noexcept { return (bytes + line - 1) / line * line; }

}  // namespace

struct cmdq_queue {
  c::device hardware;
  bool asynchronous;
  queue_type queue;
  cmdq_queue(const c::device& d, const plan<P>& p) noexcept
      : hardware(d), asynchronous(p.asynchronous), queue(p, hardware) {}
};

namespace {

uint64_t work_bytes(const options& o) noexcept {
  const counts n(o);
  return in_lines(sizeof(cmdq_queue)) + o.producers * sizeof(producer_cell<P>) + o.groups * sizeof(gather_group<P>) +
         in_lines(n.words * sizeof(P::atomic<uint32_t>)) + in_lines(n.entries * sizeof(P::atomic<uint64_t>)) +
         in_lines(n.entries * sizeof(P::atomic<uint32_t>)) + n.lines * sizeof(mailbox_line<P>);
}

template <class T>
T* take(dma::arena& from, uint64_t n) noexcept {
  struct alignas(line) first_line {
    unsigned char bytes[line];
  };
  // Each part starts on a line of its own: what follows an array of words is taken in lines.
  if constexpr (alignof(T) == line) {
    return from.take<T>(n);
  } else {
    auto* const lines = from.take<first_line>(in_lines(n * sizeof(T)) / line);
    if (lines == nullptr) return nullptr;
    dma::arena inside(lines, n * sizeof(T));
    return inside.take<T>(n);
  }
}

ring_memory<P> cut(dma::arena& work, const options& o, const cmdq_memory& given) noexcept {
  const counts n(o);
  ring_memory<P> m;
  m.entries = static_cast<ring_entry<P>*>(given.ring);
  m.device_address = given.ring_device_address;
  m.cells = work.take<producer_cell<P>>(o.producers);
  m.groups = work.take<gather_group<P>>(o.groups);
  m.valid = take<P::atomic<uint32_t>>(work, n.words);
  m.marks = take<P::atomic<uint64_t>>(work, n.entries);
  m.range_ends = take<P::atomic<uint32_t>>(work, n.entries);
  m.mailboxes = work.take<mailbox_line<P>>(n.lines);
  return m;
}

cmdq_refusal refuse(status code, const char* field, uint64_t value, uint64_t limit) noexcept {
  return to_c(refusal{code, field, value, limit});
}

cmdq_refusal check_memory(const options& o, const cmdq_memory& m) noexcept {
  if (m.ring == nullptr) return refuse(status::invalid_argument, "ring", 0, 0);
  if (m.work == nullptr) return refuse(status::invalid_argument, "work", 0, 0);
  const uint64_t ring = (uint64_t{1} << o.log2_size) * sizeof(command);
  if (m.ring_bytes < ring) return refuse(status::no_space, "ring_bytes", m.ring_bytes, ring);
  const auto at = reinterpret_cast<uintptr_t>(m.ring);
  if (at % alignof(ring_entry<P>) != 0) return refuse(status::misaligned, "ring", at, alignof(ring_entry<P>));
  const auto work = reinterpret_cast<uintptr_t>(m.work);
  if (work % line != 0) return refuse(status::misaligned, "work", work, line);
  if (m.work_bytes < work_bytes(o)) return refuse(status::no_space, "work_bytes", m.work_bytes, work_bytes(o));
  return to_c(refusal{});
}

cmdq_refusal check_device(const cmdq_device* d) noexcept {
  if (d == nullptr) return refuse(status::invalid_argument, "device", 0, 0);
  const bool whole = d->write_prod != nullptr && d->read_cons != nullptr && d->read_gerror != nullptr &&
                     d->read_gerrorn != nullptr && d->write_gerrorn != nullptr;
  return whole ? to_c(refusal{}) : refuse(status::invalid_argument, "device: a function is null", 0, 0);
}

constexpr cmdq_outcome no_producer = {CMDQ_INVALID_ARGUMENT, 0, 0, 0, 0};

}  // namespace

extern "C" {

const char* cmdq_status_name(enum cmdq_status s) { return name(static_cast<status>(s)); }

cmdq_options cmdq_default_options(void) { return to_c(options{}); }

size_t cmdq_work_bytes(const cmdq_options* o) {
  if (o == nullptr) return 0;
  const options wanted = with_groups<config>(of_c(*o));
  return detail::check_numbers(wanted).code == status::ok ? static_cast<size_t>(work_bytes(wanted)) : 0;
}

cmdq_refusal cmdq_init(cmdq_queue** out, const cmdq_options* wanted, const cmdq_memory* memory, const cmdq_device* d) {
  if (out == nullptr) return refuse(status::invalid_argument, "out", 0, 0);
  *out = nullptr;
  if (wanted == nullptr) return refuse(status::invalid_argument, "options", 0, 0);
  if (memory == nullptr) return refuse(status::invalid_argument, "memory", 0, 0);
  if (const cmdq_refusal r = check_device(d); r.code != CMDQ_OK) return r;
  const options o = with_groups<config>(of_c(*wanted));
  if (const refusal r = detail::check_numbers(o); r.code != status::ok) return to_c(r);
  if (const cmdq_refusal r = check_memory(o, *memory); r.code != CMDQ_OK) return r;
  dma::arena work(memory->work, memory->work_bytes);
  struct alignas(line) place {
    unsigned char bytes[in_lines(sizeof(cmdq_queue))];
  };
  void* const where = work.take<place>(1);
  const result<plan<P>> p = make_plan<config>(o, cut(work, o, *memory));
  if (!p) return to_c(p.why());
  *out = new (dma::placement{where}) cmdq_queue({*d}, *p);
  return to_c(refusal{});
}

bool cmdq_is_asynchronous(const cmdq_queue* q) { return q->asynchronous; }

cmdq_status cmdq_attach(cmdq_queue* q, cmdq_producer* p) {
  if (q == nullptr || p == nullptr) return CMDQ_INVALID_ARGUMENT;
  if (of_c(p)) return CMDQ_BUSY;
  return to_c(q->queue.attach(*new (dma::placement{p->hidden}) producer_type));
}
void cmdq_detach(cmdq_producer* p) {
  if (p != nullptr) of_c(p) = producer_type();
}

cmdq_outcome cmdq_issue(cmdq_producer* p, const cmdq_command* list, uint32_t n) {
  return p == nullptr ? no_producer : to_c(of_c(p).issue(of_c(list), n));
}
cmdq_outcome cmdq_issue_for(cmdq_producer* p, const cmdq_command* list, uint32_t n, uint64_t ns) {
  return p == nullptr ? no_producer : to_c(of_c(p).issue_for(of_c(list), n, ns));
}
cmdq_outcome cmdq_insert(cmdq_producer* p, const cmdq_command* list, uint32_t n) {
  return p == nullptr ? no_producer : to_c(of_c(p).insert(of_c(list), n));
}
cmdq_refusal cmdq_submit(cmdq_producer* p, const cmdq_command* list, uint32_t n, cmdq_ticket* out) {
  if (p == nullptr) return refuse(status::invalid_argument, "producer", 0, 1);
  if (out == nullptr) return refuse(status::invalid_argument, "out", 0, 0);
  const result<ticket> t = of_c(p).submit(of_c(list), n);
  if (t) *out = to_c(*t);
  return to_c(t.why());
}
cmdq_status cmdq_poll(cmdq_producer* p, const cmdq_ticket* t) {
  return p == nullptr || t == nullptr ? CMDQ_INVALID_ARGUMENT : to_c(of_c(p).poll(of_c(*t)));
}
cmdq_status cmdq_wait(cmdq_producer* p, const cmdq_ticket* t, uint64_t ns) {
  return p == nullptr || t == nullptr ? CMDQ_INVALID_ARGUMENT : to_c(of_c(p).wait(of_c(*t), ns));
}

cmdq_error_report cmdq_handle_errors(cmdq_queue* q) { return to_c(q->queue.handle_errors()); }
void cmdq_acknowledge(cmdq_queue* q, uint32_t bits) { q->queue.acknowledge(bits); }
cmdq_status cmdq_recover(cmdq_queue* q, bool none) {
  return to_c(q->queue.recover(none ? msis::none_under_way : msis::may_come));
}
uint32_t cmdq_prod_register(const cmdq_queue* q) { return q->queue.prod_register(); }
uint32_t cmdq_cons_register(const cmdq_queue* q) { return q->queue.cons_register(); }
void cmdq_retire(cmdq_queue* q) { q->queue.retire(); }

}  // extern "C"
