/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_gated_parts.h -- activations of layers of gated units, by their numbers.
 */
#ifndef CG_GATED_PARTS_H
#define CG_GATED_PARTS_H

#include "cg_kernels_families.h"
#include "cg_sigmoid_f32.h"

static float cg_gated_function(const cg_gated_active *active, float x)
{
    switch (active->function) {
    case 0:
        return cg_sigmoid_f32(x);
    case 1:
        return cg_tanh_one_f32(x);
    case 2:
        return (x < 0.0f) ? 0.0f : x;
    case 3:
        return (x * active->alpha) + active->beta;
    case 4:
        return (x < 0.0f) ? (active->alpha * (cg_exp_f32(x) - 1.0f)) : x;
    case 5: {
        const float y = (x * active->alpha) + active->beta;
        const float raised = (y < 0.0f) ? 0.0f : y;
        return (raised > 1.0f) ? 1.0f : raised;
    }
    case 6:
        return (x < 0.0f) ? (active->alpha * x) : x;
    case 7:
        return active->alpha * cg_tanh_one_f32(active->beta * x);
    default:
        return x / (((x < 0.0f) ? -x : x) + 1.0f);
    }
}

/* A gate's sums, bounded, through activation `which`. */
static float cg_gated(const cg_gated_params *p, int32_t which, float sums)
{
    const float raised = (sums < -p->clip) ? -p->clip : sums;
    return cg_gated_function(&p->active[which], (raised > p->clip) ? p->clip : raised);
}

/* Sums of three gates of a unit, whose weights for one input lie side by side. */
static inline void cg_gated_sums(float *sums, const cg_f32 *x, int32_t n, const float *w)
{
    float first = sums[0];
    float second = sums[1];
    float third = sums[2];
#pragma GCC unroll 4
    for (int32_t i = 0; i < n; i++) {
        first += x[i] * w[0];
        second += x[i] * w[1];
        third += x[i] * w[2];
        w += 3;
    }
    sums[0] = first;
    sums[1] = second;
    sums[2] = third;
}

/* The sum of a unit of one gate. */
static inline float cg_gated_sum(float sum, const cg_f32 *x, int32_t n, const float *w)
{
#pragma GCC unroll 4
    for (int32_t i = 0; i < n; i++) {
        sum += x[i] * w[i];
    }
    return sum;
}

/* A layer whose one moment is `moment(params, weights, recurrent, bias, x, hidden, gates)`, which
 * leaves the new hidden state in `hidden`. The state lies in front of the results; moments behind a
 * sequence's end are 0. */
#define CG_DEFINE_GATED(name)                                                                      \
    void name(const cg_gated_params *params, const float *weights, const float *recurrent,         \
              const float *bias, const cg_f32 *sequence, const cg_f32 *state,                      \
              const cg_s32 *lengths, void *gates, cg_f32 *output)                                  \
    {                                                                                              \
        const int32_t units = params->units;                                                       \
        const int32_t row_elements = params->batches * units;                                      \
        for (int32_t i = 0; i < row_elements; i++) {                                               \
            output[i] = state[i];                                                                  \
        }                                                                                          \
        for (int32_t i = row_elements; i < row_elements * (params->moments + 1); i++) {            \
            output[i] = 0.0f;                                                                      \
        }                                                                                          \
        for (int32_t batch = 0; batch < params->batches; batch++) {                                \
            cg_f32 *const hidden = &output[batch * units];                                         \
            for (int32_t time = 0; time < lengths[batch]; time++) {                                \
                const int32_t at = (params->reverse != 0) ? (lengths[batch] - 1 - time) : time;    \
                const int32_t row = (at * params->batches) + batch;                                \
                cg_f32 *const results = &output[row_elements + (row * units)];                     \
                moment(params, weights, recurrent, bias, &sequence[row * params->inputs], hidden,  \
                       (cg_f32 *)gates);                                                           \
                for (int32_t unit = 0; unit < units; unit++) {                                     \
                    results[unit] = hidden[unit];                                                  \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

#endif
