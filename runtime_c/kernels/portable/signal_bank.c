/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal_bank.c -- a bank of filters, and what is made of its channels.
 */
#include "cg_fixed_point.h"
#include "cg_kernels_signal.h"

void cg_signal_filter_bank(const cg_u32 *energies, const int16_t *weights, const int16_t *unweights,
                           const int16_t *starts, const int16_t *firsts, const int16_t *widths,
                           cg_u64 *output, int32_t channels)
{
    uint64_t carried = 0;
    for (int32_t channel = 0; channel <= channels; ++channel) {
        const cg_u32 *energy = &energies[starts[channel]];
        const int16_t *weight = &weights[firsts[channel]];
        const int16_t *unweight = &unweights[firsts[channel]];
        uint64_t own = carried;
        carried = 0;
        for (int32_t i = 0; i < widths[channel]; ++i) {
            own += cg_product_u32(energy[i], (uint16_t)weight[i]);
            carried += cg_product_u32(energy[i], (uint16_t)unweight[i]);
        }
        if (channel > 0) {
            output[channel - 1] = own;
        }
    }
}

static inline int32_t leading_zeros(uint32_t value)
{
    return __builtin_clz(value);
}

/* Rounded down. */
static uint32_t root_of_word(uint32_t value)
{
    uint32_t root = 0;
    for (uint32_t bit = UINT32_C(1) << 30; bit != 0u; bit >>= 2) {
        const uint32_t least = root + bit;
        root >>= 1;
        if (value >= least) {
            value -= least;
            root += bit;
        }
    }
    return root;
}

/* Rounded down, of a value of more than 32 bits: the upper half's root, then a division. */
static uint32_t root_of_pair(uint64_t value)
{
    const int32_t shift = leading_zeros((uint32_t)(value >> 32)) & ~1;
    const uint64_t whole = value << shift;
    const uint32_t top = (uint32_t)(whole >> 32);
    const uint32_t high = root_of_word(top);
    const uint32_t rest = ((top - (high * high)) << 15) | ((uint32_t)whole >> 17);
    uint32_t low = rest / high;
    low = (low > 0xFFFFu) ? 0xFFFFu : low;
    uint32_t root = (high << 16) + low;
    root -= (cg_product_u32(root, root) > whole) ? 1u : 0u;
    return root >> (shift / 2);
}

void cg_signal_square_root(const cg_u64 *squares, const cg_s32 *shift, cg_u32 *output,
                           int32_t count)
{
    const uint32_t right = (uint32_t)*shift & 31u;
    for (int32_t i = 0; i < count; ++i) {
        const uint64_t square = squares[i];
        const int is_word = (square >> 32) == 0u;
        uint32_t root = is_word ? root_of_word((uint32_t)square) : root_of_pair(square);
        const uint32_t most = is_word ? 0xFFFFu : 0xFFFFFFFFu;
        if (((square - cg_product_u32(root, root)) > root) && (root != most)) {
            ++root;
        }
        output[i] = root >> right;
    }
}

void cg_signal_noise(const cg_noise_params *params, const cg_u32 *signal, const cg_u32 *noise,
                     cg_u32 *output, int32_t count)
{
    for (int32_t i = 0; i < count; ++i) {
        const int is_odd = (i & 1) != 0;
        const uint32_t smoothing = is_odd ? params->odd_smoothing : params->smoothing;
        const uint32_t remaining = is_odd ? params->odd_remaining : params->remaining;
        const uint32_t scaled = signal[i] << params->smoothing_bits;
        const uint64_t both =
            cg_product_u32(scaled, smoothing) + cg_product_u32(noise[i], remaining);
        uint32_t found = (uint32_t)(both >> params->bits);
        if ((params->clamps != 0) && (found > scaled)) {
            found = scaled;
        }
        output[i] = found;
    }
}

void cg_signal_subtract(const cg_noise_params *params, const cg_u32 *signal, const cg_u32 *noise,
                        cg_u32 *output, int32_t count)
{
    for (int32_t i = 0; i < count; ++i) {
        const uint32_t value = signal[i];
        const uint32_t scaled = value << params->smoothing_bits;
        const uint32_t gone = (noise[i] > scaled) ? scaled : noise[i];
        const uint32_t rest = (scaled - gone) >> params->smoothing_bits;
        const uint32_t least = (uint32_t)(cg_product_u32(value, params->least) >> params->bits);
        output[i] = (rest > least) ? rest : least;
    }
}

/* A parabola for each power of two, `gains` from 3 on; the first three one by one. */
static int32_t gain_of(uint32_t noise, const int16_t *gains)
{
    if (noise <= 2u) {
        return gains[noise];
    }
    const int32_t bits = 32 - leading_zeros(noise);
    const int16_t *curve = &gains[(4 * bits) - 6];
    const uint32_t part = ((bits < 11) ? (noise << (11 - bits)) : (noise >> (bits - 11))) & 0x3FFu;
    const uint32_t bent = (uint32_t)(((int32_t)curve[2] * (int32_t)part) >> 5);
    const uint32_t slope = bent + ((uint32_t)(int32_t)curve[1] << 5);
    const int32_t rise = ((int32_t)(slope * part) + (1 << 14)) >> 15;
    return (int16_t)(rise + curve[0]);
}

void cg_signal_pcan(const cg_u32 *signal, const cg_u32 *noise, const int16_t *gains, cg_u32 *output,
                    int32_t count, int32_t shift)
{
    for (int32_t i = 0; i < count; ++i) {
        const uint32_t gain = (uint32_t)gain_of(noise[i], gains);
        const uint32_t ratio = (uint32_t)(cg_product_u32(signal[i], gain) >> shift);
        output[i] = (ratio < (2u << 12)) ? ((ratio * ratio) >> 20) : ((ratio >> 6) - 64u);
    }
}

void cg_signal_log(const cg_u32 *channels, const uint16_t *table, cg_s16 *output, int32_t count,
                   int32_t scale, int32_t shift)
{
    for (int32_t i = 0; i < count; ++i) {
        const uint32_t value = channels[i] << shift;
        uint32_t scaled = 0;
        if (value > 1u) {
            const int32_t whole = 31 - leading_zeros(value);
            const uint32_t above = value - (UINT32_C(1) << whole);
            const uint32_t part = (whole < 16) ? (above << (16 - whole)) : (above >> (whole - 16));
            const uint16_t *pair = &table[part >> 9];
            const int32_t between =
                (((int32_t)pair[1] - (int32_t)pair[0]) * (int32_t)(part & 0x1FFu)) >> 16;
            const uint32_t doubled =
                ((uint32_t)whole << 16) + part + (uint32_t)((int32_t)pair[0] + between);
            const uint32_t natural = (uint32_t)((cg_product_u32(45426u, doubled) + 32768u) >> 16);
            scaled = (((uint32_t)scale * natural) + 32768u) >> 16;
        }
        output[i] = (int16_t)((scaled < (uint32_t)INT16_MAX) ? scaled : (uint32_t)INT16_MAX);
    }
}
