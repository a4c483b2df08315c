/* SPDX-License-Identifier: Apache-2.0 */
/* few_pixels_s8_mve.c -- see cg_few_pixels_mve_parts.h. */
#include "cg_needs_mve.h"

#include "cg_few_pixels_mve_parts.h"
