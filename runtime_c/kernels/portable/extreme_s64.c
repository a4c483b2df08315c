/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extreme_s64.c -- MAXIMUM and MINIMUM, int64, with broadcasting.
 */
#include "cg_pairs.h"

CG_DEFINE_EXTREME(cg_extreme_s64, cg_s64)
