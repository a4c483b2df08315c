/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requantize_s8_u8.c -- int8 to uint8, of the same scale or another.
 */
#include "cg_kernel_parts.h"

CG_DEFINE_REQUANTIZE(cg_requantize_s8_u8, int8_t, uint8_t, 0, 255)
