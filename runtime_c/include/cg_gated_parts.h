/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_gated_parts.h -- activations of layers of gated units, by their numbers.
 */
#ifndef CG_GATED_PARTS_H
#define CG_GATED_PARTS_H

#include "cg_kernels_families.h"
#include "cg_sigmoid_f32.h"

/* One of the activations that are not curves. */
static float cg_gated_function(const cg_gated_active *active, float x)
{
    switch (active->function) {
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

/*
 * A curve through the middle: x * P(x^2) / Q(x^2) + middle, x no farther from 0 than `limit`. `p`
 * from the power 4 down, `q` from 3 down, whose power 4 has the factor 1. Known by gated_f32_fpu.S
 * and gated_f32_mve.S.
 */
typedef struct {
    float p[5];
    float q[4];
    float middle;
    float limit;
} cg_gated_curve;

/* Sigmoid, error below 3e-7, and tanh, relative error below 4e-7: fitted by least largest error. */
static const cg_gated_curve cg_gated_curves[2] = {
    {
        {0.00429311534f, 26.5021343f, 17980.9902f, 2753259.0f, 82303600.0f},
        {1690.08362f, 532438.812f, 38447556.0f, 329214400.0f},
        0.5f,
        18.0f,
    },
    {
        {0.0171724614f, 26.5021343f, 4495.24756f, 172078.688f, 1285993.75f},
        {422.520905f, 33277.4258f, 600743.062f, 1285993.75f},
        0.0f,
        9.0f,
    },
};

/* to[i] = from[i] + the products of row i with x: `blocks` of four rows of `count` weights, which
 * lie value by value. `to` may be `from`. */
typedef void cg_gated_rows_loop(const float *weights, const float *from, const cg_f32 *x,
                                cg_f32 *to, int32_t count, int32_t blocks);
/* `count` values, a multiple of four, through a curve in place, at most `limit` from 0. NaN stays
 * NaN. */
typedef void cg_gated_curve_loop(const cg_gated_curve *curve, const float *limit, cg_f32 *values,
                                 int32_t count);

#if defined(CG_GATED_MVE)
cg_gated_rows_loop cg_gated_rows_f32_mve;
cg_gated_curve_loop cg_gated_curve_f32_mve;
#define CG_GATED_ROWS  cg_gated_rows_f32_mve
#define CG_GATED_CURVE cg_gated_curve_f32_mve
#elif defined(CG_GATED_FPU)
cg_gated_rows_loop cg_gated_rows_f32_fpu;
cg_gated_curve_loop cg_gated_curve_f32_fpu;
#define CG_GATED_ROWS  cg_gated_rows_f32_fpu
#define CG_GATED_CURVE cg_gated_curve_f32_fpu
#else
#define CG_GATED_ROWS  cg_gated_rows
#define CG_GATED_CURVE cg_gated_through

static void cg_gated_rows(const float *weights, const float *from, const cg_f32 *x, cg_f32 *to,
                          int32_t count, int32_t blocks)
{
    for (int32_t block = 0; block < blocks; block++) {
        float sums[4] = {from[0], from[1], from[2], from[3]};
#pragma GCC unroll 2
        for (int32_t i = 0; i < count; i++) {
            sums[0] += x[i] * weights[0];
            sums[1] += x[i] * weights[1];
            sums[2] += x[i] * weights[2];
            sums[3] += x[i] * weights[3];
            weights += 4;
        }
        for (int32_t row = 0; row < 4; row++) {
            to[row] = sums[row];
        }
        from += 4;
        to += 4;
    }
}

static void cg_gated_through(const cg_gated_curve *curve, const float *limit, cg_f32 *values,
                             int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        const float raised = (values[i] < -*limit) ? -*limit : values[i];
        const float x = (raised > *limit) ? *limit : raised;
        const float square = x * x;
        float above = (square * curve->p[0]) + curve->p[1];
        float below = square + curve->q[0];
        for (int32_t power = 1; power < 4; power++) {
            above = (above * square) + curve->p[power + 1];
            below = (below * square) + curve->q[power];
        }
        values[i] = ((above * x) / below) + curve->middle;
    }
}
#endif

/* Blocks of four rows. */
static inline int32_t cg_gated_blocks(int32_t rows)
{
    return (rows + 3) / 4;
}

/* `count` sums of gates, a multiple of four, bounded, through activation `which` in place. */
static void cg_gated(const cg_gated_params *p, int32_t which, cg_f32 *sums, int32_t count)
{
    const cg_gated_active *const active = &p->active[which];
    if (active->function < 2) {
        const cg_gated_curve *const curve = &cg_gated_curves[active->function];
        CG_GATED_CURVE(curve, (p->clip < curve->limit) ? &p->clip : &curve->limit, sums, count);
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        const float raised = (sums[i] < -p->clip) ? -p->clip : sums[i];
        sums[i] = cg_gated_function(active, (raised > p->clip) ? p->clip : raised);
    }
}

/* A layer whose one moment is `moment(params, weights, recurrent, bias, x, hidden, gates)`, which
 * leaves the new hidden state in `hidden`. The state lies in front of the results; moments behind a
 * sequence's end are 0. */
#define CG_DEFINE_GATED(name, moment)                                                              \
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
