/* SPDX-License-Identifier: Apache-2.0 */
/* pointwise_s8_mve.c -- see cg_pointwise_mve_parts.h. */
#include "cg_needs_mve.h"

#include "cg_pointwise_mve_parts.h"
