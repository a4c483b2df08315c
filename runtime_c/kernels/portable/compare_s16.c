/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_s16.c -- EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, int16, with broadcasting.
 */
#include "cg_pairs.h"

CG_DEFINE_COMPARE(cg_compare_s16, cg_s16)
