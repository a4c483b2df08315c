/* SPDX-License-Identifier: Apache-2.0 */
/*
 * div_f32.c -- quotient of two tensors, float32, with broadcasting.
 */
#include "cg_pairs.h"

CG_DEFINE_ROW_F32(div_row, /)

CG_DEFINE_BROADCAST(cg_div_f32, div_row, cg_binary_params_f32, cg_f32)
