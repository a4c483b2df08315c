/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softmax_s8_s16.c -- softmax over the last axis of int8 to int16, bit-equal to TFLite's
 * fixed-point reference.
 */
#include "cg_kernels_s16.h"
#include "cg_softmax_fixed.h"

CG_DEFINE_SOFTMAX(cg_softmax_s8_s16, cg_s16, 16)
