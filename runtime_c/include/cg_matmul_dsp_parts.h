/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_matmul_dsp_parts.h -- BATCH_MATMUL of int8, DSP extension: widens all columns of a matrix,
 * then two rows after two, which assembly multiplies. MATMUL is the function's name, MATMUL_ROWS
 * that of the assembly. Included by kernels only.
 */
#ifndef CG_MATMUL_DSP_PARTS_H
#define CG_MATMUL_DSP_PARTS_H

#include <stddef.h>

#include "cg_matmul_dsp.h"
#include "cg_reducing.h"

/* Rows of lhs or columns of rhs. batch_matmul_parts_s8_dsp.S and
 * cg_matmul_rows_dsp.inc know these offsets. */
typedef struct {
    uint32_t zeros; /* minus the zero point, in both halves */
    int32_t groups; /* of four factors */
    int32_t rest;   /* factors behind them, 0 to 3 */
    int32_t next;   /* from one factor to the next */
} cg_matmul_side_dsp;

/* And these. */
typedef struct {
    const int32_t *rows; /* two, widened */
    const int32_t *columns;
    int32_t groups;
    int32_t count; /* of columns */
    int32_t multiplier;
    int32_t shift;
    int32_t out_zero;
} cg_matmul_rows_dsp;

/* Two rows, `apart` from each other, without their zero point: of factors k0 to k3 {a0 a2} {b0 b2}
 * {a1 a3} {b1 b3}; of the last ones zeros follow. */
void cg_matmul_pack_words_dsp(const cg_matmul_side_dsp *side, const int8_t *first, int32_t apart,
                              int32_t *to);
void cg_matmul_pack_bytes_dsp(const cg_matmul_side_dsp *side, const int8_t *first, int32_t apart,
                              int32_t *to);

/* All results of two rows; where `second` is `first` the second row is none. */
void MATMUL_ROWS(const cg_matmul_rows_dsp *rows, int8_t *first, int8_t *second);

static void pack(const cg_matmul_side_dsp *side, const int8_t *first, int32_t apart, int32_t *to)
{
    const uint32_t bits = (uint32_t)(uintptr_t)first | (uint32_t)apart | (uint32_t)side->rest;
    if ((side->next == 1) && ((bits & 3u) == 0u)) {
        cg_matmul_pack_words_dsp(side, first, apart, to);
    } else {
        cg_matmul_pack_bytes_dsp(side, first, apart, to);
    }
}

static cg_matmul_side_dsp side_of(const cg_matmul_params *p, int32_t zero, int32_t next)
{
    const cg_matmul_side_dsp side = {
        .zeros = ((uint32_t)-zero & 0xFFFFu) * 0x10001u,
        .groups = p->depth / 4,
        .rest = p->depth % 4,
        .next = next,
    };
    return side;
}

static int8_t *multiply(const cg_matmul_params *p, const int8_t *lhs, const int8_t *rhs,
                        int32_t *workspace, int8_t *output)
{
    const cg_matmul_side_dsp left = side_of(p, p->lhs_zero, p->lhs_next);
    const cg_matmul_side_dsp right = side_of(p, p->rhs_zero, p->rhs_next);
    const int32_t groups = (p->depth + 3) / 4;
    const cg_matmul_rows_dsp rows = {
        .rows = workspace,
        .columns = &workspace[4 * groups],
        .groups = groups,
        .count = p->columns,
        .multiplier = p->multiplier,
        .shift = p->shift,
        .out_zero = p->out_zero,
    };
    int32_t *to = &workspace[4 * groups];
    for (int32_t column = 0; column < p->columns; column += 2) {
        pack(&right, rhs, ((column + 1) < p->columns) ? p->rhs_column : 0, to);
        rhs += 2 * p->rhs_column;
        to += 4 * groups;
    }
    for (int32_t row = 0; row < p->rows; row += 2) {
        const bool is_last = (row + 1) == p->rows;
        pack(&left, lhs, is_last ? 0 : p->lhs_row, workspace);
        MATMUL_ROWS(&rows, output, is_last ? output : &output[p->columns]);
        lhs += 2 * p->lhs_row;
        output += (is_last ? 1 : 2) * p->columns;
    }
    return output;
}

void MATMUL(const cg_matmul_params *params, const int8_t *lhs, const int8_t *rhs, void *workspace,
            int8_t *output)
{
    CG_EACH_PAIR_OF_MATRICES(
        params, a, b, output = multiply(params, &lhs[a], &rhs[b], (int32_t *)workspace, output))
}

#endif /* CG_MATMUL_DSP_PARTS_H */
