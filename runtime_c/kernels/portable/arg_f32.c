/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arg_f32.c -- ARG_MAX and ARG_MIN along an axis, float32.
 */
#include "cg_reducing.h"

CG_DEFINE_ARG(cg_arg_f32, cg_f32)
