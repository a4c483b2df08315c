/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requantize_s32_s32.c -- int32 to int32 of another scale.
 */
#include "cg_kernel_parts.h"

CG_DEFINE_REQUANTIZE(cg_requantize_s32_s32, cg_s32, cg_s32, CG_S32_MIN, CG_S32_MAX)
