/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_fft_parts.h -- a transform of real numbers and the way back, for one element type.
 *
 * Pairs of numbers are complex ones. They are taken in stages of four, the first one of two where
 * four do not fit; every stage but that of floats takes a quarter or half of each number first.
 * Whoever includes it defines
 *   FFT_SAMPLE, FFT_FACTOR, fft_value   element, factor, and what they are computed in
 *   FFT_QUARTER, FFT_HALF(x)            shares of a stage, rounded
 *   FFT_PLUS, FFT_MINUS(a, b)           sums, which may be wider than an element
 *   FFT_PRODUCTS(a, b, c, d)            a * b + c * d, rounded to an element
 *   FFT_KEPT(x), FFT_HALVED(x)          what an element holds, half of a sum
 *   FFT_IS_WHOLE                        1 where stages take no shares: the way back divides at last
 */
#ifndef CG_FFT_PARTS_H
#define CG_FFT_PARTS_H

#include <stdbool.h>

/* A call would pass numbers through memory. */
#define FFT_INLINE inline __attribute__((always_inline))

typedef struct {
    fft_value re;
    fft_value im;
} fft_number;

static FFT_INLINE fft_number fft_plus(fft_number a, fft_number b)
{
    const fft_number sum = {FFT_PLUS(a.re, b.re), FFT_PLUS(a.im, b.im)};
    return sum;
}

static FFT_INLINE fft_number fft_minus(fft_number a, fft_number b)
{
    const fft_number difference = {FFT_MINUS(a.re, b.re), FFT_MINUS(a.im, b.im)};
    return difference;
}

static FFT_INLINE fft_number fft_times(fft_number a, const FFT_FACTOR *factor)
{
    const fft_number product = {FFT_PRODUCTS(a.re, factor[0], -a.im, factor[1]),
                                FFT_PRODUCTS(a.re, factor[1], a.im, factor[0])};
    return product;
}

static FFT_INLINE void fft_store(FFT_SAMPLE *place, fft_number value)
{
    place[0] = FFT_KEPT(value.re);
    place[1] = FFT_KEPT(value.im);
}

static FFT_INLINE fft_number fft_quarter(const FFT_SAMPLE *place)
{
    const fft_number share = {FFT_QUARTER(place[0]), FFT_QUARTER(place[1])};
    return share;
}

static FFT_INLINE fft_number fft_half(const FFT_SAMPLE *place)
{
    const fft_number share = {FFT_HALF(place[0]), FFT_HALF(place[1])};
    return share;
}

/* Stores the sum of four numbers, and their sums with quarter turns, `apart` from each other. */
static FFT_INLINE void fft_join(fft_number a, fft_number b, fft_number c, fft_number d,
                                FFT_SAMPLE *place, int32_t apart, bool inverse)
{
    const fft_number even = fft_plus(a, c);
    const fft_number odd = fft_minus(a, c);
    const fft_number sum = fft_plus(b, d);
    const fft_number rest = fft_minus(b, d);
    const fft_number down = {FFT_PLUS(odd.re, rest.im), FFT_MINUS(odd.im, rest.re)};
    const fft_number up = {FFT_MINUS(odd.re, rest.im), FFT_PLUS(odd.im, rest.re)};
    fft_store(place, fft_plus(even, sum));
    fft_store(&place[apart], inverse ? up : down);
    fft_store(&place[2 * apart], fft_minus(even, sum));
    fft_store(&place[3 * apart], inverse ? down : up);
}

/* Elements from `size` on are zeros. */
static FFT_INLINE FFT_SAMPLE fft_element(const FFT_SAMPLE *input, int32_t place, int32_t size)
{
    return (place < size) ? input[place] : (FFT_SAMPLE)0;
}

/* The first stage, from the input in the order that later stages want. */
static FFT_INLINE int32_t fft_first(const FFT_SAMPLE *input, int32_t size, const uint16_t *order,
                                    FFT_SAMPLE *output, int32_t count, bool inverse)
{
    const int32_t leaf = (((uint32_t)count & 0x55555555u) != 0u) ? 4 : 2;
    const int32_t groups = count / leaf;
    for (int32_t group = 0; group < groups; ++group) {
        int32_t place = 2 * (int32_t)order[group];
        FFT_SAMPLE *to = &output[2 * leaf * group];
        FFT_SAMPLE taken[8];
        for (int32_t i = 0; i < 4; i += 2) {
            taken[i] = fft_element(input, place, size);
            taken[i + 1] = fft_element(input, place + 1, size);
            place += 2 * groups;
        }
        if (leaf == 4) {
            for (int32_t i = 4; i < 8; i += 2) {
                taken[i] = fft_element(input, place, size);
                taken[i + 1] = fft_element(input, place + 1, size);
                place += 2 * groups;
            }
            fft_join(fft_quarter(taken), fft_quarter(&taken[2]), fft_quarter(&taken[4]),
                     fft_quarter(&taken[6]), to, 2, inverse);
        } else {
            const fft_number a = fft_half(taken);
            const fft_number b = fft_half(&taken[2]);
            fft_store(to, fft_plus(a, b));
            fft_store(&to[2], fft_minus(a, b));
        }
    }
    return leaf;
}

