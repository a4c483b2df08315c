/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce_u8.c -- REDUCE_ANY and REDUCE_ALL over axes, bool: the larger and the smaller.
 */
#include "cg_reducing.h"

CG_DEFINE_REDUCE(cg_reduce_u8, uint8_t)
