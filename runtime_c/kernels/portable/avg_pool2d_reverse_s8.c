/* SPDX-License-Identifier: Apache-2.0 */
/*
 * avg_pool2d_reverse_s8.c -- averages inside a window, int8, from the last pixel to the first: for
 * a result that starts above its image. All else as in avg_pool2d_s8.c.
 */
#include "cg_window_loops.h"

CG_DEFINE_REVERSE_ROWS(cg_avg_pool2d_reverse_s8, cg_avg_pool2d_s8_row,
                       CG_LIST(const cg_pool_params *params), CG_LIST(params))
