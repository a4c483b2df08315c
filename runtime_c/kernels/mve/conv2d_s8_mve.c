/* SPDX-License-Identifier: Apache-2.0 */
/* conv2d_s8_mve.c -- see cg_conv2d_mve_parts.h. */
#include "cg_needs_mve.h"

#include "cg_conv2d_mve_parts.h"
