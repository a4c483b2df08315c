/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requantize_s8_s32.c -- int8 to int32 of another scale.
 */
#include "cg_kernel_parts.h"

CG_DEFINE_REQUANTIZE(cg_requantize_s8_s32, int8_t, cg_s32, CG_S32_MIN, CG_S32_MAX)
