/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resize_bilinear_f32.c -- RESIZE_BILINEAR, float32.
 */
#include "cg_resize.h"

static int32_t place_of(const cg_resize_params_f32 *p, int32_t i, bool rows, float *weight)
{
    const float scale = rows ? p->row_scale : p->column_scale;
    const float at = (((float)i + p->middle) * scale) - p->middle;
    const int32_t last = (rows ? p->rows : p->columns) - 1;
    if (at <= 0.0f) {
        return 0;
    }
    const int32_t place = (int32_t)at;
    if (place >= last) {
        return last;
    }
    *weight = at - (float)place;
    return place;
}

static void mix(const cg_f32 *top, const cg_f32 *bottom, int32_t step, int32_t channels, float down,
                float beside, cg_f32 *output)
{
    const float up = 1.0f - down;
    const float left = 1.0f - beside;
    for (int32_t c = 0; c < channels; c++) {
        output[c] = (top[c] * up * left) + (bottom[c] * down * left) +
                    (top[step + c] * up * beside) + (bottom[step + c] * down * beside);
    }
}

CG_DEFINE_RESIZE(cg_resize_bilinear_f32, cg_resize_params_f32, cg_f32, float)
