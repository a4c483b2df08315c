/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mul_f32.c -- product of two tensors, float32, with broadcasting.
 */
#include "cg_kernel_parts.h"

CG_DEFINE_ROW_F32(mul_row, *)

CG_DEFINE_BROADCAST(cg_mul_f32, mul_row, cg_binary_params_f32, cg_f32)

CG_DEFINE_RUN(cg_mul_f32_run, mul_row, cg_binary_params_f32, cg_f32)
