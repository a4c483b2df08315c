/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_mean_blocks.h -- MEAN and SUM of int8 over rows or lines, ARMv7-M and ARMv6-M.
 *
 * Bit-equal to cg_mean_s8, without its sums in memory. `_rows`: a result of every column of each
 * block, block by block; `_lines`: of each line. The `_odd` ones take any number of columns,
 * anywhere, the others a multiple of 4, input and output at multiples of 4. All read a group of
 * columns or a line, then write its results, front to back: in place.
 */
#ifndef CG_MEAN_BLOCKS_H
#define CG_MEAN_BLOCKS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All sizes at least 1. Lines: `rows` of `columns` elements, the number of blocks plays no part. */
typedef struct {
    int32_t blocks;
    int32_t rows;
    int32_t columns;
    int32_t sum_offset;
    int32_t multiplier;
    int32_t shift;
    int32_t out_zero;
} cg_mean_blocks;

void cg_mean_rows_s8_v7m(const cg_mean_blocks *params, const int8_t *input, int8_t *output);
void cg_mean_odd_rows_s8_v7m(const cg_mean_blocks *params, const int8_t *input, int8_t *output);
void cg_mean_lines_s8_v7m(const cg_mean_blocks *params, const int8_t *input, int8_t *output);
void cg_mean_odd_lines_s8_v7m(const cg_mean_blocks *params, const int8_t *input, int8_t *output);

void cg_mean_rows_s8_v6m(const cg_mean_blocks *params, const int8_t *input, int8_t *output);
void cg_mean_odd_rows_s8_v6m(const cg_mean_blocks *params, const int8_t *input, int8_t *output);
void cg_mean_lines_s8_v6m(const cg_mean_blocks *params, const int8_t *input, int8_t *output);
void cg_mean_odd_lines_s8_v6m(const cg_mean_blocks *params, const int8_t *input, int8_t *output);

/* The sums of four columns, `step` bytes from a row to the next. */
void cg_sums_s8_v7m(const int8_t *x, int32_t rows, int32_t step, int32_t sums[4]);
void cg_sums_s8_v6m(const int8_t *x, int32_t rows, int32_t step, int32_t sums[4]);

/* The sum of a line of whole words. */
int32_t cg_sum_s8_v7m(const int8_t *x, int32_t count);
int32_t cg_sum_s8_v6m(const int8_t *x, int32_t count);

/* The sum of `count` elements, `step` bytes from one to the next. */
int32_t cg_sum_steps_s8_v7m(const int8_t *x, int32_t step, int32_t count);
int32_t cg_sum_steps_s8_v6m(const int8_t *x, int32_t step, int32_t count);

#ifdef __cplusplus
}
#endif

#endif /* CG_MEAN_BLOCKS_H */
