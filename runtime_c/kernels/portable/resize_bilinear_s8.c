/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resize_bilinear_s8.c -- RESIZE_BILINEAR, int8: weights of 10 bits, half away from zero.
 */
#include "cg_resize.h"

static int32_t place_of(const cg_resize_params *p, int32_t i, bool rows, int32_t *weight)
{
    const int32_t at =
        rows ? ((i * p->row_step) + p->row_start) : ((i * p->column_step) + p->column_start);
    const int32_t last = (rows ? p->rows : p->columns) - 1;
    if (at <= 0) {
        return 0;
    }
    const int32_t place = (int32_t)((uint32_t)at >> 10);
    if (place >= last) {
        return last;
    }
    *weight = (int32_t)((uint32_t)at & 1023u);
    return place;
}

static int8_t mix(int32_t a, int32_t b, int32_t c, int32_t d, int32_t down, int32_t beside)
{
    const int32_t left = (a * (1024 - down)) + (b * down);
    const int32_t right = (c * (1024 - down)) + (d * down);
    const int32_t sum = (left * (1024 - beside)) + (right * beside);
    return (int8_t)((sum + ((sum > 0) ? 524288 : -524288)) / 1048576);
}

CG_DEFINE_RESIZE(cg_resize_bilinear_s8, cg_resize_params, int8_t, int32_t)
