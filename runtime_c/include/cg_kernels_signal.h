/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_kernels_signal.h -- kernels of an audio front end.
 */
#ifndef CG_KERNELS_SIGNAL_H
#define CG_KERNELS_SIGNAL_H

#include "cg_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Elements of 64 bits are aligned to 4 bytes: no core needs more. */
typedef uint64_t CG_MAY_ALIAS cg_u64 __attribute__((aligned(4)));

/* `count` samples in frames of `size`; each product is shifted right, rounded down, and saturated.
 * In place of the frames. */
void cg_signal_window(const int16_t *frames, const int16_t *window, int16_t *output, int32_t count,
                      int32_t size, int32_t shift);

/* By how many bits the numbers of a frame can be shifted left; then a frame, shifted, in place. */
void cg_signal_scale_bits(const cg_s16 *frame, cg_s32 *output, int32_t count);
void cg_signal_scale(const cg_s16 *frame, const cg_s32 *bits, cg_s16 *output, int32_t count);

/*
 * `rows` transforms of `length` real numbers, a power of two from 4 on; inputs of `size` numbers
 * are filled up with zeros, results have length / 2 + 1 complex numbers. `twiddles`: of the first
 * three quarters of a turn in length / 2 parts; `splits`: of what follows them; `order`: which
 * number each group of the first stage begins with.
 */
void cg_rfft_s16(const cg_s16 *input, const int16_t *twiddles, const int16_t *splits,
                 const uint16_t *order, cg_s16 *output, int32_t rows, int32_t size, int32_t length);
void cg_rfft_s32(const cg_s32 *input, const int32_t *twiddles, const int32_t *splits,
                 const uint16_t *order, cg_s32 *output, int32_t rows, int32_t size, int32_t length);
void cg_rfft_f32(const cg_f32 *input, const float *twiddles, const float *splits,
                 const uint16_t *order, cg_f32 *output, int32_t rows, int32_t size, int32_t length);

/* The way back, with the conjugates of these factors; `space` has room for `length` numbers. */
void cg_irfft_s16(const cg_s16 *input, const int16_t *twiddles, const int16_t *splits,
                  const uint16_t *order, cg_s16 *space, cg_s16 *output, int32_t rows,
                  int32_t length);
void cg_irfft_s32(const cg_s32 *input, const int32_t *twiddles, const int32_t *splits,
                  const uint16_t *order, cg_s32 *space, cg_s32 *output, int32_t rows,
                  int32_t length);
void cg_irfft_f32(const cg_f32 *input, const float *twiddles, const float *splits,
                  const uint16_t *order, cg_f32 *space, cg_f32 *output, int32_t rows,
                  int32_t length);

/* Squares of `count` magnitudes from `first` up to `stop`, 0 elsewhere. In place. */
void cg_signal_energy(const cg_s16 *spectrum, cg_u32 *output, int32_t first, int32_t stop,
                      int32_t count);

/*
 * `rows` of `count` frames of `size`, each `step` behind the one before, are added to what is left
 * of earlier ones; sums of int16 saturate. A row of results has (count - 1) * step + size elements.
 */
void cg_signal_overlap_add_s16(const cg_s16 *frames, const cg_s16 *rest, cg_s16 *output,
                               int32_t rows, int32_t count, int32_t size, int32_t step);
void cg_signal_overlap_add_f32(const cg_f32 *frames, const cg_f32 *rest, cg_f32 *output,
                               int32_t rows, int32_t count, int32_t size, int32_t step);

/* Each channel takes its energies by weight, the next one by unweight; weights are not negative.
 * Places are within their arrays, one more than there are channels, for the first is left out. */
void cg_signal_filter_bank(const cg_u32 *energies, const int16_t *weights, const int16_t *unweights,
                           const int16_t *starts, const int16_t *firsts, const int16_t *widths,
                           cg_u64 *output, int32_t channels);

/* Rounded square roots, shifted right. Front to back: the result may begin where the squares do. */
void cg_signal_square_root(const cg_u64 *squares, const cg_s32 *shift, cg_u32 *output,
                           int32_t count);

typedef struct {
    uint32_t smoothing;
    uint32_t remaining;
    uint32_t odd_smoothing;
    uint32_t odd_remaining;
    uint32_t least;
    int32_t smoothing_bits;
    int32_t bits;
    int32_t clamps;
} cg_noise_params;

/* The estimate of the noise, and channels without it. Both in place of either argument. */
void cg_signal_noise(const cg_noise_params *params, const cg_u32 *signal, const cg_u32 *noise,
                     cg_u32 *output, int32_t count);
void cg_signal_subtract(const cg_noise_params *params, const cg_u32 *signal, const cg_u32 *noise,
                        cg_u32 *output, int32_t count);

/* Channels times the gain for their noise, compressed. `gains`: 125. In place of either argument.
 */
void cg_signal_pcan(const cg_u32 *signal, const cg_u32 *noise, const int16_t *gains, cg_u32 *output,
                    int32_t count, int32_t shift);

/* Logarithms. `table`: 130 numbers. Front to back: the result may begin where the channels do. */
void cg_signal_log(const cg_u32 *channels, const uint16_t *table, cg_s16 *output, int32_t count,
                   int32_t scale, int32_t shift);

#ifdef __cplusplus
}
#endif

#endif
