/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce_s32.c -- REDUCE_MAX and REDUCE_MIN over axes, int32.
 */
#include "cg_reducing.h"

CG_DEFINE_REDUCE(cg_reduce_s32, cg_s32)
