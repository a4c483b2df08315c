/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requantize_s32_s8.c -- int32 to int8 of another scale.
 */
#include "cg_kernel_parts.h"

CG_DEFINE_REQUANTIZE(cg_requantize_s32_s8, cg_s32, int8_t, -128, 127)
