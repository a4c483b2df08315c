/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_matmul_s8_v6m.c -- BATCH_MATMUL, int8, ARMv6-M: lays four columns out factor by factor
 * behind a term of each, as weights of fully connected layers, whose loop then takes row by row.
 * Zero points stay in the factors: what they add to a sum is a term of its row and one of its
 * column.
 */
#include "cg_needs_v6m.h"

#include "cg_conv_v6m_parts.h"
#include "cg_matmul_v6m.h"
#include "cg_reducing.h"

enum { TILE_COLUMNS = 4 };

static int32_t first_of(const cg_matmul_params *p, int32_t four)
{
    const int32_t last = p->columns - TILE_COLUMNS;
    return ((four * TILE_COLUMNS) < last) ? (four * TILE_COLUMNS) : last;
}

/* Lays four columns out factor by factor, behind the terms of the columns. */
static void lay_out(const cg_matmul_params *p, const int8_t *from, int32_t *terms)
{
    int8_t *const factors = (int8_t *)&terms[TILE_COLUMNS];
    const int32_t constant = p->depth * p->lhs_zero * p->rhs_zero;
    for (int32_t column = 0; column < TILE_COLUMNS; column++) {
        const int8_t *value = from;
        int8_t *to = &factors[column];
        int32_t sum = 0;
        for (int32_t i = 0; i < p->depth; i++) {
            *to = *value;
            sum += *value;
            to += TILE_COLUMNS;
            value += p->rhs_next;
        }
        terms[column] = constant - (p->lhs_zero * sum);
        from += p->rhs_column;
    }
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
    const int32_t words = TILE_COLUMNS + p->depth;
    for (int32_t i = 0; i < fours; i++) {
        lay_out(p, &rhs[first_of(p, i) * p->rhs_column], &workspace[i * words]);
    }
    for (int32_t row = 0; row < p->rows; row++) {
        const int32_t term = term_of_row(p, lhs);
        for (int32_t i = 0; i < fours; i++) {
            int8_t *const to = &output[first_of(p, i)];
            int32_t sums[TILE_COLUMNS];
            (void)cg_fc_sums_v6m(lhs, &workspace[i * words], p->depth, sums);
            for (int32_t column = 0; column < TILE_COLUMNS; column++) {
                to[column] = cg_store_s8(sums[column] + term, p->multiplier, p->shift, p->out_zero,
                                         -128, 127);
            }
        }
        lhs += p->lhs_row;
        output += p->columns;
    }
    return output;
}

void cg_batch_matmul_s8_v6m(const cg_matmul_params *params, const int8_t *lhs, const int8_t *rhs,
                            void *workspace, int8_t *output)
{
    CG_EACH_PAIR_OF_MATRICES(
        params, a, b, output = multiply(params, &lhs[a], &rhs[b], (int32_t *)workspace, output))
}
