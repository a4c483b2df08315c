/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_kernels_families.h -- portable kernels of families of operators: one function serves several
 * operators, or one macro several element types. What cg_kernels.h says of all kernels holds here.
 */
#ifndef CG_KERNELS_FAMILIES_H
#define CG_KERNELS_FAMILIES_H

#include "cg_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Elements of int64 are aligned to 4 bytes: no core needs more. */
typedef int64_t CG_MAY_ALIAS cg_s64 __attribute__((aligned(4)));

/* ---- one argument ------------------------------------------------------------------------- */

/* CAST: what an integer has no room for is cut off. Front to back; a narrower result in place. */
void cg_cast_s16_s32(const cg_s16 *input, cg_s32 *output, int32_t count);
void cg_cast_s32_s8(const cg_s32 *input, int8_t *output, int32_t count);

/* ---- two arguments, with broadcasting ----------------------------------------------------- */

/* `kind`: which operator of the family. All are in place of what is not broadcast. */
typedef struct {
    cg_broadcast shape;
    int32_t kind;
} cg_pair_params;

/* Kind 0: MAXIMUM (LOGICAL_OR), 1: MINIMUM (LOGICAL_AND). */
void cg_extreme_s8(const cg_pair_params *params, const int8_t *lhs, const int8_t *rhs,
                   int8_t *output);
void cg_extreme_u8(const cg_pair_params *params, const uint8_t *lhs, const uint8_t *rhs,
                   uint8_t *output);
void cg_extreme_s16(const cg_pair_params *params, const cg_s16 *lhs, const cg_s16 *rhs,
                    cg_s16 *output);
void cg_extreme_s32(const cg_pair_params *params, const cg_s32 *lhs, const cg_s32 *rhs,
                    cg_s32 *output);
void cg_extreme_s64(const cg_pair_params *params, const cg_s64 *lhs, const cg_s64 *rhs,
                    cg_s64 *output);
void cg_extreme_f32(const cg_pair_params *params, const cg_f32 *lhs, const cg_f32 *rhs,
                    cg_f32 *output);

/* Both arguments are brought to one scale first. */
typedef struct {
    cg_broadcast shape;
    int32_t kind;
    int32_t lhs_zero;
    int32_t rhs_zero;
    int32_t lhs_multiplier;
    int32_t rhs_multiplier;
    int32_t lhs_shift;
    int32_t rhs_shift;
} cg_compare_params;

/* Kind 0: EQUAL, 1: NOT_EQUAL, 2: LESS, 3: LESS_EQUAL. The result is 1 or 0. */
void cg_compare_s8(const cg_compare_params *params, const int8_t *lhs, const int8_t *rhs,
                   uint8_t *output);
void cg_compare_u8(const cg_pair_params *params, const uint8_t *lhs, const uint8_t *rhs,
                   uint8_t *output);
void cg_compare_s16(const cg_pair_params *params, const cg_s16 *lhs, const cg_s16 *rhs,
                    uint8_t *output);
void cg_compare_s32(const cg_pair_params *params, const cg_s32 *lhs, const cg_s32 *rhs,
                    uint8_t *output);
void cg_compare_s64(const cg_pair_params *params, const cg_s64 *lhs, const cg_s64 *rhs,
                    uint8_t *output);
void cg_compare_f32(const cg_pair_params *params, const cg_f32 *lhs, const cg_f32 *rhs,
                    uint8_t *output);

typedef struct {
    cg_broadcast shape;
    int32_t kind;
    int32_t act_min;
    int32_t act_max;
} cg_arithmetic_params;

/* Kind 0: ADD, 1: SUB, 2: MUL, 3: DIV towards zero, 4: SQUARED_DIFFERENCE; all wrap. */
void cg_arithmetic_s32(const cg_arithmetic_params *params, const cg_s32 *lhs, const cg_s32 *rhs,
                       cg_s32 *output);

