/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rnn_f32.c -- a sequence through a layer of units of one gate, float32.
 */
#include "cg_gated_parts.h"

static void moment(const cg_gated_params *p, const float *weights, const float *recurrent,
                   const float *bias, const cg_f32 *x, cg_f32 *hidden, cg_f32 *fresh)
{
    for (int32_t unit = 0; unit < p->units; unit++) {
        float sum = cg_gated_sum(bias[unit], x, p->inputs, &weights[unit * p->inputs]);
        sum = cg_gated_sum(sum, hidden, p->units, &recurrent[unit * p->units]);
        fresh[unit] = cg_gated(p, 0, sum);
    }
    for (int32_t unit = 0; unit < p->units; unit++) {
        hidden[unit] = fresh[unit];
    }
}

CG_DEFINE_GATED(cg_rnn_f32)
