/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extreme_f32.c -- MAXIMUM and MINIMUM, float32, with broadcasting.
 */
#include "cg_pairs.h"

CG_DEFINE_EXTREME(cg_extreme_f32, cg_f32)