/* A quotient by 0 is the end of the range on the side of the dividend. */
void cg_div_s8(const cg_mul_params *params, const int8_t *lhs, const int8_t *rhs, int8_t *output);
void cg_div_f32(const cg_binary_params_f32 *params, const cg_f32 *lhs, const cg_f32 *rhs,
                cg_f32 *output);

/* floor(lhs / rhs), and what it leaves: of the sign of rhs. Kind 0: FLOOR_DIV, 1: FLOOR_MOD; of
 * int32 it wraps, and by 0 it is 0. */
void cg_floor_s32(const cg_pair_params *params, const cg_s32 *lhs, const cg_s32 *rhs,
                  cg_s32 *output);
void cg_floor_div_f32(const cg_pair_params *params, const cg_f32 *lhs, const cg_f32 *rhs,
                      cg_f32 *output);
void cg_floor_mod_f32(const cg_pair_params *params, const cg_f32 *lhs, const cg_f32 *rhs,
                      cg_f32 *output);

void cg_squared_difference_s8(const cg_add_params *params, const int8_t *lhs, const int8_t *rhs,
                              int8_t *output);
void cg_squared_difference_s16(const cg_add_params *params, const cg_s16 *lhs, const cg_s16 *rhs,
                               cg_s16 *output);
void cg_squared_difference_f32(const cg_binary_params_f32 *params, const cg_f32 *lhs,
                               const cg_f32 *rhs, cg_f32 *output);

typedef struct {
    cg_broadcast shape;
    int32_t in_zero;
    int32_t slope_zero;
    int32_t out_zero;
    int32_t multiplier;
    int32_t shift;
    int32_t slope_multiplier; /* with the slope's scale */
    int32_t slope_shift;
    int32_t act_min;
    int32_t act_max;
} cg_prelu_params;

/* lhs from 0 on, lhs * rhs below. */
void cg_prelu_s8(const cg_prelu_params *params, const int8_t *lhs, const int8_t *rhs,
                 int8_t *output);
void cg_prelu_s16(const cg_prelu_params *params, const cg_s16 *lhs, const int8_t *rhs,
                  cg_s16 *output);
void cg_prelu_f32(const cg_pair_params *params, const cg_f32 *lhs, const cg_f32 *rhs,
                  cg_f32 *output);

/* Steps of condition, lhs and rhs in bytes. */
typedef struct {
    cg_axes extent;
    cg_axes condition_step;
    cg_axes lhs_step;
    cg_axes rhs_step;
    int32_t element_bytes;
} cg_select_params;

/* lhs where the condition is not 0, else rhs. */
void cg_select(const cg_select_params *params, const uint8_t *condition, const void *lhs,
               const void *rhs, void *output);

/* ---- reductions, products of matrices ------------------------------------------------------ */

typedef struct {
    cg_reduction reduction;
    int32_t kind;
} cg_reduce_params;

/* Kind 0: REDUCE_MAX, 1: REDUCE_MIN. Results build up in the output itself. */
void cg_reduce_s8(const cg_reduce_params *params, const int8_t *input, int8_t *output);
void cg_reduce_s16(const cg_reduce_params *params, const cg_s16 *input, cg_s16 *output);
void cg_reduce_s32(const cg_reduce_params *params, const cg_s32 *input, cg_s32 *output);
void cg_reduce_u8(const cg_reduce_params *params, const uint8_t *input, uint8_t *output);
void cg_reduce_f32(const cg_reduce_params *params, const cg_f32 *input, cg_f32 *output);

typedef struct {
    int32_t outer;
    int32_t extent;
    int32_t inner;
    int32_t kind;
} cg_arg_params;

/* Kind 0: ARG_MAX, 1: ARG_MIN: the first index of what wins. */
void cg_arg_s8(const cg_arg_params *params, const int8_t *input, cg_s32 *output);
void cg_arg_f32(const cg_arg_params *params, const cg_f32 *input, cg_s32 *output);

