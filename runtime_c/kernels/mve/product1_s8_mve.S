@ SPDX-License-Identifier: Apache-2.0
@ product1_s8_mve.S -- int8 matrix product of one pixel: cg_product1_mve.inc.
#include "cg_needs_mve.h"
#define NAME cg_product1_s8_mve
#include "cg_product1_mve.inc"
