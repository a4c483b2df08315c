/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arg_s8.c -- ARG_MAX and ARG_MIN along an axis, int8.
 */
#include "cg_reducing.h"

CG_DEFINE_ARG(cg_arg_s8, int8_t)
