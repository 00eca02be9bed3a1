// SPDX-License-Identifier: BSL-1.0
// Entry at EL1: stack, vectors, MMU and caches on with an identity map (atomics need cacheable memory on real
// hardware), clear .bss on the first CPU, call main() or cpu_main(index).

#define STACK_SHIFT 15          /* 32 KiB a CPU: a queue of the largest kind has 9, and a scenario may hold two */
#define CPUS 128

.section .text.boot, "ax"
.global _start
_start:
    mov x20, #0
    bl set_up_cpu
    ldr x0, =bss_begin
    ldr x1, =bss_end
1:  cmp x0, x1
    b.hs 2f
    stp xzr, xzr, [x0], #16
    b 1b
2:  bl main
    bl semihosting_exit

// Started by PSCI CPU_ON with the CPU's index as context.
.global secondary_start
secondary_start:
    mov x20, x0
    bl set_up_cpu
    mov x0, x20
    bl cpu_main
3:  wfi
    b 3b

// x20 = index. Sets the stack, with a mark at its end (see stack_is_whole()), the vectors and the identity map.
set_up_cpu:
    ldr x1, =stacks
    add x1, x1, x20, lsl #STACK_SHIFT
    ldr x2, =0x57ac4e9d57ac4e9d
    str x2, [x1]
    add x1, x1, #(1 << STACK_SHIFT)
    mov sp, x1
    ldr x1, =vectors
    msr vbar_el1, x1
    ldr x1, =level1_table
    msr ttbr0_el1, x1
    ldr x1, =0xff04             // attribute 0: Device-nGnRE, attribute 1: write-back
    msr mair_el1, x1
    ldr x1, =0x280803519        // T0SZ 25, write-back walks, inner shareable, 4 KiB, EPD1, IPS 40 bits
    msr tcr_el1, x1
    dsb ish
    tlbi vmalle1
    dsb ish
    isb
    mrs x1, sctlr_el1
    ldr x2, =0x1005             // M, C, I
    orr x1, x1, x2
    msr sctlr_el1, x1
    isb
    ret

// Any exception is a failure of the example: report and leave.
.balign 2048
vectors:
.rept 16
    .balign 128
    mrs x0, esr_el1
    mrs x1, elr_el1
    mrs x2, far_el1
    b report_exception
.endr

// x0 = index of a CPU that has started. Is the mark at its stack's end still there?
.section .text, "ax"
.global stack_is_whole
stack_is_whole:
    ldr x1, =stacks
    add x1, x1, x0, lsl #STACK_SHIFT
    ldr x1, [x1]
    ldr x2, =0x57ac4e9d57ac4e9d
    cmp x1, x2
    cset x0, eq
    ret

.section .data
.balign 4096
level1_table:                   // 39-bit addresses: 1 GiB blocks
    .quad 0x0060000000000401    // 0 .. 1 GiB: device, never executed
    .quad 0x0000000040000705    // 1 .. 2 GiB: write-back, inner shareable
    .fill 510, 8, 0

.section .noinit, "aw", %nobits
.balign 16
stacks:
    .space CPUS << STACK_SHIFT
