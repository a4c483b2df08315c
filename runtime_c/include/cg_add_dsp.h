/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_add_dsp.h -- ADD of two int8 tensors of one shape, DSP extension.
 *
 * Bit-equal to cg_add_s8. Of the two arguments the one with the larger scale counts one half in the
 * common scale, so it is only shifted; the other one is requantized (both count one half if their
 * scales are equal). Any alignment; the result may replace either argument: elements are read, then
 * written, one by one in order.
 */
#ifndef CG_ADD_DSP_H
#define CG_ADD_DSP_H

#include "cg_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A multiplier m from 2^30 on is held as 2m - 2^32, shifts are to the right. Of stored values v of
 * the smaller scale, v * 2^20 + offset is taken times multiplier, by shift; base and the value of
 * the larger scale times 2^19 are added; the sum is taken times out_multiplier, by out_shift, plus
 * out_zero, saturated to int8.
 * shift 0: both arguments count the same, times 2^19. Other shifts: 1 to 31.
 */
typedef struct {
    int32_t count;
    int32_t is_swapped; /* the right argument has the larger scale */
    int32_t offset;
    int32_t multiplier;
    int32_t shift;
    int32_t base;
    int32_t out_multiplier;
    int32_t out_shift;
    int32_t out_zero;
} cg_add_params_dsp;

void cg_add_s8_dsp(const cg_add_params_dsp *params, const int8_t *lhs, const int8_t *rhs,
                   int8_t *output);
/* `count` elements of them. */
void cg_add_s8_dsp_run(const cg_add_params_dsp *params, const int8_t *lhs, const int8_t *rhs,
                       int8_t *output, int32_t count);

#ifdef __cplusplus
}
#endif

#endif /* CG_ADD_DSP_H */
