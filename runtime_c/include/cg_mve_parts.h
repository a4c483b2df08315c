/*
 * cg_mve_parts.h -- what several Helium kernels share. Included by kernels only.
 *
 * Short loops in assembly, because gcc 12 makes no tail-predicated loops.
 */
#ifndef CG_MVE_PARTS_H
#define CG_MVE_PARTS_H

#include "cg_kernel_parts.h"
#include "cg_kernels_mve.h"

/* Pixels of the result. */
static inline int32_t cg_pixels_mve(const cg_window *window)
{
    return window->batch * window->out.h * window->out.w;
}

/* n >= 0 bytes; the end of the copy. */
static inline int8_t *cg_copy_mve(int8_t *to, const int8_t *from, int32_t n)
{
    int8_t *const end = to + n;
    __asm__ volatile("wlstp.8  lr, %[n], 2f\n"
                     "1: vldrb.8 q0, [%[from]], #16\n"
                     "vstrb.8  q0, [%[to]], #16\n"
                     "letp     lr, 1b\n"
                     "2:"
                     : [to] "+r"(to), [from] "+r"(from)
                     : [n] "r"(n)
                     : "lr", "q0", "memory");
    return end;
}

/* `count` > 0 runs of n > 0 bytes, `step` bytes apart, one behind the other; the end of the copy.
 */
static inline int8_t *cg_copy_runs_mve(int8_t *to, const int8_t *from, int32_t n, int32_t step,
                                       int32_t count)
{
    int8_t *run_to;
    const int8_t *run_from;
    __asm__ volatile("1: mov   %[run_to], %[to]\n"
                     "mov      %[run_from], %[from]\n"
                     "dlstp.8  lr, %[n]\n"
                     "2: vldrb.8 q0, [%[run_from]], #16\n"
                     "vstrb.8  q0, [%[run_to]], #16\n"
                     "letp     lr, 2b\n"
                     "add      %[to], %[to], %[n]\n"
                     "add      %[from], %[from], %[step]\n"
                     "subs     %[count], %[count], #1\n"
                     "bne      1b\n"
                     : [to] "+r"(to), [from] "+r"(from), [count] "+r"(count),
                       [run_to] "=&r"(run_to), [run_from] "=&r"(run_from)
                     : [n] "r"(n), [step] "r"(step)
                     : "lr", "q0", "memory", "cc");
    return to;
}

static inline int8_t *cg_fill_mve(int8_t *to, int32_t value, int32_t n)
{
    int8_t *const end = to + n;
    __asm__ volatile("vdup.8   q0, %[value]\n"
                     "wlstp.8  lr, %[n], 2f\n"
                     "1: vstrb.8 q0, [%[to]], #16\n"
                     "letp     lr, 1b\n"
                     "2:"
                     : [to] "+r"(to)
                     : [n] "r"(n), [value] "r"(value)
                     : "lr", "q0", "memory");
    return end;
}

#endif /* CG_MVE_PARTS_H */
