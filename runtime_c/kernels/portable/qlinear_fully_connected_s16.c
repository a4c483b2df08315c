/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qlinear_fully_connected_s16.c -- fully_connected_s16.c by int8 weights, with sums that are
 * rounded as ONNX does. The zero point of the rows is in the biases.
 */
#include "cg_qlinear_s16.h"

CG_DEFINE_ROWS_OF_SUMS(cg_qlinear_fully_connected_s16)
