@ SPDX-License-Identifier: Apache-2.0
@ dense3_s8_mve.S -- int8 matrix product of three pixels, whole vectors: cg_dense3_mve.inc.
#include "cg_needs_mve.h"
#define NAME cg_dense3_s8_mve
#include "cg_dense3_mve.inc"
