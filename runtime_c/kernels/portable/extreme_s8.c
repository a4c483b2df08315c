/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extreme_s8.c -- MAXIMUM and MINIMUM, int8, with broadcasting.
 */
#include "cg_pairs.h"

CG_DEFINE_EXTREME(cg_extreme_s8, int8_t)
