/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extreme_s16.c -- MAXIMUM and MINIMUM, int16, with broadcasting.
 */
#include "cg_pairs.h"

CG_DEFINE_EXTREME(cg_extreme_s16, cg_s16)
