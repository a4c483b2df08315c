/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rnn_f32_mve.c -- a sequence through a layer of units of one gate, float32, for float Helium.
 */
#include "cg_needs_mve.h"
#define CG_GATED_MVE
#include "cg_rnn_parts.h"

CG_DEFINE_GATED(cg_rnn_f32_mve, cg_rnn_moment)
