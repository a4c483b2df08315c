/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extreme_u8.c -- MAXIMUM and MINIMUM, bool, with broadcasting.
 */
#include "cg_pairs.h"

CG_DEFINE_EXTREME(cg_extreme_u8, uint8_t)
