/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sub_f32.c -- difference of two tensors, float32, with broadcasting.
 */
#include "cg_kernel_parts.h"

CG_DEFINE_ROW_F32(sub_row, -)

CG_DEFINE_BROADCAST(cg_sub_f32, sub_row, cg_binary_params_f32, cg_f32)

CG_DEFINE_RUN(cg_sub_f32_run, sub_row, cg_binary_params_f32, cg_f32)
