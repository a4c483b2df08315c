/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_matmul_mve_parts.h -- BATCH_MATMUL of int8, Helium: lays columns out one after the other where
 * they are not, then two rows after two, which assembly multiplies. Zero points stay in the
 * factors: what they add to a sum is a term of its row and one of its column. MATMUL is the
 * function's name, MATMUL_ROWS that of the assembly. Included by kernels only.
 */
#ifndef CG_MATMUL_MVE_PARTS_H
#define CG_MATMUL_MVE_PARTS_H

#include <stddef.h>

#include "cg_matmul_mve.h"
#include "cg_reducing.h"

/* Rows of lhs or columns of rhs, "lines". batch_matmul_parts_s8_mve.S and
 * cg_matmul_rows_mve.inc know these offsets. */
typedef struct {
    int32_t apart; /* from one line to the next */
    int32_t next;  /* from one factor to the next */
    int32_t depth;
    int32_t zero; /* minus the zero point of the other side */
    int32_t term; /* of a line whose factors add up to 0 */
} cg_matmul_side_mve;

/* And these. */
typedef struct {
    const int8_t *rows[2];
    int32_t terms[2]; /* of the rows */
    int32_t multiplier;
    int32_t shift;
    const int8_t *columns;
    int32_t apart; /* from one column to the next */
    int32_t depth;
    const int32_t *column_terms;
    int32_t count; /* of columns */
    int32_t out_zero;
} cg_matmul_rows_mve;

/* The terms of `count` lines; where factors are not contiguous they are laid out at `to`. */
void cg_matmul_lines_s8_mve(const cg_matmul_side_mve *side, const int8_t *from, int32_t *terms,
                            int32_t count, int8_t *to);

/* All results of two rows. */
void MATMUL_ROWS(const cg_matmul_rows_mve *rows, int8_t *first, int8_t *second);

static int8_t *multiply(const cg_matmul_params *p, const int8_t *lhs, const int8_t *rhs,
                        int32_t *workspace, int8_t *output)
{
    const cg_matmul_side_mve left = {p->lhs_row, p->lhs_next, p->depth, -p->rhs_zero, 0};
    const cg_matmul_side_mve right = {p->rhs_column, p->rhs_next, p->depth, -p->lhs_zero,
                                      p->depth * p->lhs_zero * p->rhs_zero};
    int8_t *const packed = (int8_t *)&workspace[p->columns];
    int8_t *const pair = &packed[(p->rhs_next == 1) ? 0 : (p->columns * p->depth)];
    const int32_t apart = (p->lhs_next == 1) ? p->lhs_row : p->depth;
    cg_matmul_rows_mve rows;
    rows.multiplier = p->multiplier;
    rows.shift = p->shift;
    rows.columns = (p->rhs_next == 1) ? rhs : packed;
    rows.apart = (p->rhs_next == 1) ? p->rhs_column : p->depth;
    rows.depth = p->depth;
    rows.column_terms = workspace;
    rows.count = p->columns;
    rows.out_zero = p->out_zero;
    cg_matmul_lines_s8_mve(&right, rhs, workspace, p->columns, packed);
    for (int32_t row = 0; row < p->rows; row += 2) {
        const int32_t second =
            ((row + 1) == p->rows) ? 0 : 1; /* the first again, if there is none */
        cg_matmul_lines_s8_mve(&left, lhs, rows.terms, 1 + second, pair);
        rows.rows[0] = (p->lhs_next == 1) ? lhs : pair;
        rows.rows[1] = &rows.rows[0][second * apart];
        rows.terms[1] = rows.terms[second];
        MATMUL_ROWS(&rows, output, &output[second * p->columns]);
        lhs += 2 * p->lhs_row;
        output += (1 + second) * p->columns;
    }
    return output;
}

void MATMUL(const cg_matmul_params *params, const int8_t *lhs, const int8_t *rhs, void *workspace,
            int8_t *output)
{
    CG_EACH_PAIR_OF_MATRICES(
        params, a, b, output = multiply(params, &lhs[a], &rhs[b], (int32_t *)workspace, output))
}

#endif /* CG_MATMUL_MVE_PARTS_H */
