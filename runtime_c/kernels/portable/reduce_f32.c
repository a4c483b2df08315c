/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce_f32.c -- REDUCE_MAX and REDUCE_MIN over axes, float32.
 */
#include "cg_reducing.h"

CG_DEFINE_REDUCE(cg_reduce_f32, cg_f32)
