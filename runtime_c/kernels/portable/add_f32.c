/* SPDX-License-Identifier: Apache-2.0 */
/*
 * add_f32.c -- sum of two tensors, float32, with broadcasting.
 */
#include "cg_kernel_parts.h"

CG_DEFINE_ROW_F32(add_row, +)

CG_DEFINE_BROADCAST(cg_add_f32, add_row, cg_binary_params_f32, cg_f32)

CG_DEFINE_RUN(cg_add_f32_run, add_row, cg_binary_params_f32, cg_f32)
