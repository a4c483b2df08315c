/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpu_pmp_pages.c -- as mpu_pmp.c, for emulators: they look up each access to a page of which only
 * a part is open, so ordinary ranges are whole pages. Those of a sandboxed step are exact.
 */
#define PMP_READ       (1u << 0)
#define PMP_EXECUTE    (1u << 2)
#define PMP_EDGE_BYTES 4096u
#include "cg_pmp_tor.h"
