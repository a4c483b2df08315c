/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_convert.c -- elements of one type as another, any two of them.
 */
#include "cg_plain.h"

/* Towards zero; beyond 64 bits the nearest there is, 0 for no number. */
static int64_t whole(float x, bool is_unsigned)
{
    if (is_unsigned && (x >= 9223372036854775808.0f)) {
        return (int64_t)((x >= 18446744073709551616.0f) ? UINT64_MAX : (uint64_t)x);
    }
    if (x >= 9223372036854775808.0f) {
        return INT64_MAX;
    }
    if (x < -9223372036854775808.0f) {
        return INT64_MIN;
    }
    return (x != x) ? 0 : (int64_t)x;
}

void cg_plain_convert(const cg_plain_convert_params *params, const void *input, void *output)
{
    const int32_t from = params->from;
    const int32_t to = params->to;
    const uint8_t *in = (const uint8_t *)input;
    uint8_t *out = (uint8_t *)output;
    for (int32_t i = 0; i < params->count; i++) {
        float x = 0.0f;
        int64_t value = 0;
        if (from == CG_PLAIN_F32) {
            memcpy(&x, in, sizeof x);
            value = (to == CG_PLAIN_BOOL) ? (int64_t)(x != 0.0f) : whole(x, to == CG_PLAIN_U64);
        } else {
            value = cg_plain_load(from, in);
            x = (from == CG_PLAIN_U64) ? (float)(uint64_t)value : (float)value;
        }
        if (to == CG_PLAIN_F32) {
            memcpy(out, &x, sizeof x);
        } else {
            cg_plain_store(to, value, out);
        }
        in += cg_plain_size(from);
        out += cg_plain_size(to);
    }
}
