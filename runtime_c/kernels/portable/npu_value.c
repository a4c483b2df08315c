/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_value.c -- a value of an NPU's scratch where it is wanted elsewhere.
 */
#include <string.h>

#include "cg_npu.h"

void cg_npu_value(const void *scratch, int32_t offset, int32_t bytes, void *result)
{
    memcpy(result, (const uint8_t *)scratch + offset, (size_t)bytes);
}
