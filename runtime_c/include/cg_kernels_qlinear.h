/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_kernels_qlinear.h -- kernels of operators of ONNX alone: int8 that rounds as ONNX does, and
 * numbers without scales. Parameters, shapes and overlap of the former are those of the kernels in
 * cg_kernels.h without `qlinear` in their name; what `multiplier` and `shift` mean is said in
 * cg_round_even.h. `scale_step` is 1.
 */
#ifndef CG_KERNELS_QLINEAR_H
#define CG_KERNELS_QLINEAR_H

#include "cg_kernels.h"
#include "cg_kernels_families.h"

#ifdef __cplusplus
extern "C" {
#endif

void cg_qlinear_conv2d_s8(const cg_conv_params *params, const cg_conv_weights *weights,
                          const int8_t *input, int8_t *output);
void cg_qlinear_conv2d_s8_row(const cg_conv_params *params, const cg_conv_weights *weights,
                              const cg_rows *input, int8_t *output, int32_t y, int32_t x_start,
                              int32_t x_stop);

void cg_qlinear_depthwise_conv2d_s8(const cg_conv_params *params, const cg_conv_weights *weights,
                                    const int8_t *input, int8_t *output);
void cg_qlinear_depthwise_conv2d_s8_row(const cg_conv_params *params,
                                        const cg_conv_weights *weights, const cg_rows *input,
                                        int8_t *output, int32_t y, int32_t x_start, int32_t x_stop);

void cg_qlinear_fully_connected_s8(const cg_fc_params *params, const cg_conv_weights *weights,
                                   const int8_t *input, int8_t *output);

/* One multiplier and shift for all sums. */
void cg_qlinear_batch_matmul_s8(const cg_matmul_params *params, const int8_t *lhs,
                                const int8_t *rhs, int8_t *output);

/* float32 to int8: the quotient by the scale, halves to even. Overlap as cg_quantize_f32_s8. */
void cg_quantize_linear_f32_s8(const cg_quantize_params *params, const cg_f32 *input,
                               int8_t *output, int32_t count);

typedef struct {
    int32_t rows;
    int32_t columns; /* 4,096 at most */
    int32_t inverse; /* of the result's scale, times 2^shift: from 2^30 on */
    int32_t shift;
    int32_t out_zero;
} cg_qlinear_softmax_params;

/* `powers`: exponentials of all differences from a row's largest element, that of -255 first. In
 * place. */
void cg_qlinear_softmax_s8(const cg_qlinear_softmax_params *params, const int32_t *powers,
                           const int8_t *input, int8_t *output);

typedef struct {
    int32_t rows;
    int32_t columns;       /* 4,096 at most */
    int32_t epsilon;       /* added to the square of columns times the deviation, in input units, */
    int32_t epsilon_shift; /* times 2^16, and so many bits less */
    int32_t aligned;       /* 28 less the bits of the columns' root, less 21 */
    int32_t shift;         /* bits of a result behind the point */
} cg_qlinear_layer_norm_params;

/* `scales`, `offsets`: one a column, zero point and rounding in the latter. In place. */
void cg_qlinear_layer_norm_s8(const cg_qlinear_layer_norm_params *params, const int32_t *scales,
                              const int32_t *offsets, const int8_t *input, int8_t *output);

typedef struct {
    cg_broadcast shape;
    int32_t lhs_zero;
    int32_t rhs_zero;
    int32_t out_zero;
    float lhs_scale;
    float rhs_scale; /* SUB: negated */
    float out_scale;
    int32_t act_min;
    int32_t act_max;
} cg_qlinear_pair_params;

/* In place of an argument that is not broadcast. */
void cg_qlinear_add_s8(const cg_qlinear_pair_params *params, const int8_t *lhs, const int8_t *rhs,
                       int8_t *output);
void cg_qlinear_add_s8_run(const cg_qlinear_pair_params *params, const int8_t *lhs,
                           const int8_t *rhs, int8_t *output, int32_t count);
void cg_qlinear_mul_s8(const cg_qlinear_pair_params *params, const int8_t *lhs, const int8_t *rhs,
                       int8_t *output);
void cg_qlinear_mul_s8_run(const cg_qlinear_pair_params *params, const int8_t *lhs,
                           const int8_t *rhs, int8_t *output, int32_t count);

typedef struct {
    int32_t batches;
    int32_t rows;
    int32_t columns;
    int32_t channels;
    int32_t out_rows;
    int32_t out_columns;
    int32_t zero;
    int32_t out_zero;
    float scale;
    float out_scale;
} cg_table_resize_params;

/*
 * Each element from four, as real numbers. `rows` and `columns`: the one in front of each of the
 * result; behind it is the next, or itself if it is the last. Shares are two each, of the one in
 * front first. No overlap.
 */
void cg_table_resize_s8(const cg_table_resize_params *params, const int32_t *rows,
                        const cg_f32 *row_shares, const int32_t *columns,
                        const cg_f32 *column_shares, const int8_t *input, int8_t *output);

/* ---- numbers without scales, of any element type ------------------------------------------ */

enum {
    CG_PLAIN_BOOL,
    CG_PLAIN_S8,
    CG_PLAIN_U8,
    CG_PLAIN_S16,
    CG_PLAIN_U16,
    CG_PLAIN_S32,
    CG_PLAIN_U32,
    CG_PLAIN_S64,
    CG_PLAIN_U64,
    CG_PLAIN_F32,
    CG_PLAIN_F64,
    CG_PLAIN_F16
};

typedef struct {
    int32_t from; /* CG_PLAIN_... */
    int32_t to;
    int32_t count;
} cg_plain_convert_params;

/* Floats towards zero; what an integer has no room for is cut off. No overlap. */
void cg_plain_convert(const cg_plain_convert_params *params, const void *input, void *output);

/* Converts from or to float64 (CG_PLAIN_F64), which the other one does not know. No overlap. */
void cg_plain_convert_f64(const cg_plain_convert_params *params, const void *input, void *output);

/* float16 (CG_PLAIN_F16) as float32, or back, to the nearest, of two to the even. No overlap. */
void cg_plain_convert_f16(const cg_plain_convert_params *params, const void *input, void *output);

/*
 * Kind 0: sum, 1: difference, 2: product, 3: quotient towards zero (by 0: 0), 4: rest of the
 * divisor's sign, 5: rest of the dividend's sign, 6: power, 7: larger, 8: smaller, 9: and, 10: or,
 * 11: exclusive or, 12: shifted left, 13: shifted right (signs stay), 14: equal, 15: less,
 * 16: less or equal (the last three give bool). What does not fit wraps. `type` is that of both
 * arguments.
 */
typedef struct {
    cg_broadcast shape;
    int32_t kind;
    int32_t type;
} cg_plain_params;

/* In place of an argument that is not broadcast, unless the result is bool. */
void cg_plain_pair(const cg_plain_params *params, const void *lhs, const void *rhs, void *output);

/*
 * Pairs of float64: kinds 0 to 3, 7, 8 and 14 to 16, as IEEE 754 has them. Larger and smaller:
 * no number if one is none, rhs of equal ones.
 */
void cg_plain_pair_f64(const cg_plain_params *params, const void *lhs, const void *rhs,
                       void *output);

#ifdef __cplusplus
}
#endif

#endif
