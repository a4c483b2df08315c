/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gru_f32_mve.c -- a sequence through a layer of GRU units, float32, for float Helium.
 */
#include "cg_needs_mve.h"
#define CG_GATED_MVE
#include "cg_gru_parts.h"

CG_DEFINE_GATED(cg_gru_f32_mve, cg_gru_moment)
