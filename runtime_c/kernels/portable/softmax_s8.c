/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softmax_s8.c -- softmax over the last axis, int8, bit-equal to TFLite's fixed-point reference.
 */
#include "cg_softmax_fixed.h"

CG_DEFINE_SOFTMAX(cg_softmax_s8, int8_t, 8)
