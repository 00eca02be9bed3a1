/* SPDX-License-Identifier: BSL-1.0 */
/* The queue for C11: many producers, one device. Behind it is the C++ of this library in one configuration, which the
 * build chooses (cmdq_c_library() in CMake, or src/c/cmdq.cpp by hand). Nothing is allocated: all memory is the
 * caller's. Every call says what became of it, and none ends the program; only `queue` must not be null. Two parts are
 * yours: the device's registers (struct cmdq_device) and the functions named cmdq_port_*, which the linker asks for. */
#ifndef CMDQ_C_CMDQ_H
#define CMDQ_C_CMDQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Outcome of a call, as cmdq::status in <cmdq/core/status.hpp>, in its order. */
enum cmdq_status {
  CMDQ_OK,
  CMDQ_TIMEOUT,            /* the call's time budget ended; what was inserted stays in the ring and is not lost */
  CMDQ_STALLED,            /* the device has consumed nothing for a whole deadline; ends by itself */
  CMDQ_ILLEGAL_COMMAND,    /* CERROR_ILL at a command of this call */
  CMDQ_FETCH_ABORT,        /* CERROR_ABT at a command of this call, after bounded retries */
  CMDQ_ATC_TIMEOUT,        /* CERROR_ATC_INV at the CMD_SYNC that covers an ATC_INV of this call */
  CMDQ_DEVICE_FAULT,       /* the device holds what no working one can have written: see cmdq_recover() */
  CMDQ_EXPIRED,            /* a ticket that is too old to be answered for */
  CMDQ_WOULD_BLOCK,        /* not done yet */
  CMDQ_INVALID_ARGUMENT,   /* null pointer, reserved value, CMD_SYNC inside a list */
  CMDQ_OUT_OF_RANGE,       /* a number outside its limits */
  CMDQ_MISALIGNED,         /* address not aligned as it must be */
  CMDQ_RING_TOO_SMALL,     /* the ring cannot hold what its producers may have outstanding */
  CMDQ_TOO_MANY_PRODUCERS, /* cmdq_attach() beyond options.producers */
  CMDQ_BUSY,               /* this producer is inside a call, or attached already: nothing was done */
  CMDQ_NO_SPACE            /* the memory given is too small */
};

/* Lower case, never null. */
const char* cmdq_status_name(enum cmdq_status s);

/* Why something was refused: which field, its value, the limit that it broke. `code` is CMDQ_OK where nothing was. */
struct cmdq_refusal {
  enum cmdq_status code;
  const char* field;
  uint64_t value;
  uint64_t limit;
};

/* ---- commands */

/* As the ring holds it: two little-endian words. */
struct cmdq_command {
  uint64_t word[2];
};

enum cmdq_opcode {
  CMDQ_OP_PREFETCH_CONFIG = 0x01,
  CMDQ_OP_CFGI_STE = 0x03,
  CMDQ_OP_CFGI_STE_RANGE = 0x04, /* with range = 31: all configuration */
  CMDQ_OP_CFGI_CD = 0x05,
  CMDQ_OP_CFGI_CD_ALL = 0x06,
  CMDQ_OP_TLBI_NH_ALL = 0x10,
  CMDQ_OP_TLBI_NH_ASID = 0x11,
  CMDQ_OP_TLBI_NH_VA = 0x12,
  CMDQ_OP_TLBI_NH_VAA = 0x13,
  CMDQ_OP_TLBI_EL2_ALL = 0x20,
  CMDQ_OP_TLBI_EL2_ASID = 0x21,
  CMDQ_OP_TLBI_EL2_VA = 0x22,
  CMDQ_OP_TLBI_S12_VMALL = 0x28,
  CMDQ_OP_TLBI_S2_IPA = 0x2a,
  CMDQ_OP_TLBI_NSNH_ALL = 0x30,
  CMDQ_OP_ATC_INV = 0x40,
  CMDQ_OP_PRI_RESP = 0x41,
  CMDQ_OP_RESUME = 0x44,
  CMDQ_OP_STALL_TERM = 0x45
};

/* A command by its fields. Set those that it has; any other that is not 0 is refused. */
struct cmdq_fields {
  enum cmdq_opcode op;
  uint64_t ssv, global, ssid, sid, range, size, grpid, resp, stag, vmid, asid, num, scale, leaf, ttl, tg, addr;
};

/* Errors: CMDQ_OUT_OF_RANGE, CMDQ_MISALIGNED, CMDQ_INVALID_ARGUMENT, with the field's name; `out` is then left alone.
 */
