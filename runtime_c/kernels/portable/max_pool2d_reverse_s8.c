/* SPDX-License-Identifier: Apache-2.0 */
/*
 * max_pool2d_reverse_s8.c -- largest element inside a window, int8, from the last pixel to the
 * first: for a result that starts above its image. All else as in max_pool2d_s8.c.
 */
#include "cg_window_loops.h"

CG_DEFINE_REVERSE_ROWS(cg_max_pool2d_reverse_s8, cg_max_pool2d_s8_row,
                       CG_LIST(const cg_pool_params *params), CG_LIST(params))
