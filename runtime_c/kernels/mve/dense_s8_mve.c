/* SPDX-License-Identifier: Apache-2.0 */
/* dense_s8_mve.c -- pointwise_s8_mve.c by whole vectors: see cg_pointwise_mve_parts.h. */
#include "cg_needs_mve.h"

#define CG_DENSE
#include "cg_pointwise_mve_parts.h"
