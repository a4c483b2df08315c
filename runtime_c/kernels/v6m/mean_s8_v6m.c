/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mean_s8_v6m.c -- MEAN and SUM over rows or lines, int8, ARMv6-M: requantizes the sums of
 * sums_s8_v6m.S.
 */
#include "cg_needs_v6m.h"

#include "cg_mean_parts.h"

CG_DEFINE_MEAN_ROWS(cg_mean_rows_s8_v6m, cg_sums_s8_v6m)
CG_DEFINE_MEAN_ODD_ROWS(cg_mean_odd_rows_s8_v6m, cg_sum_steps_s8_v6m)
CG_DEFINE_MEAN_LINES(cg_mean_lines_s8_v6m, x, n, cg_sum_s8_v6m(x, n))
CG_DEFINE_MEAN_LINES(cg_mean_odd_lines_s8_v6m, x, n, cg_sum_steps_s8_v6m(x, 1, n))
