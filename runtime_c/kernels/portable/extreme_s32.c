/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extreme_s32.c -- MAXIMUM and MINIMUM, int32, with broadcasting.
 */
#include "cg_pairs.h"

CG_DEFINE_EXTREME(cg_extreme_s32, cg_s32)
