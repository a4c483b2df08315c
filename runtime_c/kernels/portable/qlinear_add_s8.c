/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qlinear_add_s8.c -- sum of two int8 tensors, with broadcasting, rounded as ONNX does.
 */
#include "cg_qlinear_pair.h"

CG_DEFINE_QLINEAR_ROW(add_row, +, int8_t)

CG_DEFINE_BROADCAST(cg_qlinear_add_s8, add_row, cg_qlinear_pair_params, int8_t)

CG_DEFINE_RUN(cg_qlinear_add_s8_run, add_row, cg_qlinear_pair_params, int8_t)