/* The outer axes, broadcast; steps between rows, columns and factors say what is transposed. */
typedef struct {
    cg_axes extent;
    cg_axes lhs_step;
    cg_axes rhs_step;
    int32_t rows;
    int32_t columns;
    int32_t depth;
    int32_t lhs_row;  /* elements from one row of lhs to the next */
    int32_t lhs_next; /* from one factor of a sum to the next */
    int32_t rhs_column;
    int32_t rhs_next;
    int32_t lhs_zero;
    int32_t rhs_zero;
    int32_t out_zero;
    int32_t multiplier;
    int32_t shift;
} cg_matmul_params;

typedef struct {
    cg_axes extent;
    cg_axes lhs_step;
    cg_axes rhs_step;
    int32_t rows;
    int32_t columns;
    int32_t depth;
    int32_t lhs_row;  /* elements from one row of lhs to the next */
    int32_t lhs_next; /* from one factor of a sum to the next */
    int32_t rhs_column;
    int32_t rhs_next;
} cg_matmul_params_f32;

void cg_batch_matmul_s8(const cg_matmul_params *params, const int8_t *lhs, const int8_t *rhs,
                        int8_t *output);
/* `multiplier` of 15 bits, `shift` to the right: sums have 64 bits. */
void cg_batch_matmul_s16(const cg_matmul_params *params, const cg_s16 *lhs, const cg_s16 *rhs,
                         cg_s16 *output);
void cg_batch_matmul_f32(const cg_matmul_params_f32 *params, const cg_f32 *lhs, const cg_f32 *rhs,
                         cg_f32 *output);

/* MEAN; with a count of 1 SUM. Workspace: 8 bytes a result; sub-steps as cg_mean_s8. */
void cg_mean_s32(const cg_reduction *params, const cg_s32 *input, cg_s32 *output, void *workspace);

/* Zero points, multiplier and shift are not read for int32 and float32. */
typedef struct {
    int32_t outer;
    int32_t extent;
    int32_t inner;
    int32_t exclusive;
    int32_t reverse;
    int32_t in_zero;
    int32_t out_zero;
    int32_t multiplier;
    int32_t shift;
} cg_cumsum_params;

/* In place where `inner` is 1 and `reverse` 0. */
void cg_cumsum_s8(const cg_cumsum_params *params, const int8_t *input, int8_t *output);
void cg_cumsum_s32(const cg_cumsum_params *params, const cg_s32 *input, cg_s32 *output);
void cg_cumsum_f32(const cg_cumsum_params *params, const cg_f32 *input, cg_f32 *output);

/* For int32 and float32 only `elements` and `count` are read. */
typedef struct {
    int32_t elements;
    int32_t count; /* of inputs */
    int32_t in_zero;
    int32_t out_zero;
    int32_t multiplier;
    int32_t shift;
} cg_add_n_params;

/* In place of any input. */
void cg_add_n_s8(const cg_add_n_params *params, const void *const *inputs, int8_t *output);
void cg_add_n_s32(const cg_add_n_params *params, const void *const *inputs, cg_s32 *output);
void cg_add_n_f32(const cg_add_n_params *params, const void *const *inputs, cg_f32 *output);

typedef struct {
    int32_t rows;
    int32_t depth;
    int32_t in_zero;
} cg_rows_params;

/* In place. */
void cg_l2_normalization_s8(const cg_rows_params *params, const int8_t *input, int8_t *output);
void cg_l2_normalization_f32(const cg_rows_params *params, const cg_f32 *input, cg_f32 *output);

void cg_log_softmax_f32(const cg_rows_params *params, const cg_f32 *input, cg_f32 *output);

typedef struct {
    int32_t rows;
    int32_t depth; /* below 4096 */
    int32_t multiplier;
    int32_t shift;
    int32_t diff_min;
    int32_t reverse_multiplier;
    int32_t reverse_shift;
} cg_log_softmax_params;

