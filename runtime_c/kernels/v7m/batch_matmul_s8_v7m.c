/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_matmul_s8_v7m.c -- BATCH_MATMUL, int8, ARMv7-M: lays four columns out factor by factor,
 * then two rows after two, which batch_matmul_parts_s8_v7m.S multiplies. Zero points stay in the
 * factors: what they add to a sum is a term of its row and one of its column.
 */
#include "cg_needs_v7m.h"

#include <stddef.h>

#include "cg_matmul_v7m.h"
#include "cg_reducing.h"

enum { TILE_COLUMNS = 4 };

/* Two rows. batch_matmul_parts_s8_v7m.S knows these offsets. */
typedef struct {
    const int8_t *rows[2];
    const int8_t *columns; /* four by four, factor by factor */
    int32_t terms[2];      /* of the rows */
    const int32_t *column_terms;
    int32_t multiplier;
    int32_t offset;
    int32_t shift;
    int8_t *outputs[2];
    int32_t fours;   /* of columns */
    int32_t earlier; /* the last four begin */
    int32_t depth;
    int32_t own[2]; /* of the assembly */
} cg_matmul_rows_v7m;

/* All results of two rows. */
void cg_matmul_rows_s8_v7m(cg_matmul_rows_v7m *rows);

/* Lays four columns out factor by factor, and computes the terms of the columns. */
static void lay_out(const cg_matmul_params *p, const int8_t *from, int8_t *to, int32_t *terms)
{
    const int32_t apart = p->rhs_column;
    int32_t a = 0;
    int32_t b = 0;
    int32_t c = 0;
    int32_t d = 0;
    for (int32_t i = 0; i < p->depth; i++) {
        to[0] = from[0];
        to[1] = from[apart];
        to[2] = from[2 * apart];
        to[3] = from[3 * apart];
        a += to[0];
        b += to[1];
        c += to[2];
        d += to[3];
        to += TILE_COLUMNS;
        from += p->rhs_next;
    }
    const int32_t constant = p->depth * p->lhs_zero * p->rhs_zero;
    terms[0] = constant - (p->lhs_zero * a);
    terms[1] = constant - (p->lhs_zero * b);
    terms[2] = constant - (p->lhs_zero * c);
    terms[3] = constant - (p->lhs_zero * d);
}

static int32_t term_of_row(const cg_matmul_params *p, const int8_t *row)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < p->depth; i++) {
        sum += row[i];
    }
    return -p->rhs_zero * sum;
}

static int8_t *multiply(const cg_matmul_params *p, const int8_t *lhs, const int8_t *rhs,
                        int32_t *workspace, int8_t *output)
{
    const int32_t fours = (p->columns + TILE_COLUMNS - 1) / TILE_COLUMNS;
    int8_t *const columns = (int8_t *)&workspace[fours * TILE_COLUMNS];
    for (int32_t i = 0; i < fours; i++) {
        const int32_t last = p->columns - TILE_COLUMNS;
        const int32_t first = ((i * TILE_COLUMNS) < last) ? (i * TILE_COLUMNS) : last;
        lay_out(p, &rhs[first * p->rhs_column], &columns[i * TILE_COLUMNS * p->depth],
                &workspace[i * TILE_COLUMNS]);
    }
    cg_matmul_rows_v7m rows;
    rows.multiplier = p->multiplier;
    rows.shift = p->shift;
    rows.offset = (int32_t)(((uint32_t)p->out_zero << p->shift) + ((1u << p->shift) / 2u));
    rows.earlier = (fours * TILE_COLUMNS) - p->columns;
    rows.depth = p->depth;
    for (int32_t row = 0; row < p->rows; row += 2) {
        /* The first again where there is no second. */
        const int32_t second = ((row + 1) == p->rows) ? 0 : 1;
        rows.rows[0] = lhs;
        rows.rows[1] = &lhs[second * p->lhs_row];
        rows.terms[0] = term_of_row(p, rows.rows[0]);
        rows.terms[1] = (second == 0) ? rows.terms[0] : term_of_row(p, rows.rows[1]);
        rows.columns = columns;
        rows.column_terms = workspace;
        rows.outputs[0] = output;
        rows.outputs[1] = &output[second * p->columns];
        rows.fours = fours;
        cg_matmul_rows_s8_v7m(&rows);
        lhs += 2 * p->lhs_row;
        output += (1 + second) * p->columns;
    }
    return output;
}

void cg_batch_matmul_s8_v7m(const cg_matmul_params *params, const int8_t *lhs, const int8_t *rhs,
                            void *workspace, int8_t *output)
{
    CG_EACH_PAIR_OF_MATRICES(
        params, a, b, output = multiply(params, &lhs[a], &rhs[b], (int32_t *)workspace, output))
}
