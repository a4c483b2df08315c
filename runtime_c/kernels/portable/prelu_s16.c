/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prelu_s16.c -- PRELU, int16 with int8 slopes, with broadcasting.
 */
#include "cg_pairs.h"

CG_DEFINE_PRELU(cg_prelu_s16, cg_s16)
