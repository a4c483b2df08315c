/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requantize_s32_s16.c -- int32 to int16 of another scale.
 */
#include "cg_kernel_parts.h"
#include "cg_kernels_s16.h"

CG_DEFINE_REQUANTIZE(cg_requantize_s32_s16, cg_s32, cg_s16, -32768, 32767)