/* Result scale 1/16, zero point 127. In place. */
void cg_log_softmax_s8(const cg_log_softmax_params *params, const int8_t *input, int8_t *output);

typedef struct {
    cg_axes extent;     /* of the part */
    cg_axes room;       /* largest start along each axis */
    cg_axes step_bytes; /* of the whole; 0 in front of the first axis */
    int32_t rank;
    int32_t index_words; /* of 4 bytes an index */
    int32_t row_bytes;   /* of the part's last axis */
    int32_t bytes;       /* of the whole */
} cg_update_params;

/* In place of the input; apart from part and starts. */
void cg_update_slice(const cg_update_params *params, const void *input, const void *part,
                     const cg_s32 *starts, void *output);

/* ---- sequences ----------------------------------------------------------------------------- */

typedef struct {
    int32_t multiplier;
    int32_t shift;
} cg_scaling;

/* Gates are input, forget, cell, output. A sequence has rows of `inputs`, the results of `units`.
 */
typedef struct {
    int32_t batches;
    int32_t steps;
    int32_t inputs;
    int32_t units;
    int32_t step_rows;  /* rows from one step to the next */
    int32_t batch_rows; /* rows from one batch to the next */
    cg_scaling input[4];
    cg_scaling recurrent[4];
    cg_scaling forget;
    cg_scaling update;
    cg_scaling hidden;
    int32_t hidden_zero;
    int32_t tanh_multiplier;
    int32_t tanh_shift;
    int32_t clip; /* largest cell state; 32767: none */
} cg_lstm_params;

/*
 * State and output are aligned to words: cell states (int16) of all batches, then hidden states;
 * of the output these are the new ones, and what the layer gives follows. They do not overlap.
 * `weights` and `recurrent`: by unit, by input, by gate; `bias`: by unit, for sequence and hidden
 * state, by gate; `gates`: 8 bytes a unit.
 */
void cg_lstm_s8(const cg_lstm_params *params, const uint16_t *sigmoids, const int8_t *weights,
                const int8_t *recurrent, const int32_t *bias, const int8_t *sequence,
                const int8_t *state, void *gates, int8_t *output);
/*
 * LSTM on int16 without zero points: scalings of sums have multipliers of 15 bits and shifts to
 * the right; `bias`: by unit, by gate.
 */
void cg_lstm_s16(const cg_lstm_params *params, const uint16_t *sigmoids, const int8_t *weights,
                 const int8_t *recurrent, const int64_t *bias, const cg_s16 *sequence,
                 const cg_s16 *state, void *gates, cg_s16 *output);

typedef struct {
    int32_t batches;
    int32_t steps;
    int32_t inputs;
    int32_t units;
    int32_t step_rows;
    int32_t batch_rows;
    float clip; /* largest cell state */
} cg_lstm_params_f32;

/* LSTM on floats, `bias` by unit, by gate; `gates`: 16 bytes a unit. */
void cg_lstm_f32(const cg_lstm_params_f32 *params, const float *weights, const float *recurrent,
                 const float *bias, const cg_f32 *sequence, const cg_f32 *state, void *gates,
                 cg_f32 *output);

/* An activation by its number (cg_gated_parts.h). */
typedef struct {
    int32_t function;
    float alpha;
    float beta;
} cg_gated_active;

/* Layers of gated units; `reverse`: a sequence is read from its last moment on. */
typedef struct {
    int32_t moments;
    int32_t batches;
    int32_t inputs;
    int32_t units;
    int32_t linear_before_reset;
    int32_t reverse;
    float clip; /* largest sum in front of an activation */
    cg_gated_active active[2];
} cg_gated_params;

/*
 * GRU of float32. The output is the new hidden states of all batches, then those of each moment,
 * 0 behind the `lengths` of the sequences; it does not overlap others. Rows of weights lie four at
 * a time, value by value: those of update and reset gates, filled up to a multiple of four, then
 * those of fresh states, filled up too. `bias`: in the same order, then what the hidden state adds
 * to the fresh states where `linear_before_reset`. `gates`: as many bytes as that.
 */
