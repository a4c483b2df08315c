/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_qlinear_s16.h -- sums of an int16 image and its weights, rounded as ONNX does.
 * CG_INT16_WEIGHTS: weights are int16, else int8.
 */
#ifndef CG_QLINEAR_S16_H
#define CG_QLINEAR_S16_H

#include "cg_kernels_qlinear_s16.h"
#include "cg_round_even.h"

#ifdef CG_INT16_WEIGHTS
#define CG_WEIGHT  int16_t
#define CG_WEIGHTS cg_conv_weights_s16w16
#define CG_RUN     1 /* two could need 33 bits */
#else
#define CG_WEIGHT  int8_t
#define CG_WEIGHTS cg_conv_weights_s16
#define CG_RUN     252
#endif

#define CG_HAS_ZERO

/* An image less its zero point has 17 bits with a sign: 32 bits hold CG_RUN products. */
#define CG_PRODUCT(x, w, steps) (((x) - (steps)->zero) * (w))

static inline int64_t cg_dot_centred(int64_t sum, const cg_s16 *x, const CG_WEIGHT *w, int32_t n,
                                     int32_t zero)
{
    while (n > 0) {
        int32_t run = (n > CG_RUN) ? CG_RUN : n;
        int32_t part = 0;
        n -= run;
        for (; run >= 4; run -= 4) {
            part += (x[0] - zero) * w[0];
            part += (x[1] - zero) * w[1];
            part += (x[2] - zero) * w[2];
            part += (x[3] - zero) * w[3];
            x += 4;
            w += 4;
        }
        for (; run > 0; run--) {
            part += (*x++ - zero) * *w++;
        }
        sum += part;
    }
    return sum;
}

#define CG_DOT(sum, x, w, n, layout) cg_dot_centred(sum, x, w, n, (layout)->zero)

/* Sum of products of output channel o -> stored value. */
static inline int16_t cg_finish_even_s16(const CG_WEIGHTS *weights, int32_t o, int64_t sum,
                                         int32_t zero, int32_t act_min, int32_t act_max)
{
    const int64_t total = weights->bias[o] + sum;
    const int32_t multiplier = weights->multiplier[o];
    int32_t scaled;
    if (weights->wide != 0) {
        float scale;
        memcpy(&scale, &multiplier, sizeof(scale));
        scaled = cg_round_even((float)total * scale);
    } else {
        scaled = cg_scale_even((int32_t)total, multiplier, weights->shift[o]);
    }
    return (int16_t)cg_clamp_s32(scaled + zero, act_min, act_max);
}

#define CG_FINISH(weights, o, sum, params)                                                         \
    cg_finish_even_s16(weights, o, sum, (params)->out_zero, (params)->act_min, (params)->act_max)

/* A fully connected layer; the zero point of its rows is in the biases. */
#define CG_DEFINE_ROWS_OF_SUMS(name)                                                               \
    void name(const cg_fc_params *params, const CG_WEIGHTS *weights, const cg_s16 *input,          \
              cg_s16 *output)                                                                      \
    {                                                                                              \
        for (int32_t row = 0; row < params->rows; row++) {                                         \
            const CG_WEIGHT *w = weights->weight;                                                  \
            for (int32_t o = 0; o < params->out_len; o++) {                                        \
                const int64_t sum = cg_dot_centred(0, input, w, params->in_len, 0);                \
                *output++ = CG_FINISH(weights, o, sum, params);                                    \
                w += params->in_len;                                                               \
            }                                                                                      \
            input += params->in_len;                                                               \
        }                                                                                          \
    }

#endif /* CG_QLINEAR_S16_H */
