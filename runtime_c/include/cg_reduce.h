/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_reduce.h -- REDUCE_MAX and REDUCE_MIN of int8 by the kernels of each instruction set.
 *
 * `_rows`: of each block the largest or smallest element of every column, block by block. `_lines`:
 * of each line. Where there are `_odd` ones too, those take any number of columns, anywhere, and
 * the others a multiple of 4, input and output at multiples of 4; else they take any. All read a
 * group of columns or a line, then write its results, front to back: in place.
 */
#ifndef CG_REDUCE_H
#define CG_REDUCE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All at least 1. Lines: `rows` of `columns` elements, the number of blocks plays no part. */
typedef struct {
    int32_t blocks;
    int32_t rows;
    int32_t columns;
} cg_reduce_blocks;

void cg_reduce_max_rows_s8_dsp(const cg_reduce_blocks *params, const int8_t *input, int8_t *output);
void cg_reduce_min_rows_s8_dsp(const cg_reduce_blocks *params, const int8_t *input, int8_t *output);
void cg_reduce_max_lines_s8_dsp(const cg_reduce_blocks *params, const int8_t *input,
                                int8_t *output);
void cg_reduce_min_lines_s8_dsp(const cg_reduce_blocks *params, const int8_t *input,
                                int8_t *output);
void cg_reduce_max_odd_rows_s8_dsp(const cg_reduce_blocks *params, const int8_t *input,
                                   int8_t *output);
void cg_reduce_min_odd_rows_s8_dsp(const cg_reduce_blocks *params, const int8_t *input,
                                   int8_t *output);
void cg_reduce_max_odd_lines_s8_dsp(const cg_reduce_blocks *params, const int8_t *input,
                                    int8_t *output);
void cg_reduce_min_odd_lines_s8_dsp(const cg_reduce_blocks *params, const int8_t *input,
                                    int8_t *output);

void cg_reduce_max_rows_s8_mve(const cg_reduce_blocks *params, const int8_t *input, int8_t *output);
void cg_reduce_min_rows_s8_mve(const cg_reduce_blocks *params, const int8_t *input, int8_t *output);
void cg_reduce_max_lines_s8_mve(const cg_reduce_blocks *params, const int8_t *input,
                                int8_t *output);
void cg_reduce_min_lines_s8_mve(const cg_reduce_blocks *params, const int8_t *input,
                                int8_t *output);

void cg_reduce_max_rows_s8_v7m(const cg_reduce_blocks *params, const int8_t *input, int8_t *output);
void cg_reduce_min_rows_s8_v7m(const cg_reduce_blocks *params, const int8_t *input, int8_t *output);
void cg_reduce_max_lines_s8_v7m(const cg_reduce_blocks *params, const int8_t *input,
                                int8_t *output);
void cg_reduce_min_lines_s8_v7m(const cg_reduce_blocks *params, const int8_t *input,
                                int8_t *output);

void cg_reduce_max_rows_s8_v6m(const cg_reduce_blocks *params, const int8_t *input, int8_t *output);
void cg_reduce_min_rows_s8_v6m(const cg_reduce_blocks *params, const int8_t *input, int8_t *output);
void cg_reduce_max_lines_s8_v6m(const cg_reduce_blocks *params, const int8_t *input,
                                int8_t *output);
void cg_reduce_min_lines_s8_v6m(const cg_reduce_blocks *params, const int8_t *input,
                                int8_t *output);
void cg_reduce_max_odd_rows_s8_v6m(const cg_reduce_blocks *params, const int8_t *input,
                                   int8_t *output);
void cg_reduce_min_odd_rows_s8_v6m(const cg_reduce_blocks *params, const int8_t *input,
                                   int8_t *output);
void cg_reduce_max_odd_lines_s8_v6m(const cg_reduce_blocks *params, const int8_t *input,
                                    int8_t *output);
void cg_reduce_min_odd_lines_s8_v6m(const cg_reduce_blocks *params, const int8_t *input,
                                    int8_t *output);

#ifdef __cplusplus
}
#endif

#endif /* CG_REDUCE_H */
