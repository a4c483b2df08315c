/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_pair_f64.c -- operators on two float64, with broadcasting: C's own double.
 */
#include <string.h>

#include "cg_kernels_qlinear.h"

static double calculated(int32_t kind, double a, double b)
{
    switch (kind) {
    case 0:
        return a + b;
    case 1:
        return a - b;
    case 2:
        return a * b;
    case 3:
        return a / b;
    case 7:
        return ((a > b) || (a != a)) ? a : b;
    default:
        return ((a < b) || (a != a)) ? a : b;
    }
}

static bool holds(int32_t kind, double a, double b)
{
    switch (kind) {
    case 14:
        return a == b;
    case 15:
        return a < b;
    default:
        return a <= b;
    }
}

static double element(const void *from, int32_t index)
{
    double x = 0.0;
    memcpy(&x, (const uint8_t *)from + ((size_t)index * sizeof x), sizeof x);
    return x;
}

/* Stores an element; returns where the next one goes. */
static uint8_t *put(int32_t kind, double a, double b, uint8_t *out)
{
    if (kind >= 14) {
        *out = (uint8_t)holds(kind, a, b);
        return out + 1;
    }
    const double found = calculated(kind, a, b);
    memcpy(out, &found, sizeof found);
    return out + sizeof found;
}

void cg_plain_pair_f64(const cg_plain_params *params, const void *lhs, const void *rhs,
                       void *output)
{
    const cg_axes *const n = &params->shape.extent;
    const cg_axes *const l = &params->shape.lhs_step;
    const cg_axes *const r = &params->shape.rhs_step;
    uint8_t *out = (uint8_t *)output;
    for (int32_t i0 = 0; i0 < n->d0; i0++) {
        for (int32_t i1 = 0; i1 < n->d1; i1++) {
            for (int32_t i2 = 0; i2 < n->d2; i2++) {
                for (int32_t i3 = 0; i3 < n->d3; i3++) {
                    int32_t a = (i0 * l->d0) + (i1 * l->d1) + (i2 * l->d2) + (i3 * l->d3);
                    int32_t b = (i0 * r->d0) + (i1 * r->d1) + (i2 * r->d2) + (i3 * r->d3);
                    for (int32_t i4 = 0; i4 < n->d4; i4++) {
                        out = put(params->kind, element(lhs, a), element(rhs, b), out);
                        a += l->d4;
                        b += r->d4;
                    }
                }
            }
        }
    }
}
