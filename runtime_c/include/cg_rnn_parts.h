/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_rnn_parts.h -- one moment of a layer of units of one gate, float32. Included by kernels only.
 */
#ifndef CG_RNN_PARTS_H
#define CG_RNN_PARTS_H

#include "cg_gated_parts.h"

static void cg_rnn_moment(const cg_gated_params *p, const float *weights, const float *recurrent,
                          const float *bias, const cg_f32 *x, cg_f32 *hidden, cg_f32 *gates)
{
    const int32_t blocks = cg_gated_blocks(p->units);
    CG_GATED_ROWS(weights, bias, x, gates, p->inputs, blocks);
    CG_GATED_ROWS(recurrent, gates, hidden, gates, p->units, blocks);
    cg_gated(p, 0, gates, 4 * blocks);
    for (int32_t unit = 0; unit < p->units; unit++) {
        hidden[unit] = gates[unit];
    }
}

#endif
