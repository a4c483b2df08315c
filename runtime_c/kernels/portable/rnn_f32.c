/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rnn_f32.c -- a sequence through a layer of units of one gate, float32.
 */
#include "cg_rnn_parts.h"

CG_DEFINE_GATED(cg_rnn_f32, cg_rnn_moment)