struct cmdq_refusal cmdq_encode(const struct cmdq_fields* fields, struct cmdq_command* out);

/* ---- the device */

/* What the queue asks of the device; `context` comes back as first argument. cmdq_smmuv3() makes one of a register
 * block. Of your own: write_prod() and write_gerrorn() make what was stored before visible to the device, read_cons()
 * and read_gerror() make what the device wrote before visible to what follows. */
struct cmdq_device {
  void* context;
  void (*write_prod)(void* context, uint32_t value);
  uint32_t (*read_cons)(void* context);
  uint32_t (*read_gerror)(void* context);
  uint32_t (*read_gerrorn)(void* context);
  void (*write_gerrorn)(void* context, uint32_t value);
};

/* What the device can do; cmdq_smmuv3_bring_up() fills it in. */
struct cmdq_limits {
  bool msi;            /* IDR0.MSI */
  bool coherent;       /* IDR0.COHACC */
  bool event;          /* a CMD_SYNC may signal an event */
  bool range;          /* IDR3.RIL */
  bool prefer_cons;    /* completion "automatic": CMDQ_CONS is known to be the faster way */
  uint8_t output_bits; /* of a device address, at most 52 */
  uint8_t asid_bits;   /* 16 or 8 */
  uint8_t vmid_bits;   /* 16 or 8 */
  uint64_t opcodes[4]; /* what may be issued, one bit each */
};

enum cmdq_sync_signal { CMDQ_SIGNAL_NONE = 0, CMDQ_SIGNAL_EVENT = 2 };

/* Start from cmdq_default_options(). Meaning and limits: cmdq::options in <cmdq/queue/options.hpp>. */
struct cmdq_options {
  uint32_t log2_size;           /* ring of 2^log2_size entries */
  uint32_t batch_limit;         /* most commands in one contiguous list */
  uint32_t producers;           /* most producers attached at once */
  uint64_t deadline_ns;         /* time budget of one call; UINT64_MAX for none */
  enum cmdq_sync_signal signal; /* of a CMD_SYNC that is polled by CONS */
  uint32_t fetch_retries;
  uint32_t groups; /* of CPUs that gather on their own first; 0: none, unless the platform counts its CPUs */
  uint32_t cpus_per_group;
  uint32_t first; /* PROD and CONS of the device at the start */
  bool sync_every_batch;
  bool repeat_invalidations;
  struct cmdq_limits device;
};

struct cmdq_options cmdq_default_options(void);

/* ---- a queue */

/* The ring is what the device reads: 2^log2_size entries of 16 bytes, aligned to their size for the CPU and for the
 * device. `work` is the queue's own, aligned to 64 bytes: ordinary cacheable memory. */
struct cmdq_memory {
  void* ring;
  size_t ring_bytes;
  uint64_t ring_device_address;
  void* work;
  size_t work_bytes;
};

/* Bytes of `work` that these options need; 0 where a number of them is out of its limits. */
size_t cmdq_work_bytes(const struct cmdq_options* options);

struct cmdq_queue;

/* Makes a queue in `memory.work`. PROD and CONS of the device must hold options.first. Memory and what `device` points
 * to must outlive it. Errors, with `*out` null: the option or argument, its value and limit. */
struct cmdq_refusal cmdq_init(struct cmdq_queue** out, const struct cmdq_options* options,
                              const struct cmdq_memory* memory, const struct cmdq_device* device);

/* May insert() and submit() return without waiting for the device, unless the ring is full? */
bool cmdq_is_asynchronous(const struct cmdq_queue* queue);

/* ---- producers: the right to insert, of one thread or CPU at a time. {0} at first; its memory stays where it is. */
struct cmdq_producer {
  uint64_t hidden[8];
};

/* Errors: CMDQ_TOO_MANY_PRODUCERS, CMDQ_WOULD_BLOCK (what timed-out producers left is not settled yet: later),
 * CMDQ_DEVICE_FAULT, CMDQ_BUSY (attached already). Never waits. */
enum cmdq_status cmdq_attach(struct cmdq_queue* queue, struct cmdq_producer* producer);
void cmdq_detach(struct cmdq_producer* producer);

struct cmdq_outcome {
  enum cmdq_status code;
  uint32_t inserted; /* commands now in the ring: they will be executed, whatever `code` says */
  uint32_t done;     /* of those, covered by a completed CMD_SYNC */
  uint32_t lists;    /* contiguous lists that it was split into */
  uint32_t first;    /* position of the first of them */
};