/* The other stages, in place: `inner` numbers are done. A factor of 1 changes no share. */
static FFT_INLINE void fft_rest(FFT_SAMPLE *values, int32_t inner, int32_t count,
                                const FFT_FACTOR *twiddles, bool inverse)
{
    for (; inner < count; inner *= 4) {
        const int32_t apart = 2 * inner;
        const int32_t turn = 2 * (count / (4 * inner));
        for (int32_t block = 0; block < (2 * count); block += 4 * apart) {
            FFT_SAMPLE *place = &values[block];
            fft_join(fft_quarter(place), fft_quarter(&place[apart]), fft_quarter(&place[2 * apart]),
                     fft_quarter(&place[3 * apart]), place, apart, inverse);
        }
        for (int32_t k = 1; k < inner; ++k) {
            const FFT_FACTOR *first = &twiddles[k * turn];
            const FFT_FACTOR *second = &first[k * turn];
            const FFT_FACTOR *third = &second[k * turn];
            for (int32_t block = 2 * k; block < (2 * count); block += 4 * apart) {
                FFT_SAMPLE *place = &values[block];
                fft_join(fft_quarter(place), fft_times(fft_quarter(&place[apart]), first),
                         fft_times(fft_quarter(&place[2 * apart]), second),
                         fft_times(fft_quarter(&place[3 * apart]), third), place, apart, inverse);
            }
        }
    }
}

/* Numbers k and count - k of a spectrum: what they have in common and how they differ, turned. */
static FFT_INLINE void fft_apart(const FFT_SAMPLE *low, const FFT_SAMPLE *high,
                                 const FFT_FACTOR *split, fft_number *sum, fft_number *turned)
{
    const FFT_SAMPLE mirrored[2] = {high[0], FFT_KEPT(FFT_MINUS((fft_value)0, high[1]))};
    const fft_number one = fft_half(low);
    const fft_number other = fft_half(mirrored);
    *sum = fft_plus(one, other);
    *turned = fft_times(fft_minus(one, other), split);
}

static inline void fft_forward(const FFT_SAMPLE *input, const FFT_FACTOR *twiddles,
                               const FFT_FACTOR *splits, const uint16_t *order, FFT_SAMPLE *output,
                               int32_t rows, int32_t size, int32_t length)
{
    const int32_t count = length / 2;
    for (int32_t row = 0; row < rows; ++row) {
        FFT_SAMPLE *values = &output[row * (length + 2)];
        const int32_t leaf = fft_first(&input[row * size], size, order, values, count, false);
        fft_rest(values, leaf, count, twiddles, false);
        const fft_number ends = fft_half(values);
        const fft_number outer[2] = {{FFT_PLUS(ends.re, ends.im), 0},
                                     {FFT_MINUS(ends.re, ends.im), 0}};
        fft_store(values, outer[0]);
        fft_store(&values[length], outer[1]);
        for (int32_t k = 2; k <= count; k += 2) {
            FFT_SAMPLE *low = &values[k];
            FFT_SAMPLE *high = &values[length - k];
            fft_number sum;
            fft_number turned;
            fft_apart(low, high, &splits[k - 2], &sum, &turned);
            low[0] = FFT_KEPT(FFT_HALVED(FFT_PLUS(sum.re, turned.re)));
            low[1] = FFT_KEPT(FFT_HALVED(FFT_PLUS(sum.im, turned.im)));
            high[0] = FFT_KEPT(FFT_HALVED(FFT_MINUS(sum.re, turned.re)));
            high[1] = FFT_KEPT(FFT_HALVED(FFT_MINUS(turned.im, sum.im)));
        }
    }
}

static inline void fft_back(const FFT_SAMPLE *input, const FFT_FACTOR *twiddles,
                            const FFT_FACTOR *splits, const uint16_t *order, FFT_SAMPLE *space,
                            FFT_SAMPLE *output, int32_t rows, int32_t length)
{
    const int32_t count = length / 2;
    for (int32_t row = 0; row < rows; ++row) {
        const FFT_SAMPLE *values = &input[row * (length + 2)];
        const FFT_SAMPLE ends[2] = {FFT_KEPT(FFT_PLUS(values[0], values[length])),
                                    FFT_KEPT(FFT_MINUS(values[0], values[length]))};
        fft_store(space, fft_half(ends));
        for (int32_t k = 2; k <= count; k += 2) {
            fft_number sum;
            fft_number turned;
            fft_apart(&values[k], &values[length - k], &splits[k - 2], &sum, &turned);
            const fft_number low = fft_plus(sum, turned);
            const fft_number high = {FFT_MINUS(sum.re, turned.re), FFT_MINUS(turned.im, sum.im)};
            fft_store(&space[k], low);
            fft_store(&space[length - k], high);
        }
        FFT_SAMPLE *result = &output[row * length];
        const int32_t leaf = fft_first(space, length, order, result, count, true);
        fft_rest(result, leaf, count, twiddles, true);
        for (int32_t i = 0; FFT_IS_WHOLE && (i < length); ++i) {
            result[i] = (FFT_SAMPLE)(result[i] / (FFT_SAMPLE)length);
        }
    }
}

#define FFT_FUNCTIONS(name)                                                                        \
    void cg_rfft_##name(const FFT_SAMPLE *input, const FFT_FACTOR *twiddles,                       \
                        const FFT_FACTOR *splits, const uint16_t *order, FFT_SAMPLE *output,       \
                        int32_t rows, int32_t size, int32_t length)                                \
    {                                                                                              \
        fft_forward(input, twiddles, splits, order, output, rows, size, length);                   \
    }                                                                                              \
                                                                                                   \
    void cg_irfft_##name(const FFT_SAMPLE *input, const FFT_FACTOR *twiddles,                      \
                         const FFT_FACTOR *splits, const uint16_t *order, FFT_SAMPLE *space,       \
                         FFT_SAMPLE *output, int32_t rows, int32_t length)                         \
    {                                                                                              \
        fft_back(input, twiddles, splits, order, space, output, rows, length);                     \
    }

#endif
