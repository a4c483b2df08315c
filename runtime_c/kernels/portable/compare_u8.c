/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_u8.c -- EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, bool, with broadcasting.
 */
#include "cg_pairs.h"

CG_DEFINE_COMPARE(cg_compare_u8, uint8_t)