void cg_gru_f32(const cg_gated_params *params, const float *weights, const float *recurrent,
                const float *bias, const cg_f32 *sequence, const cg_f32 *state,
                const cg_s32 *lengths, void *gates, cg_f32 *output);
/* GRU on cores with an FPU, and with float Helium, which rounds a product and its sum once. */
void cg_gru_f32_fpu(const cg_gated_params *params, const float *weights, const float *recurrent,
                    const float *bias, const cg_f32 *sequence, const cg_f32 *state,
                    const cg_s32 *lengths, void *gates, cg_f32 *output);
void cg_gru_f32_mve(const cg_gated_params *params, const float *weights, const float *recurrent,
                    const float *bias, const cg_f32 *sequence, const cg_f32 *state,
                    const cg_s32 *lengths, void *gates, cg_f32 *output);
/* RNN: the same with the rows of one gate. */
void cg_rnn_f32(const cg_gated_params *params, const float *weights, const float *recurrent,
                const float *bias, const cg_f32 *sequence, const cg_f32 *state,
                const cg_s32 *lengths, void *gates, cg_f32 *output);
void cg_rnn_f32_fpu(const cg_gated_params *params, const float *weights, const float *recurrent,
                    const float *bias, const cg_f32 *sequence, const cg_f32 *state,
                    const cg_s32 *lengths, void *gates, cg_f32 *output);
void cg_rnn_f32_mve(const cg_gated_params *params, const float *weights, const float *recurrent,
                    const float *bias, const cg_f32 *sequence, const cg_f32 *state,
                    const cg_s32 *lengths, void *gates, cg_f32 *output);

/* A window has `length` frames of `rows` times `filters` elements; a unit sums `rank` filters. */
typedef struct {
    int32_t rows;
    int32_t filters;
    int32_t length; /* products of a filter */
    int32_t rank;
    int32_t multiplier;
    int32_t shift;
    int32_t zero; /* of the int8 values, or of the int8 results */
} cg_svdf_params;

/* A frame: rows of `length` by [filters, length]. They do not overlap. */
void cg_svdf_features_s16(const cg_svdf_params *params, const int8_t *rows, const int8_t *weights,
                          cg_s16 *frame);
/* Results of a window; weights [length, filters]. They do not overlap. */
void cg_svdf_time_s16(const cg_svdf_params *params, const cg_s16 *window, const cg_s16 *weights,
                      const int32_t *bias, int8_t *output);

/* ---- resizing ------------------------------------------------------------------------------ */

/* Result i of an axis is at i * step + start, in units of 2^-10 of a pixel; images have NHWC
 * layout. */
typedef struct {
    int32_t batches;
    int32_t rows;
    int32_t columns;
    int32_t channels;
    int32_t out_rows;
    int32_t out_columns;
    int32_t row_step;
    int32_t row_start;
    int32_t column_step;
    int32_t column_start;
} cg_resize_params;

/* Result i of an axis is at (i + middle) * scale - middle, in pixels. */
typedef struct {
    int32_t batches;
    int32_t rows;
    int32_t columns;
    int32_t channels;
    int32_t out_rows;
    int32_t out_columns;
    float row_scale;
    float column_scale;
    float middle;
} cg_resize_params_f32;

void cg_resize_bilinear_s8(const cg_resize_params *params, const int8_t *input, int8_t *output);
void cg_resize_bilinear_f32(const cg_resize_params_f32 *params, const cg_f32 *input,
                            cg_f32 *output);

/* ---- one argument ------------------------------------------------------------------------- */

/* In place. */
void cg_logical_not(const uint8_t *input, uint8_t *output, int32_t count);

#ifdef __cplusplus
}
#endif

#endif /* CG_KERNELS_FAMILIES_H */
