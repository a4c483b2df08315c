/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce_s16.c -- REDUCE_MAX and REDUCE_MIN over axes, int16.
 */
#include "cg_reducing.h"

CG_DEFINE_REDUCE(cg_reduce_s16, cg_s16)
