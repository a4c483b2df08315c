/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rnn_f32_fpu.c -- a sequence through a layer of units of one gate, float32, for cores with an FPU.
 */
#include "cg_needs_fpu.h"
#define CG_GATED_FPU
#include "cg_rnn_parts.h"

CG_DEFINE_GATED(cg_rnn_f32_fpu, cg_rnn_moment)
