/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_inverse_root.h -- 1 / sqrt(x) as a multiplier and a shift, exact to TFLite's.
 */
#ifndef CG_INVERSE_ROOT_H
#define CG_INVERSE_ROOT_H

#include "cg_reciprocal.h"

typedef struct {
    int32_t multiplier;
    int32_t shift; /* to the left, 0 or less */
} cg_root;

/* x >= 0, of which 0 counts as 1. Five steps of Newton's method, three integer bits. */
static inline cg_root cg_inverse_root(int32_t x)
{
    cg_root found = {CG_S32_MAX, 0};
    if (x <= 1) {
        return found;
    }
    int32_t shift = -11;
    while (x >= (1 << 29)) {
        x >>= 2;
        shift--;
    }
    const int32_t pairs = ((cg_leading_zeros((uint32_t)x) - 1) / 2) - 1;
    shift += pairs;
    const int32_t number = (int32_t)((uint32_t)x << (2 * pairs)) >> 1;
    const int32_t half = cg_rounding_shift_right(number, 1);
    int32_t root = 1 << 28;
    for (int32_t i = 0; i < 5; i++) {
        const int32_t square = cg_high_mul(root, root);
        const int32_t cube = cg_shift_left_saturating(cg_high_mul(square, root), 6);
        const int32_t step = cg_high_mul(3 << 27, root) - cg_high_mul(half, cube);
        root = cg_shift_left_saturating(step, 3);
    }
    found.multiplier = cg_high_mul(root, 1518500250);
    if (shift > 0) {
        found.multiplier = (int32_t)((uint32_t)found.multiplier << shift);
        shift = 0;
    }
    found.shift = shift;
    return found;
}

#endif /* CG_INVERSE_ROOT_H */
