// The processor's cycles, as a program's host code reads them: one each nanosecond of the program's clock.
//
// include/simtmm_cycles.s has the assembler put calls of `simtmm_cycles` in the place of rdtsc. The compiler does not know
// that there is a call, and so everything but the result stays as it is: registers, vectors and flags.
#include "clock.h"

#if defined(__x86_64__)

#include <x86intrin.h>

using namespace simtmm;

extern "C" __attribute__((visibility("hidden"))) int64_t simtmm_cycles_now() {
    int64_t found = steady();
    return found < 0 ? (int64_t)__rdtsc() : found;
}

// 0xe7: all vectors and masks that the processor has, which XSAVE takes as far as the system lets it.
__asm__(R"(
    .text
    .globl simtmm_cycles
    .type simtmm_cycles, @function
    .p2align 4
simtmm_cycles:
    pushq %rbp
    movq %rsp, %rbp
    pushfq
    cld
    pushq %rcx
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    pushq %rax
    subq $4096, %rsp
    andq $-64, %rsp
    xorl %eax, %eax
    movq %rax, 512(%rsp)
    movq %rax, 520(%rsp)
    movq %rax, 528(%rsp)
    movq %rax, 536(%rsp)
    movq %rax, 544(%rsp)
    movq %rax, 552(%rsp)
    movq %rax, 560(%rsp)
    movq %rax, 568(%rsp)
    movl $0xe7, %eax
    xorl %edx, %edx
    xsave (%rsp)
    call simtmm_cycles_now
    movq %rax, -72(%rbp)
    movl $0xe7, %eax
    xorl %edx, %edx
    xrstor (%rsp)
    leaq -72(%rbp), %rsp
    popq %rax
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rdi
    popq %rsi
    popq %rcx
    movq %rax, %rdx
    shrq $32, %rdx
    movl %eax, %eax
    popfq
    popq %rbp
    ret
    .size simtmm_cycles, .-simtmm_cycles
)");

#endif
