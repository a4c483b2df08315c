/* SPDX-License-Identifier: Apache-2.0 */
/*
 * avg_pool2d_s8.c -- averages of the elements inside a window, int8, portable: halves away from
 * zero.
 */
#define CG_MEAN(sum, count) (((sum) + (((sum) > 0) ? ((count) / 2) : -((count) / 2))) / (count))
#include "cg_avg_pool2d_s8_parts.h"

CG_DEFINE_ROWS(cg_avg_pool2d_s8, cg_avg_pool2d_s8_row, pool_pixel, int8_t, cg_all_rows,
               CG_LIST(const cg_pool_params *params), CG_LIST(params))
