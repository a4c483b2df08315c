/* SPDX-License-Identifier: Apache-2.0 */
/* narrow_s8_mve.c -- see cg_narrow_mve_parts.h. */
#include "cg_needs_mve.h"

#include "cg_narrow_mve_parts.h"
