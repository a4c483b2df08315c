/* SPDX-License-Identifier: Apache-2.0 */
/*
 * concat.c -- concatenation along any axis, any element type.
 */
#include <string.h>

#include "cg_kernel_parts.h"

void cg_concat(const cg_concat_params *params, const void *const *inputs, void *output)
{
    uint8_t *to = output;
    for (int32_t row = 0; row < params->rows; row++) {
        for (int32_t i = 0; i < params->count; i++) {
            const size_t bytes = (size_t)params->row_bytes[i];
            const uint8_t *const from = inputs[i];
            if (from != NULL) {
                memcpy(to, &from[(size_t)row * bytes], bytes);
            }
            to += bytes;
        }
    }
}
