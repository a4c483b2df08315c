/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gru_f32_fpu.c -- a sequence through a layer of GRU units, float32, for cores with an FPU.
 */
#include "cg_needs_fpu.h"
#define CG_GATED_FPU
#include "cg_gru_parts.h"

CG_DEFINE_GATED(cg_gru_f32_fpu, cg_gru_moment)
