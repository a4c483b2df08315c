/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qlinear_add_s16.c -- sum of two int16 tensors, with broadcasting, rounded as ONNX does.
 */
#include "cg_kernels_qlinear_s16.h"
#include "cg_qlinear_pair.h"

CG_DEFINE_QLINEAR_ROW(add_row, +, cg_s16)

CG_DEFINE_BROADCAST(cg_qlinear_add_s16, add_row, cg_qlinear_pair_params, cg_s16)
