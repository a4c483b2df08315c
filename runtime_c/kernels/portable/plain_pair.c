/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_pair.c -- operators on two integers of any type, with broadcasting: 64 bits inside.
 */
#include "cg_plain.h"

static bool is_less(int64_t a, int64_t b, bool is_unsigned)
{
    return is_unsigned ? ((uint64_t)a < (uint64_t)b) : (a < b);
}

/* Towards zero; 0 for a divisor of 0. */
static int64_t quotient(int64_t a, int64_t b, bool is_unsigned)
{
    if (b == 0) {
        return 0;
    }
    if (is_unsigned) {
        return (int64_t)((uint64_t)a / (uint64_t)b);
    }
    return (b == -1) ? (int64_t)(0u - (uint64_t)a) : (a / b);
}

static int64_t product(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int64_t rest(int64_t a, int64_t b, bool is_unsigned)
{
    return (int64_t)((uint64_t)a - (uint64_t)product(quotient(a, b, is_unsigned), b));
}

/* The remainder with the divisor's sign. */
static int64_t modulo(int64_t a, int64_t b, bool is_unsigned)
{
    const int64_t left = (b == 0) ? 0 : rest(a, b, is_unsigned);
    return (!is_unsigned && (left != 0) && ((left < 0) != (b < 0))) ? (left + b) : left;
}

static int64_t power(int64_t a, int64_t b, bool is_unsigned)
{
    const bool inverse = !is_unsigned && (b < 0);
    uint64_t left = inverse ? (0u - (uint64_t)b) : (uint64_t)b;
    int64_t found = 1;
    int64_t square = a;
    for (; left != 0u; left >>= 1) {
        found = ((left & 1u) != 0u) ? product(found, square) : found;
        square = product(square, square);
    }
    return inverse ? quotient(1, found, false) : found;
}

/* By as many bits as there are or more, or by less than none, all of them are gone. */
static int64_t shifted_left(int64_t a, int64_t b)
{
    return ((b < 0) || (b > 63)) ? 0 : (int64_t)((uint64_t)a << b);
}

/* The sign stays. */
static int64_t shifted_right(int64_t a, int64_t b, bool is_unsigned)
{
    const bool negative = !is_unsigned && (a < 0);
    const uint64_t bits = negative ? ~(uint64_t)a : (uint64_t)a;
    const uint64_t left = ((b < 0) || (b > 63)) ? 0u : (bits >> b);
    return (int64_t)(negative ? ~left : left);
}

static int64_t calculated(int32_t kind, int64_t a, int64_t b, bool is_unsigned)
{
    switch (kind) {
    case 0:
        return (int64_t)((uint64_t)a + (uint64_t)b);
    case 1:
        return (int64_t)((uint64_t)a - (uint64_t)b);
    case 2:
        return product(a, b);
    case 3:
        return quotient(a, b, is_unsigned);
    case 4:
        return modulo(a, b, is_unsigned);
    case 5:
        return (b == 0) ? 0 : rest(a, b, is_unsigned);
    case 6:
        return power(a, b, is_unsigned);
    case 7:
        return is_less(b, a, is_unsigned) ? a : b;
    default:
        return is_less(a, b, is_unsigned) ? a : b;
    }
}

static int64_t of_bits(int32_t kind, int64_t a, int64_t b, bool is_unsigned)
{
    switch (kind) {
    case 9:
        return (int64_t)((uint64_t)a & (uint64_t)b);
    case 10:
        return (int64_t)((uint64_t)a | (uint64_t)b);
    case 11:
        return (int64_t)((uint64_t)a ^ (uint64_t)b);
    case 12:
        return shifted_left(a, b);
    default:
        return shifted_right(a, b, is_unsigned);
    }
}

static bool holds(int32_t kind, int64_t a, int64_t b, bool is_unsigned)
{
    switch (kind) {
    case 14:
        return a == b;
    case 15:
        return is_less(a, b, is_unsigned);
    default:
        return !is_less(b, a, is_unsigned);
    }
}

static int64_t result_of(int32_t kind, int64_t a, int64_t b, bool is_unsigned)
{
    if (kind < 9) {
        return calculated(kind, a, b, is_unsigned);
    }
    return (kind < 14) ? of_bits(kind, a, b, is_unsigned) : (int64_t)holds(kind, a, b, is_unsigned);
}

void cg_plain_pair(const cg_plain_params *params, const void *lhs, const void *rhs, void *output)
{
    const cg_axes *const n = &params->shape.extent;
    const cg_axes *const l = &params->shape.lhs_step;
    const cg_axes *const r = &params->shape.rhs_step;
    const int32_t type = params->type;
    const int32_t result = (params->kind < 14) ? type : CG_PLAIN_BOOL;
    const size_t size = cg_plain_size(type);
    uint8_t *out = (uint8_t *)output;
    for (int32_t i0 = 0; i0 < n->d0; i0++) {
        for (int32_t i1 = 0; i1 < n->d1; i1++) {
            for (int32_t i2 = 0; i2 < n->d2; i2++) {
                for (int32_t i3 = 0; i3 < n->d3; i3++) {
                    int32_t a = (i0 * l->d0) + (i1 * l->d1) + (i2 * l->d2) + (i3 * l->d3);
                    int32_t b = (i0 * r->d0) + (i1 * r->d1) + (i2 * r->d2) + (i3 * r->d3);
                    for (int32_t i4 = 0; i4 < n->d4; i4++) {
                        const uint8_t *const x = (const uint8_t *)lhs + ((size_t)a * size);
                        const uint8_t *const y = (const uint8_t *)rhs + ((size_t)b * size);
                        const int64_t found =
                            result_of(params->kind, cg_plain_load(type, x), cg_plain_load(type, y),
                                      type == CG_PLAIN_U64);
                        cg_plain_store(result, found, out);
                        out += cg_plain_size(result);
                        a += l->d4;
                        b += r->d4;
                    }
                }
            }
        }
    }
}