/* Inserts `n` commands and waits until the device has done them; n = 0: a lone CMD_SYNC. */
struct cmdq_outcome cmdq_issue(struct cmdq_producer* producer, const struct cmdq_command* list, uint32_t n);
/* The same with a time budget of its own. */
struct cmdq_outcome cmdq_issue_for(struct cmdq_producer* producer, const struct cmdq_command* list, uint32_t n,
                                   uint64_t ns);
/* Returns once they are in the ring; the next cmdq_issue() of this producer covers them and tells their errors. */
struct cmdq_outcome cmdq_insert(struct cmdq_producer* producer, const struct cmdq_command* list, uint32_t n);

/* A list that was submitted without waiting: a plain value. */
struct cmdq_ticket {
  uint32_t hidden[4];
};
/* At most options.batch_limit commands with a CMD_SYNC that is not waited for. Refused: nothing was inserted. */
struct cmdq_refusal cmdq_submit(struct cmdq_producer* producer, const struct cmdq_command* list, uint32_t n,
                                struct cmdq_ticket* out);
/* CMDQ_OK (done), CMDQ_WOULD_BLOCK, the list's error, CMDQ_EXPIRED or CMDQ_DEVICE_FAULT. Never waits. */
enum cmdq_status cmdq_poll(struct cmdq_producer* producer, const struct cmdq_ticket* ticket);
/* As cmdq_poll(), with CMDQ_TIMEOUT in place of CMDQ_WOULD_BLOCK. */
enum cmdq_status cmdq_wait(struct cmdq_producer* producer, const struct cmdq_ticket* ticket, uint64_t ns);

/* ---- errors of the device */

struct cmdq_error_report {
  enum cmdq_status code; /* CMDQ_OK, or CMDQ_DEVICE_FAULT: the device cannot go on */
  bool handled;          /* an error of the command queue was repaired */
  bool again;            /* another one waits, or somebody else is at it */
  uint32_t others;       /* active bits of GERROR that are the driver's */
  enum cmdq_status left; /* error of a list whose producer is gone, told once */
};

/* For the interrupt handler of GERROR. Bounded; never waits. */
struct cmdq_error_report cmdq_handle_errors(struct cmdq_queue* queue);
/* Acknowledges those of `bits` that are active and are not the queue's own. From any context. */
void cmdq_acknowledge(struct cmdq_queue* queue, uint32_t bits);
/* After calls have begun to return CMDQ_DEVICE_FAULT. `no_msi_under_way`: the device was reset. CMDQ_STALLED: call
 * again. The steps around it: command_queue::recover() in <cmdq/queue/command_queue.hpp>. */
enum cmdq_status cmdq_recover(struct cmdq_queue* queue, bool no_msi_under_way);
/* What PROD and CONS of a device that was reset must hold before that. */
uint32_t cmdq_prod_register(const struct cmdq_queue* queue);
uint32_t cmdq_cons_register(const struct cmdq_queue* queue);
/* The end of this queue, before another one takes its device over. */
void cmdq_retire(struct cmdq_queue* queue);

/* ---- an SMMUv3 whose registers are memory-mapped (architectures named in <cmdq/platform/mmio.hpp>) */

/* The five accesses, with the barriers that they need. `base`: of page 0. */
struct cmdq_device cmdq_smmuv3(void* base);
/* From any state to "consumes our commands, translates nothing"; `options` loses what the device cannot do. Refused:
 * the register, what it held and what it should have held. Ends within `timeout_ns`. */
struct cmdq_refusal cmdq_smmuv3_bring_up(void* base, struct cmdq_options* options, uint64_t ring_device_address,
                                         uint64_t timeout_ns);

/* ---- yours: the linker asks for them */

/* Monotonic nanoseconds. A constant 0: no clock, and no call ever ends by its deadline. */
uint64_t cmdq_port_now_ns(void);
/* Between two fruitless polls; `round` counts them. Give the processor away here where there is an operating system. */
void cmdq_port_pause(unsigned round);
/* Around what must not be interrupted by another user of the queue on the same CPU: masks interrupts on bare metal and
 * returns what to restore; nests. Nothing to do in user programs. */
uintptr_t cmdq_port_enter(void);
void cmdq_port_leave(uintptr_t before);
/* Number of the current CPU, for options.groups; 0 where that is 1. */
uint32_t cmdq_port_cpu(void);

#ifdef __cplusplus
}
#endif

#endif
