/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_resize_s8.c -- int8 images in other sizes: four neighbours as real numbers, int8 again.
 */
#include "cg_kernels_qlinear.h"
#include "cg_round_even.h"

/* The part of one neighbour: products are rounded before they are added. */
static inline float part_of(const cg_table_resize_params *p, int32_t stored, float share)
{
    const float real = (float)(stored - p->zero) * p->scale;
    return cg_rounded_f32(share * real);
}

/* All channels of one pixel. `places`: offsets from `input`, at the top first, from the left. */
static int8_t *mix_pixel(const cg_table_resize_params *p, const int8_t *input,
                         const int32_t *places, const float *shares, int8_t *output)
{
    for (int32_t c = 0; c < p->channels; c++) {
        float sum = part_of(p, input[places[0] + c], shares[0]);
        for (int32_t i = 1; i < 4; i++) {
            sum += part_of(p, input[places[i] + c], shares[i]);
        }
        const int32_t stored = cg_round_even(sum / p->out_scale) + p->out_zero;
        *output++ = (int8_t)cg_clamp_s32(stored, -128, 127);
    }
    return output;
}

void cg_table_resize_s8(const cg_table_resize_params *params, const int32_t *rows,
                        const cg_f32 *row_shares, const int32_t *columns,
                        const cg_f32 *column_shares, const int8_t *input, int8_t *output)
{
    const cg_table_resize_params *const p = params;
    const int32_t row = p->columns * p->channels;
    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t y = 0; y < p->out_rows; y++) {
            const int32_t top = rows[y] * row;
            const int32_t bottom = (rows[y] + 1 < p->rows) ? (top + row) : top;
            for (int32_t x = 0; x < p->out_columns; x++) {
                const int32_t left = columns[x] * p->channels;
                const int32_t right = (columns[x] + 1 < p->columns) ? (left + p->channels) : left;
                const int32_t places[4] = {top + left, top + right, bottom + left, bottom + right};
                const cg_f32 *const above = &row_shares[2 * y];
                const cg_f32 *const beside = &column_shares[2 * x];
                const float shares[4] = {beside[0] * above[0], beside[1] * above[0],
                                         beside[0] * above[1], beside[1] * above[1]};
                output = mix_pixel(p, input, places, shares, output);
            }
        }
        input += p->rows * row;
    }
}
