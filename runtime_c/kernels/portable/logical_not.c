/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logical_not.c -- LOGICAL_NOT, bool.
 */
#include "cg_kernels_families.h"

void cg_logical_not(const uint8_t *input, uint8_t *output, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        output[i] = (input[i] == 0u) ? 1u : 0u;
    }
}
