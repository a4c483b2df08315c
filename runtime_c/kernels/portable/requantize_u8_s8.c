/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requantize_u8_s8.c -- uint8 to int8, of the same scale or another.
 */
#include "cg_kernel_parts.h"

CG_DEFINE_REQUANTIZE(cg_requantize_u8_s8, uint8_t, int8_t, -128, 127)
