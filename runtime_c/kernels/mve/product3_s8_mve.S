@ SPDX-License-Identifier: Apache-2.0
@ product3_s8_mve.S -- int8 matrix product of three pixels: cg_product3_mve.inc.
#include "cg_needs_mve.h"
#define NAME cg_product3_s8_mve
#include "cg_product3_mve.inc"
