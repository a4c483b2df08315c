@ SPDX-License-Identifier: Apache-2.0
@ depthwise_replace_s8_mve.S -- 16 channels of an image that depthwise results replace: cg_depthwise_replace_mve.inc.
#include "cg_needs_mve.h"
#define NAME cg_depthwise_replace_s8_mve
#include "cg_depthwise_replace_mve.inc"
