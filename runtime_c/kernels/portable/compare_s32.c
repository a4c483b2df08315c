/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_s32.c -- EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, int32, with broadcasting.
 */
#include "cg_pairs.h"

CG_DEFINE_COMPARE(cg_compare_s32, cg_s32)
