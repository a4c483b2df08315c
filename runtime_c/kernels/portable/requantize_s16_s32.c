/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requantize_s16_s32.c -- int16 to int32 of another scale.
 */
#include "cg_kernel_parts.h"
#include "cg_kernels_s16.h"

CG_DEFINE_REQUANTIZE(cg_requantize_s16_s32, cg_s16, cg_s32, CG_S32_MIN, CG_S32_MAX)
