/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_gru_parts.h -- one moment of a layer of GRU units, float32. Included by kernels only.
 */
#ifndef CG_GRU_PARTS_H
#define CG_GRU_PARTS_H

#include "cg_gated_parts.h"

/* `gates`: sums of update and reset gates, of the fresh states, and what the hidden states add to
 * these. The reset is in front of their products or behind them. */
static void cg_gru_moment(const cg_gated_params *p, const float *weights, const float *recurrent,
                          const float *bias, const cg_f32 *x, cg_f32 *hidden, cg_f32 *gates)
{
    const int32_t units = p->units;
    const int32_t pairs = cg_gated_blocks(2 * units);
    const int32_t blocks = cg_gated_blocks(units);
    const cg_f32 *const reset = &gates[units];
    cg_f32 *const fresh = &gates[4 * pairs];
    cg_f32 *const held = &fresh[4 * blocks];
    const float *const last = &recurrent[4 * pairs * units];
    CG_GATED_ROWS(weights, bias, x, gates, p->inputs, pairs + blocks);
    CG_GATED_ROWS(recurrent, gates, hidden, gates, units, pairs);
    cg_gated(p, 0, gates, 4 * pairs);
    if (p->linear_before_reset != 0) {
        CG_GATED_ROWS(last, &bias[4 * (pairs + blocks)], hidden, held, units, blocks);
        for (int32_t unit = 0; unit < units; unit++) {
            fresh[unit] += reset[unit] * held[unit];
        }
    } else {
        for (int32_t unit = 0; unit < units; unit++) {
            held[unit] = reset[unit] * hidden[unit];
        }
        CG_GATED_ROWS(last, fresh, held, fresh, units, blocks);
    }
    cg_gated(p, 1, fresh, 4 * blocks);
    for (int32_t unit = 0; unit < units; unit++) {
        hidden[unit] = ((1.0f - gates[unit]) * fresh[unit]) + (gates[unit] * hidden[unit]);
    }
}

#endif
