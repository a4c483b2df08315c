/* SPDX-License-Identifier: Apache-2.0 */
/*
 * avg_pool2d_u8.c -- averages of the elements inside a window, int8 that stands for uint8,
 * portable: halves up. 128 more an element, no sum is negative, and the quotient is 128 more.
 */
#define CG_MEAN(sum, count) ((((sum) + (128 * (count)) + ((count) / 2)) / (count)) - 128)
#include "cg_avg_pool2d_s8_parts.h"

CG_DEFINE_ROWS(cg_avg_pool2d_u8, cg_avg_pool2d_u8_row, pool_pixel, int8_t, cg_all_rows,
               CG_LIST(const cg_pool_params *params), CG_LIST(params))
