/* SPDX-License-Identifier: Apache-2.0 */
/*
 * avg_pool2d_reverse_s16.c -- average pool, int16, from the last pixel to the first: for a result
 * that starts above its image. All else as in avg_pool2d_s16.c.
 */
#include "cg_kernels_s16.h"
#include "cg_window_loops.h"

CG_DEFINE_REVERSE_PARTS(cg_avg_pool2d_reverse_s16, cg_avg_pool2d_s16_part,
                        CG_LIST(const cg_pool_params *params), CG_LIST(params))
