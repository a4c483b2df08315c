@ SPDX-License-Identifier: Apache-2.0
@ depthwise_stripe_s8_mve.S -- a stripe of pixels of one row, depthwise: cg_depthwise_stripe_mve.inc.
#include "cg_needs_mve.h"
#define NAME cg_depthwise_stripe_s8_mve
#include "cg_depthwise_stripe_mve.inc"
