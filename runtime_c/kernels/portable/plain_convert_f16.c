/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_convert_f16.c -- float16 as float32, and the other way.
 */
#include "cg_half.h"
#include "cg_plain.h"

void cg_plain_convert_f16(const cg_plain_convert_params *params, const void *input, void *output)
{
    const uint8_t *in = (const uint8_t *)input;
    uint8_t *out = (uint8_t *)output;
    for (int32_t i = 0; i < params->count; i++) {
        float x = 0.0f;
        uint16_t half = 0u;
        if (params->to == CG_PLAIN_F32) {
            memcpy(&half, in, sizeof half);
            x = cg_float_of_half(half);
            memcpy(out, &x, sizeof x);
            in += sizeof half;
            out += sizeof x;
        } else {
            memcpy(&x, in, sizeof x);
            half = cg_half_of_float(x);
            memcpy(out, &half, sizeof half);
            in += sizeof x;
            out += sizeof half;
        }
    }
}
