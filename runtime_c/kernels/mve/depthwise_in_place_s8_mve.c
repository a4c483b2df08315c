/* SPDX-License-Identifier: Apache-2.0 */
/* depthwise_in_place_s8_mve.c -- see cg_depthwise_in_place_mve_parts.h. */
#include "cg_needs_mve.h"

#include "cg_depthwise_in_place_mve_parts.h"
