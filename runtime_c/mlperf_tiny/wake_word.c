/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wake_word.c -- sound to the features of MLPerf Tiny's streaming wake word, as its reference
 * defines them: pre-emphasis, Hamming window, power spectrum, mel bands, decibels between 0 and 1.
 */
#include "wake_word.h"

#include "cg_log_f32.h"

#define POINTS           (CG_WAKE_WORD_WINDOW / 2u) /* complex ones of the transform */
#define EMPHASIS         0.96875f
#define FULL_SCALE       (1.0f / 32768.0f)
#define LEAST_POWER      1e-30f
#define DECIBELS         4.342944819f /* of a natural logarithm: 10 / ln 10 */
#define OFFSET_DECIBELS  52.0f
#define DECIBELS_TO_UNIT (1.0f / 64.0f)

/* Samples as the real transform wants them: even ones real parts, odd ones imaginary parts. */
static void load_window(const float *window, const int16_t *samples, int16_t before, float *work)
{
    float last = (float)before * FULL_SCALE;
    for (uint32_t i = 0; i < CG_WAKE_WORD_WINDOW; i++) {
        const float value = (float)samples[i] * FULL_SCALE;
        work[i] = (value - last * EMPHASIS) * window[i];
        last = value;
    }
}

static void reverse_bits(float *work)
{
    uint32_t other = 0;
    for (uint32_t i = 0; i < POINTS - 1u; i++) {
        if (i < other) {
            for (uint32_t part = 0; part < 2u; part++) {
                const float kept = work[2u * i + part];
                work[2u * i + part] = work[2u * other + part];
                work[2u * other + part] = kept;
            }
        }
        uint32_t bit = POINTS / 2u;
        while ((other & bit) != 0) {
            other ^= bit;
            bit /= 2u;
        }
        other |= bit;
    }
}

/* Complex transform in place, by halves of even and odd points. */
static void transform(const float *twiddles, float *work)
{
    reverse_bits(work);
    for (uint32_t half = 1; half < POINTS; half *= 2u) {
        const uint32_t stride = 2u * (POINTS / half);
        for (uint32_t j = 0; j < half; j++) {
            const float turn_real = twiddles[j * stride];
            const float turn_imaginary = twiddles[j * stride + 1u];
            for (uint32_t i = j; i < POINTS; i += 2u * half) {
                float *const low = &work[2u * i];
                float *const high = &work[2u * (i + half)];
                const float real = high[0] * turn_real - high[1] * turn_imaginary;
                const float imaginary = high[0] * turn_imaginary + high[1] * turn_real;
                high[0] = low[0] - real;
                high[1] = low[1] - imaginary;
                low[0] += real;
                low[1] += imaginary;
            }
        }
    }
}

/* Squared magnitudes of bins 1 to POINTS - 1 of the real transform: bin k at work[2 k]. */
static void powers(const float *twiddles, float *work)
{
    for (uint32_t k = 1; k < POINTS / 2u; k++) {
        float *const low = &work[2u * k];
        float *const high = &work[2u * (POINTS - k)];
        const float even_real = 0.5f * (low[0] + high[0]);
        const float even_imaginary = 0.5f * (low[1] - high[1]);
        const float odd_real = 0.5f * (low[1] + high[1]);
        const float odd_imaginary = 0.5f * (high[0] - low[0]);
        const float turn_real = twiddles[2u * k];
        const float turn_imaginary = twiddles[2u * k + 1u];
        const float real = odd_real * turn_real - odd_imaginary * turn_imaginary;
        const float imaginary = odd_real * turn_imaginary + odd_imaginary * turn_real;
        const float sum_real = even_real + real;
        const float sum_imaginary = even_imaginary + imaginary;
        const float left_real = even_real - real;
        const float left_imaginary = even_imaginary - imaginary;
        low[0] = sum_real * sum_real + sum_imaginary * sum_imaginary;
        high[0] = left_real * left_real + left_imaginary * left_imaginary;
    }
    work[POINTS] = work[POINTS] * work[POINTS] + work[POINTS + 1u] * work[POINTS + 1u];
}

void cg_wake_word_features(const cg_wake_word_tables *tables, const int16_t *samples,
                           int16_t before, float *work, float *features)
{
    load_window(tables->window, samples, before, work);
    transform(tables->twiddles, work);
    powers(tables->twiddles, work);
    const float *weight = tables->weights;
    for (uint32_t band = 0; band < CG_WAKE_WORD_BANDS; band++) {
        const float *bin = &work[2u * tables->starts[band]];
        float power = 0.0f;
        for (uint32_t i = 0; i < tables->counts[band]; i++) {
            power += *bin * *weight;
            bin += 2;
            weight++;
        }
        power *= 1.0f / (float)CG_WAKE_WORD_WINDOW;
        power = power > LEAST_POWER ? power : LEAST_POWER;
        const float unit = (cg_log_one_f32(power) * DECIBELS + OFFSET_DECIBELS) * DECIBELS_TO_UNIT;
        features[band] = unit < 0.0f ? 0.0f : (unit > 1.0f ? 1.0f : unit);
    }
}
