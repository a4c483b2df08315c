/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpu_pmp.c -- physical memory protection of RISC-V with entries of kind TOR: any range of whole
 * granules, in two entries each.
 */
#define PMP_READ       (1u << 0)
#define PMP_EXECUTE    (1u << 2)
#define PMP_EDGE_BYTES 32u
#include "cg_pmp_tor.h"
