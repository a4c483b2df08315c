/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce_s8.c -- REDUCE_MAX and REDUCE_MIN over axes, int8.
 */
#include "cg_reducing.h"

CG_DEFINE_REDUCE(cg_reduce_s8, int8_t)
