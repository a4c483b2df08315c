/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_conv_s16.h -- what kernels with int16 images and int8 weights share. Included by kernels only.
 */
#ifndef CG_CONV_S16_H
#define CG_CONV_S16_H

#include "cg_kernel_parts.h"
#include "cg_kernels_s16.h"

/* Sum of products of output channel o -> stored value. */
static inline int16_t cg_finish_s16(const cg_conv_weights_s16 *weights, int32_t o, int64_t sum,
                                    int32_t act_min, int32_t act_max)
{
    const uint64_t total = (uint64_t)weights->bias[o] + (uint64_t)sum;
    const int32_t multiplier = weights->multiplier[o * weights->scale_step];
    const int32_t shift = weights->shift[o * weights->scale_step];
    const int32_t scaled = (weights->wide != 0)
                               ? cg_requantize_s64((int64_t)total, multiplier, shift)
                               : cg_requantize((int32_t)total, multiplier, shift);
    return (int16_t)cg_clamp_s32(scaled, act_min, act_max);
}

#define CG_WEIGHT                    int8_t
#define CG_WEIGHTS                   cg_conv_weights_s16
#define CG_PRODUCT(x, w, steps)      ((x) * (w))
#define CG_DOT(sum, x, w, n, layout) cg_dot_s16(sum, x, w, n)
#define CG_FINISH(weights, o, sum, params)                                                         \
    cg_finish_s16(weights, o, sum, (params)->act_min, (params)->act_max)

#endif /* CG_CONV_S16_H */
