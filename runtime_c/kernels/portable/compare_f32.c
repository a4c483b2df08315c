/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_f32.c -- EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, float32, with broadcasting.
 */
#include "cg_pairs.h"

CG_DEFINE_COMPARE(cg_compare_f32, cg_f32)
