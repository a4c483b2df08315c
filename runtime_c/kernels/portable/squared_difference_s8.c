/* SPDX-License-Identifier: Apache-2.0 */
/*
 * squared_difference_s8.c -- squares of differences, int8, with broadcasting.
 */
#include "cg_pairs.h"

CG_DEFINE_SQUARED_DIFFERENCE(cg_squared_difference_s8, int8_t)
