/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_mve_parts.h -- what several Helium kernels share. Included by kernels only.
 *
 * Short loops in assembly, because gcc 12 makes no tail-predicated loops.
 */
#ifndef CG_MVE_PARTS_H
#define CG_MVE_PARTS_H

#include "cg_kernel_parts.h"
#include "cg_kernels_mve.h"

/* Public functions, and loops in assembly, of the kernels that are there twice. */
#ifdef CG_ROUND_EVEN
#define CG_MVE_NAME(name) cg_qlinear_##name
#define CG_MVE_LOOP(name) cg_##name##_even_s8_mve
#else
#define CG_MVE_NAME(name) cg_##name
#define CG_MVE_LOOP(name) cg_##name##_s8_mve
#endif

/* Pixels of the result. */
static inline int32_t cg_pixels_mve(const cg_window *window)
{
    return window->batch * window->out.h * window->out.w;
}

/* Result columns [start, stop) have all columns of taps inside the image. */
static inline void cg_inside_mve(const cg_window *window, int32_t *start, int32_t *stop)
{
    const int32_t reach = (window->kernel_w - 1) * window->dilation_w;
    const int32_t last = window->in.w - 1 + window->pad_left - reach;
    *start = (window->pad_left + window->stride_w - 1) / window->stride_w;
    *stop = (last < 0) ? 0 : ((last / window->stride_w) + 1);
}

/* Columns of the image that `pixels` windows side by side reach over. */
static inline int32_t cg_columns_mve(const cg_window *window, int32_t pixels)
{
    return ((pixels - 1) * window->stride_w) + ((window->kernel_w - 1) * window->dilation_w) + 1;
}

/* These columns: how many lie in the padding, inside from column `first` on, in the padding. */
typedef struct {
    int32_t first;
    int32_t left;
    int32_t inside;
    int32_t right;
} cg_span_mve;

/* The span that the windows of pixels [x, x + pixels) of a row cover. */
static inline cg_span_mve cg_find_span_mve(const cg_window *window, int32_t x, int32_t pixels)
{
    const int32_t origin = (x * window->stride_w) - window->pad_left;
    const int32_t columns = cg_columns_mve(window, pixels);
    const int32_t left = cg_clamp_s32(-origin, 0, columns);
    const int32_t right = cg_clamp_s32(origin + columns - window->in.w, 0, columns - left);
    const cg_span_mve span = {
        .first = origin + left, .left = left, .inside = columns - left - right, .right = right};
    return span;
}

/* Runs of bytes to copy: `count` runs of each of several windows, `window_step` apart. */
typedef struct {
    int32_t bytes; /* > 0, in a run */
    int32_t step;  /* from run to run, where they come from */
    int32_t to_step;
    int32_t count; /* > 0 */
    int32_t window_step;
} cg_runs_mve;

/* `windows` > 0 of them, run behind run. */
static inline void cg_copy_runs_mve(int8_t *to, const int8_t *from, const cg_runs_mve *runs,
                                    int32_t windows)
{
    const int8_t *row;
    const int8_t *run_from;
    int8_t *run_to;
    int32_t left;
    if (runs->bytes <= 16) {
        /* One vector a run: DLSTP sets the active lanes, LCTP ends that; nothing loops by LETP. */
        __asm__ volatile(
            "dlstp.8  lr, %[bytes]\n"
            "1: mov   %[row], %[from]\n"
            "mov      %[left], %[count]\n"
            "2: vldrb.8 q0, [%[row]]\n"
            "vstrb.8  q0, [%[to]]\n"
            "add      %[to], %[to], %[to_step]\n"
            "add      %[row], %[row], %[step]\n"
            "subs     %[left], %[left], #1\n"
            "bne      2b\n"
            "add      %[from], %[from], %[window_step]\n"
            "subs     %[windows], %[windows], #1\n"
            "bne      1b\n"
            "lctp\n"
            : [to] "+r"(to), [from] "+r"(from), [windows] "+r"(windows), [row] "=&r"(row),
              [left] "=&r"(left)
            : [bytes] "r"(runs->bytes), [step] "r"(runs->step), [to_step] "r"(runs->to_step),
              [count] "r"(runs->count), [window_step] "r"(runs->window_step)
            : "lr", "q0", "memory", "cc");
        return;
    }
    __asm__ volatile(
        "1: mov   %[row], %[from]\n"
        "mov      %[left], %[count]\n"
        "2: mov   %[run_to], %[to]\n"
        "mov      %[run_from], %[row]\n"
        "dlstp.8  lr, %[bytes]\n"
        "3: vldrb.8 q0, [%[run_from]], #16\n"
        "vstrb.8  q0, [%[run_to]], #16\n"
        "letp     lr, 3b\n"
        "add      %[to], %[to], %[to_step]\n"
        "add      %[row], %[row], %[step]\n"
        "subs     %[left], %[left], #1\n"
        "bne      2b\n"
        "add      %[from], %[from], %[window_step]\n"
        "subs     %[windows], %[windows], #1\n"
        "bne      1b\n"
        : [to] "+r"(to), [from] "+r"(from), [windows] "+r"(windows), [row] "=&r"(row),
          [left] "=&r"(left), [run_to] "=&r"(run_to), [run_from] "=&r"(run_from)
        : [bytes] "r"(runs->bytes), [step] "r"(runs->step), [to_step] "r"(runs->to_step),
          [count] "r"(runs->count), [window_step] "r"(runs->window_step)
        : "lr", "q0", "memory", "cc");
}

/* n > 0 bytes. */
static inline void cg_fill_mve(int8_t *to, int32_t value, int32_t n)
{
    __asm__ volatile("vdup.8   q0, %[value]\n"
                     "dlstp.8  lr, %[n]\n"
                     "1: vstrb.8 q0, [%[to]], #16\n"
                     "letp     lr, 1b\n"
                     : [to] "+r"(to)
                     : [n] "r"(n), [value] "r"(value)
                     : "lr", "q0", "memory");
}

#endif /* CG_MVE_PARTS_H */
