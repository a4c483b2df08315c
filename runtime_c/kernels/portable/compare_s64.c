/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_s64.c -- EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, int64, with broadcasting.
 */
#include "cg_pairs.h"

CG_DEFINE_COMPARE(cg_compare_s64, cg_s64)
