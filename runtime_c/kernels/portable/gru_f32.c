/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gru_f32.c -- a sequence through a layer of GRU units, float32.
 */
#include "cg_gru_parts.h"

CG_DEFINE_GATED(cg_gru_f32, cg_gru_moment)
