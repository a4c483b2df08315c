@ SPDX-License-Identifier: Apache-2.0
@ columns3_s8_mve.S -- int8 convolution of three columns: cg_columns3_mve.inc.
#include "cg_needs_mve.h"
#define NAME cg_columns3_s8_mve
#include "cg_columns3_mve.inc"
