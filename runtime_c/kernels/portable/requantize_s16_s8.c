/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requantize_s16_s8.c -- int16 to int8 of another scale.
 */
#include "cg_kernel_parts.h"
#include "cg_kernels_s16.h"

CG_DEFINE_REQUANTIZE(cg_requantize_s16_s8, cg_s16, int8_t, -128, 127)
