/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.c -- SELECT_V2: elements of one tensor or the other, any element type, with broadcasting.
 */
#include "cg_pairs.h"

void cg_select(const cg_select_params *params, const uint8_t *condition, const void *lhs,
               const void *rhs, void *output)
{
    const cg_axes *const n = &params->extent;
    const cg_axes *const c = &params->condition_step;
    const cg_axes *const l = &params->lhs_step;
    const cg_axes *const r = &params->rhs_step;
    const uint8_t *const yes = lhs;
    const uint8_t *const no = rhs;
    uint8_t *to = output;
    const size_t bytes = (size_t)params->element_bytes;
    for (int32_t i0 = 0; i0 < n->d0; i0++) {
        for (int32_t i1 = 0; i1 < n->d1; i1++) {
            for (int32_t i2 = 0; i2 < n->d2; i2++) {
                for (int32_t i3 = 0; i3 < n->d3; i3++) {
                    int32_t from_c = (i0 * c->d0) + (i1 * c->d1) + (i2 * c->d2) + (i3 * c->d3);
                    int32_t from_l = (i0 * l->d0) + (i1 * l->d1) + (i2 * l->d2) + (i3 * l->d3);
                    int32_t from_r = (i0 * r->d0) + (i1 * r->d1) + (i2 * r->d2) + (i3 * r->d3);
                    for (int32_t i4 = 0; i4 < n->d4; i4++) {
                        const uint8_t *const from =
                            (condition[from_c] != 0u) ? &yes[from_l] : &no[from_r];
                        for (size_t byte = 0; byte < bytes; byte++) {
                            to[byte] = from[byte];
                        }
                        to += bytes;
                        from_c += c->d4;
                        from_l += l->d4;
                        from_r += r->d4;
                    }
                }
            }
        }
    }
}
