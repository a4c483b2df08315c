@ SPDX-License-Identifier: Apache-2.0
@ narrow_run_s8_mve.S -- int8 matrix product of pixels of few bytes: cg_narrow_mve.inc.
#include "cg_needs_mve.h"
#define NAME cg_narrow_run_s8_mve
#include "cg_narrow_mve.inc"
