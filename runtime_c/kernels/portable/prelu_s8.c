/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prelu_s8.c -- PRELU, int8 with int8 slopes, with broadcasting.
 */
#include "cg_pairs.h"

CG_DEFINE_PRELU(cg_prelu_s8, int8_t)
