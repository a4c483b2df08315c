/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal_frames.c -- SIGNAL_SCALE_BITS, SIGNAL_SCALE, SIGNAL_ENERGY, SIGNAL_OVERLAP_ADD.
 */
#include <stddef.h>

#include "cg_fixed_point.h"
#include "cg_kernels_signal.h"

void cg_signal_scale_bits(const cg_s16 *frame, cg_s32 *output, int32_t count)
{
    int32_t most = 0;
    for (int32_t i = 0; i < count; ++i) {
        const int32_t value = frame[i];
        if (value > most) {
            most = value;
        } else {
            const int32_t opposite = (value == INT16_MIN) ? INT16_MIN : -value;
            most = (-value > most) ? opposite : most;
        }
    }
    int32_t bits = 0;
    if (most > 0) {
        while (((uint32_t)most << bits) < 0x4000u) {
            ++bits;
        }
    }
    *output = bits;
}

void cg_signal_scale(const cg_s16 *frame, const cg_s32 *bits, cg_s16 *output, int32_t count)
{
    const uint32_t shift = (uint32_t)*bits & 31u;
    for (int32_t i = 0; i < count; ++i) {
        output[i] = (int16_t)((uint32_t)(int32_t)frame[i] << shift);
    }
}

void cg_signal_energy(const cg_s16 *spectrum, cg_u32 *output, int32_t first, int32_t stop,
                      int32_t count)
{
    for (int32_t i = 0; i < first; ++i) {
        output[i] = 0;
    }
    for (int32_t i = first; i < stop; ++i) {
        const int32_t re = spectrum[2 * i];
        const int32_t im = spectrum[(2 * i) + 1];
        output[i] = (uint32_t)(re * re) + (uint32_t)(im * im);
    }
    for (int32_t i = stop; i < count; ++i) {
        output[i] = 0;
    }
}

static inline int16_t sum_s16(int16_t a, int16_t b)
{
    return (int16_t)cg_clamp_s32((int32_t)a + b, INT16_MIN, INT16_MAX);
}

static inline float sum_f32(float a, float b)
{
    return a + b;
}

#define OVERLAP_ADD(name, type)                                                                    \
    void cg_signal_overlap_add_##name(const type *frames, const type *rest, type *output,          \
                                      int32_t rows, int32_t count, int32_t size, int32_t step)     \
    {                                                                                              \
        const int32_t left = size - step;                                                          \
        for (int32_t row = 0; row < rows; ++row) {                                                 \
            for (int32_t i = 0; i < left; ++i) {                                                   \
                output[i] = rest[i];                                                               \
            }                                                                                      \
            for (int32_t i = left; i < (left + (count * step)); ++i) {                             \
                output[i] = 0;                                                                     \
            }                                                                                      \
            for (int32_t frame = 0; frame < count; ++frame) {                                      \
                type *place = &output[frame * step];                                               \
                for (int32_t i = 0; i < size; ++i) {                                               \
                    place[i] = sum_##name(place[i], frames[i]);                                    \
                }                                                                                  \
                frames = &frames[size];                                                            \
            }                                                                                      \
            rest = &rest[left];                                                                    \
            output = &output[left + (count * step)];                                               \
        }                                                                                          \
    }

OVERLAP_ADD(s16, cg_s16)
OVERLAP_ADD(f32, cg_f32)
