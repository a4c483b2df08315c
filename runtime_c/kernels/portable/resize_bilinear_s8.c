/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resize_bilinear_s8.c -- RESIZE_BILINEAR, int8: weights of 10 bits, half away from zero.
 *
 * If both weights of a pixel are sixteenths, as with 2, 4 and 8 times the size, four channels
 * are mixed at a time: moved by 128, two of them lie in a word's halves, and no sum leaves its
 * half. Pixels that fall on one of the image are copied: a quarter of them at twice the size.
 */
#include <string.h>

#include "cg_resize.h"

static int32_t place_of(const cg_resize_params *p, int32_t i, bool rows, int32_t *weight)
{
    const int32_t at =
        rows ? ((i * p->row_step) + p->row_start) : ((i * p->column_step) + p->column_start);
    const int32_t last = (rows ? p->rows : p->columns) - 1;
    if (at <= 0) {
        return 0;
    }
    const int32_t place = (int32_t)((uint32_t)at >> 10);
    if (place >= last) {
        return last;
    }
    *weight = (int32_t)((uint32_t)at & 1023u);
    return place;
}

/* Weights of top left, bottom left, top right, bottom right. */
typedef struct {
    int32_t a;
    int32_t b;
    int32_t c;
    int32_t d;
} corners;

static corners weights_of(int32_t one, int32_t down, int32_t beside)
{
    const corners w = {
        .a = (one - down) * (one - beside),
        .b = down * (one - beside),
        .c = (one - down) * beside,
        .d = down * beside,
    };
    return w;
}

/* A number of 20 bits behind the point, half away from zero. */
static int8_t rounded(int32_t sum)
{
    return (int8_t)((sum + 524288 + ((sum < 0) ? -1 : 0)) >> 20);
}

#define ODD_BYTES 0x00FF00FFu

/* Sums of numbers moved by 128, 8 bits behind the point, in both halves. A half below zero is
 * rounded away from it, which is down. */
static uint32_t rounded_halves(uint32_t sums)
{
    return sums + 0x007F007Fu + ((sums >> 15) & 0x00010001u);
}

static cg_u32 joined(uint32_t even, uint32_t odd)
{
    const uint32_t low = (rounded_halves(even) >> 8) & ODD_BYTES;
    return (low | (rounded_halves(odd) & ~ODD_BYTES)) ^ 0x80808080u;
}

static uint32_t moved(cg_u32 word)
{
    return word ^ 0x80808080u;
}

static void mix_two(const cg_u32 *a, const cg_u32 *b, int32_t weight, int32_t words, cg_u32 *output)
{
    const uint32_t behind = (uint32_t)weight;
    const uint32_t front = 256u - behind;
    for (int32_t i = 0; i < words; i++) {
        const uint32_t x = moved(a[i]);
        const uint32_t y = moved(b[i]);
        const uint32_t even = ((x & ODD_BYTES) * front) + ((y & ODD_BYTES) * behind);
        const uint32_t odd = (((x >> 8) & ODD_BYTES) * front) + (((y >> 8) & ODD_BYTES) * behind);
        output[i] = joined(even, odd);
    }
}

static void mix_four(const cg_u32 *const from[4], corners w, int32_t words, cg_u32 *output)
{
    const uint32_t weights[4] = {(uint32_t)w.a, (uint32_t)w.b, (uint32_t)w.c, (uint32_t)w.d};
    for (int32_t i = 0; i < words; i++) {
        uint32_t even = 0u;
        uint32_t odd = 0u;
        for (int32_t k = 0; k < 4; k++) {
            const uint32_t x = moved(from[k][i]);
            even += (x & ODD_BYTES) * weights[k];
            odd += ((x >> 8) & ODD_BYTES) * weights[k];
        }
        output[i] = joined(even, odd);
    }
}

static void mix_words(const int8_t *top, const int8_t *bottom, int32_t step, int32_t channels,
                      int32_t down, int32_t beside, int8_t *output)
{
    const cg_u32 *const from[4] = {
        (const cg_u32 *)(const void *)top,
        (const cg_u32 *)(const void *)bottom,
        (const cg_u32 *)(const void *)&top[step],
        (const cg_u32 *)(const void *)&bottom[step],
    };
    cg_u32 *const to = (cg_u32 *)(void *)output;
    const int32_t words = channels / 4;
    if (beside == 0) {
        mix_two(from[0], from[1], down * 16, words, to);
    } else if (down == 0) {
        mix_two(from[0], from[2], beside * 16, words, to);
    } else {
        mix_four(from, weights_of(16, down, beside), words, to);
    }
}

static void mix_bytes(const int8_t *top, const int8_t *bottom, int32_t step, int32_t channels,
                      int32_t down, int32_t beside, int8_t *output)
{
    const corners w = weights_of(1024, down, beside);
    for (int32_t c = 0; c < channels; c++) {
        output[c] = rounded((top[c] * w.a) + (bottom[c] * w.b) + (top[step + c] * w.c) +
                            (bottom[step + c] * w.d));
    }
}

static void mix(const int8_t *top, const int8_t *bottom, int32_t step, int32_t channels,
                int32_t down, int32_t beside, int8_t *output)
{
    if ((down == 0) && (beside == 0)) {
        memcpy(output, top, (size_t)channels);
        return;
    }
    const uint32_t places = (uint32_t)(uintptr_t)top | (uint32_t)(uintptr_t)bottom |
                            (uint32_t)(uintptr_t)output | (uint32_t)channels;
    if (((places & 3u) == 0u) && ((((uint32_t)down | (uint32_t)beside) & 63u) == 0u)) {
        mix_words(top, bottom, step, channels, down / 64, beside / 64, output);
    } else {
        mix_bytes(top, bottom, step, channels, down, beside, output);
    }
}

CG_DEFINE_RESIZE(cg_resize_bilinear_s8, cg_resize_params, int8_t, int32_t)
