/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_convert_f64.c -- elements of any type as float64, and the other way.
 */
#include "cg_plain.h"

/* Towards zero; beyond 64 bits the nearest there is, 0 for no number. */
static int64_t whole(double x, bool is_unsigned)
{
    if (is_unsigned && (x >= 9223372036854775808.0)) {
        return (int64_t)((x >= 18446744073709551616.0) ? UINT64_MAX : (uint64_t)x);
    }
    if (x >= 9223372036854775808.0) {
        return INT64_MAX;
    }
    if (x < -9223372036854775808.0) {
        return INT64_MIN;
    }
    return (x != x) ? 0 : (int64_t)x;
}

static size_t size_of(int32_t type)
{
    return (type == CG_PLAIN_F64) ? sizeof(double) : cg_plain_size(type);
}

static double loaded(int32_t type, const uint8_t *from)
{
    double x = 0.0;
    if (type == CG_PLAIN_F64) {
        memcpy(&x, from, sizeof x);
    } else if (type == CG_PLAIN_F32) {
        float single = 0.0f;
        memcpy(&single, from, sizeof single);
        x = (double)single;
    } else {
        const int64_t value = cg_plain_load(type, from);
        x = (type == CG_PLAIN_U64) ? (double)(uint64_t)value : (double)value;
    }
    return x;
}

static void stored(int32_t type, double x, uint8_t *to)
{
    if (type == CG_PLAIN_F64) {
        memcpy(to, &x, sizeof x);
    } else if (type == CG_PLAIN_F32) {
        const float single = (float)x;
        memcpy(to, &single, sizeof single);
    } else if (type == CG_PLAIN_BOOL) {
        to[0] = (uint8_t)(x != 0.0);
    } else {
        cg_plain_store(type, whole(x, type == CG_PLAIN_U64), to);
    }
}

void cg_plain_convert_f64(const cg_plain_convert_params *params, const void *input, void *output)
{
    const uint8_t *in = (const uint8_t *)input;
    uint8_t *out = (uint8_t *)output;
    for (int32_t i = 0; i < params->count; i++) {
        stored(params->to, loaded(params->from, in), out);
        in += size_of(params->from);
        out += size_of(params->to);
    }
}
