/* SPDX-License-Identifier: 0BSD */
/*
 * sized.c -- generated; do not edit. Provenance: see the header.
 *
 * Memory map. One row a step, one column per some bytes of a pool; a letter marks the buffer that
 * owns the bytes (see the table below), '*' is a workspace, '.' is free.
 * It is that of the largest sizes, as are offsets and bytes in comments.
 *
 * sram pool, 640 bytes (lower bound 640), 16 bytes a column
 *              0x000           0x100           0x200    live bytes
 *    0 conv0   ....................AAAAAAAAAA..........        160
 *    1 conv1   BBBBBBBBBBBBBBBBBBBBAAAAAAAAAA..........        480
 *    2 dw2     BBBBBBBBBBBBBBBBBBBBAAAAAAAAAACCCCCCCCCC        640  <- peak
 *    3 concat3 DDDDDDDDDDDDDDDDDDDDAAAAAAAAAACCCCCCCCCC        640  <- peak
 *    4 conv4   DDDDDDDDDDDDDDDDDDDDEEEEEEEEEEEEEEEEEEEE        640  <- peak
 *    5 add5    FFFFFFFFFFFFFFFFFFFFEEEEEEEEEEEEEEEEEEEE        640  <- peak  F over D
 *    6 conv6   FFFFFFFFFFFFFFFFFFFF....................        320
 *
 * id  values   pool    offset    bytes  align  steps
 * A   conv0    sram     0x140      160      8  0..3
 * B   conv1    sram     0x000      320      8  1..2
 * C   dw2      sram     0x1e0      160      8  2..3
 * D   concat3  sram     0x000      320      8  3..5
 * E   conv4    sram     0x140      320      8  4..5
 * F   add5     sram     0x000      320      8  5..6
 */
#include "sized.h"

#include <stdbool.h>
#include <stddef.h>

#include "sized_data.h"
#include "sized_kernels.h"

#if CG_RUNTIME_ABI != 1
#error "generated for runtime ABI 1: generate this model again"
#endif

/* The model that hooks are told of. */
#define CG_MODEL sized_model

/* ---- constants ------------------------------------------------------------------------ */

cg_status sized_set_constants(sized_workspace_pools *pools, const void *image, uint32_t size_bytes)
{
    static const cg_constants_expected expected = {
        .size_bytes = SIZED_CONSTANTS_SIZE,
        .alignment = 16u,
        .layout = {0x03020100u, 0x07060504u, 0x0b0a0908u, 0x0f0e0d0cu},
    };
    if (pools == NULL) {
        return CG_ERR_NULL_POINTER;
    }
    const cg_status status = cg_check_constants(image, size_bytes, &expected);
    if (status == CG_OK) {
        pools->constants = (const struct sized_constants_image *)image;
    }
    return status;
}

/* ---- layer parameters ----------------------------------------------------------------- */

static const cg_conv_params conv0_params_copied = {
    .window =
        {
            .batch = 1,
            .in = {.w = 1, .c = 8},
            .out = {.w = 1, .c = 8},
            .kernel_h = 3,
            .kernel_w = 1,
            .stride_h = 2,
            .stride_w = 1,
            .dilation_h = 1,
            .dilation_w = 1,
        },
    .groups = 1,
    .in_zero = -3,
    .out_zero = -3,
    .act_min = -3,
    .act_max = 127,
};

static const cg_conv_params conv1_params_copied = {
    .window =
        {
            .batch = 1,
            .in = {.w = 1, .c = 8},
            .out = {.w = 1, .c = 8},
            .kernel_h = 1,
            .kernel_w = 1,
            .stride_h = 1,
            .stride_w = 1,
            .dilation_h = 1,
            .dilation_w = 1,
        },
    .groups = 1,
    .in_zero = -3,
    .out_zero = -3,
    .act_min = -3,
    .act_max = 127,
};

static const cg_conv_params dw2_params_copied = {
    .window =
        {
            .batch = 1,
            .in = {.w = 1, .c = 8},
            .out = {.w = 1, .c = 8},
            .kernel_h = 4,
            .kernel_w = 1,
            .stride_h = 2,
            .stride_w = 1,
            .dilation_h = 1,
            .dilation_w = 1,
            .pad_top = 1,
        },
    .groups = 1,
    .in_zero = -3,
    .out_zero = -3,
    .act_min = -3,
    .act_max = 127,
};

static const cg_conv_params conv4_params_copied = {
    .window =
        {
            .batch = 1,
            .in = {.w = 1, .c = 8},
            .out = {.w = 1, .c = 16},
            .kernel_h = 2,
            .kernel_w = 1,
            .stride_h = 2,
            .stride_w = 1,
            .dilation_h = 1,
            .dilation_w = 1,
        },
    .groups = 1,
    .in_zero = -3,
    .out_zero = -3,
    .act_min = -3,
    .act_max = 127,
};

static const cg_add_params add5_params_copied = {
    .shape =
        {
            .extent = {.d0 = 1, .d1 = 1, .d2 = 1, .d3 = 1},
            .lhs_step = {.d4 = 1},
            .rhs_step = {.d4 = 1},
        },
    .lhs_zero = -3,
    .rhs_zero = -3,
    .out_zero = -3,
    .left_shift = 20,
    .lhs_multiplier = 1073741824,
    .rhs_multiplier = 1073741824,
    .out_multiplier = 1073741824,
    .out_shift = -18,
    .act_min = -128,
    .act_max = 127,
};

static const cg_conv_params conv6_params_copied = {
    .window =
        {
            .batch = 1,
            .in = {.w = 1, .c = 16},
            .out = {.w = 1, .c = 4},
            .kernel_h = 1,
            .kernel_w = 1,
            .stride_h = 1,
            .stride_w = 1,
            .dilation_h = 1,
            .dilation_w = 1,
        },
    .groups = 1,
    .in_zero = -3,
    .out_zero = -3,
    .act_min = -3,
    .act_max = 127,
};

/* ---- sizes ---------------------------------------------------------------------------- */

static bool sizes_are_in_range(const sized_dims *dims)
{
    return (dims->T >= SIZED_T_MIN) && (dims->T <= SIZED_T_MAX);
}

uint32_t sized_workspace_bytes(const sized_dims *dims, uint32_t pool)
{
    if ((dims == NULL) || !sizes_are_in_range(dims)) {
        return 0u;
    }
    switch (pool) {
    case SIZED_POOL_SRAM: {
        const int32_t T = (int32_t)dims->T;
        /* axis 1 of conv0: 5 to 20 */
        const int32_t conv0_dim1 = (T + 1) / 2;
        return (uint32_t)(32 * conv0_dim1);
    }
    default:
        return 0u;
    }
}

cg_status sized_x0_shape(const sized_dims *dims, int32_t shape[SIZED_X0_RANK])
{
    if ((dims == NULL) || (shape == NULL)) {
        return CG_ERR_NULL_POINTER;
    }
    if (!sizes_are_in_range(dims)) {
        return CG_ERR_SIZE;
    }
    const int32_t T = (int32_t)dims->T;
    shape[0] = 1;
    shape[1] = T;
    shape[2] = 1;
    shape[3] = 8;
    return CG_OK;
}

cg_status sized_v13_shape(const sized_dims *dims, int32_t shape[SIZED_V13_RANK])
{
    if ((dims == NULL) || (shape == NULL)) {
        return CG_ERR_NULL_POINTER;
    }
    if (!sizes_are_in_range(dims)) {
        return CG_ERR_SIZE;
    }
    const int32_t T = (int32_t)dims->T;
    /* axis 1 of conv0: 5 to 20 */
    const int32_t conv0_dim1 = (T + 1) / 2;
    shape[0] = 1;
    shape[1] = conv0_dim1;
    shape[2] = 1;
    shape[3] = 4;
    return CG_OK;
}

/* Checks that a call has all it needs, before anything is touched. */
static cg_status check_call(const sized_workspace_pools *pools, const sized_inputs *inputs,
                            const sized_outputs *outputs, const sized_dims *dims)
{
    if ((pools == NULL) || (pools->sram == NULL)) {
        return CG_ERR_NULL_POINTER;
    }
    if ((uintptr_t)pools->sram % SIZED_SRAM_POOL_ALIGNMENT != 0u) {
        return CG_ERR_POOL_ALIGNMENT;
    }
    if ((inputs == NULL) || (inputs->x0 == NULL) || (outputs == NULL) || (outputs->v13 == NULL)) {
        return CG_ERR_NULL_POINTER;
    }
    if (dims == NULL) {
        return CG_ERR_NULL_POINTER;
    }
    if (!sizes_are_in_range(dims)) {
        return CG_ERR_SIZE;
    }
    if (pools->sram_size_bytes < sized_workspace_bytes(dims, SIZED_POOL_SRAM)) {
        return CG_ERR_POOL_SIZE;
    }
    if (pools->constants == NULL) {
        return CG_ERR_CONSTANTS_MISSING;
    }
    return CG_OK;
}

/* ---- steps ---------------------------------------------------------------------------- */

/* 0: CONV_2D x0 1xTx1x8 -> conv0 1xconv0_dim1x1x8; sram 0x140, 160 bytes, steps 0..3 */
static void step_0_conv0(const sized_workspace_pools *pools, const sized_inputs *inputs,
                         const sized_dims *dims)
{
    const int32_t T = (int32_t)dims->T;
    /* axis 1 of conv0: 5 to 20 */
    const int32_t conv0_dim1 = (T + 1) / 2;
    /* padding of conv0: 1 to 2 */
    const int32_t conv0_pad_rows = -T + 2 * conv0_dim1 + 1;
    const int8_t *const x0 = inputs->x0;
    int8_t *const conv0 = (int8_t *)&pools->sram[16 * conv0_dim1];
    cg_conv_params conv0_params;
    cg_copy_params(&conv0_params, &conv0_params_copied, sizeof conv0_params);
    conv0_params.window.in.h = T;
    conv0_params.window.out.h = conv0_dim1;
    conv0_params.window.pad_top = conv0_pad_rows - 1;
    const cg_conv_weights conv0_weights = {
        .weight = pools->constants->flash.conv0_weight,
        .bias = pools->constants->flash.conv0_bias,
        .multiplier = pools->constants->flash.conv0_multiplier,
        .shift = pools->constants->flash.conv4_shift,
        .scale_step = 1,
    };
    CG_STEP_BEGIN(0u);
    cg_conv2d_s8(&conv0_params, &conv0_weights, x0, conv0);
    CG_STEP_END(0u);
}

/* 1: CONV_2D x0 1xTx1x8 -> conv1 1xTx1x8; sram 0x000, 320 bytes, steps 1..2 */
static void step_1_conv1(const sized_workspace_pools *pools, const sized_inputs *inputs,
                         const sized_dims *dims)
{
    const int32_t T = (int32_t)dims->T;
    const int8_t *const x0 = inputs->x0;
    int8_t *const conv1 = (int8_t *)&pools->sram[0x000];
    cg_conv_params conv1_params;
    cg_copy_params(&conv1_params, &conv1_params_copied, sizeof conv1_params);
    conv1_params.window.in.h = T;
    conv1_params.window.out.h = T;
    const cg_conv_weights conv1_weights = {
        .weight = pools->constants->flash.conv1_weight,
        .bias = pools->constants->flash.conv1_bias,
        .multiplier = pools->constants->flash.conv1_multiplier,
        .shift = pools->constants->flash.conv1_shift,
        .scale_step = 1,
    };
    CG_STEP_BEGIN(1u);
    cg_conv2d_s8(&conv1_params, &conv1_weights, x0, conv1);
    CG_STEP_END(1u);
}

/* 2: DEPTHWISE_CONV_2D conv1 1xTx1x8 -> dw2 1xconv0_dim1x1x8; sram 0x1e0, 160 bytes, steps 2..3 */
static void step_2_dw2(const sized_workspace_pools *pools, const sized_dims *dims)
{
    const int32_t T = (int32_t)dims->T;
    /* axis 1 of conv0: 5 to 20 */
    const int32_t conv0_dim1 = (T + 1) / 2;
    int8_t *const conv1 = (int8_t *)&pools->sram[0x000];
    int8_t *const dw2 = (int8_t *)&pools->sram[24 * conv0_dim1];
    cg_conv_params dw2_params;
    cg_copy_params(&dw2_params, &dw2_params_copied, sizeof dw2_params);
    dw2_params.window.in.h = T;
    dw2_params.window.out.h = conv0_dim1;
    const cg_conv_weights dw2_weights = {
        .weight = pools->constants->flash.dw2_weight,
        .bias = pools->constants->flash.dw2_bias,
        .multiplier = pools->constants->flash.conv4_multiplier,
        .shift = pools->constants->flash.dw2_shift,
        .scale_step = 1,
    };
    CG_STEP_BEGIN(2u);
    cg_depthwise_conv2d_s8(&dw2_params, &dw2_weights, conv1, dw2);
    CG_STEP_END(2u);
}

/*
 * 3: CONCATENATION conv0 1xconv0_dim1x1x8 + dw2 1xconv0_dim1x1x8 -> concat3 1xconv0_dim1x1x16; sram
 * 0x000, 320 bytes, steps 3..5
 */
static void step_3_concat3(const sized_workspace_pools *pools, const sized_dims *dims)
{
    const int32_t T = (int32_t)dims->T;
    /* axis 1 of conv0: 5 to 20 */
    const int32_t conv0_dim1 = (T + 1) / 2;
    int8_t *const conv0 = (int8_t *)&pools->sram[16 * conv0_dim1];
    int8_t *const dw2 = (int8_t *)&pools->sram[24 * conv0_dim1];
    int8_t *const concat3 = (int8_t *)&pools->sram[0x000];
    const void *const concat3_addresses[] = {conv0, dw2};
    const cg_concat_params concat3_params = {
        .rows = conv0_dim1,
        .count = 2,
        .row_bytes = pools->constants->flash.concat3_row_bytes,
    };
    CG_STEP_BEGIN(3u);
    cg_concat(&concat3_params, concat3_addresses, concat3);
    CG_STEP_END(3u);
}

/* 4: CONV_2D x0 1xTx1x8 -> conv4 1xconv0_dim1x1x16; sram 0x140, 320 bytes, steps 4..5 */
static void step_4_conv4(const sized_workspace_pools *pools, const sized_inputs *inputs,
                         const sized_dims *dims)
{
    const int32_t T = (int32_t)dims->T;
    /* axis 1 of conv0: 5 to 20 */
    const int32_t conv0_dim1 = (T + 1) / 2;
    const int8_t *const x0 = inputs->x0;
    int8_t *const conv4 = (int8_t *)&pools->sram[16 * conv0_dim1];
    cg_conv_params conv4_params;
    cg_copy_params(&conv4_params, &conv4_params_copied, sizeof conv4_params);
    conv4_params.window.in.h = T;
    conv4_params.window.out.h = conv0_dim1;
    const cg_conv_weights conv4_weights = {
        .weight = pools->constants->flash.conv4_weight,
        .bias = pools->constants->flash.conv4_bias,
        .multiplier = pools->constants->flash.conv4_multiplier,
        .shift = pools->constants->flash.conv4_shift,
        .scale_step = 1,
    };
    CG_STEP_BEGIN(4u);
    cg_conv2d_s8(&conv4_params, &conv4_weights, x0, conv4);
    CG_STEP_END(4u);
}

/*
 * 5: ADD concat3 1xconv0_dim1x1x16 + conv4 1xconv0_dim1x1x16 -> add5 1xconv0_dim1x1x16; sram 0x000,
 * 320 bytes, steps 5..6, over concat3
 */
static void step_5_add5(const sized_workspace_pools *pools, const sized_dims *dims)
{
    const int32_t T = (int32_t)dims->T;
    /* axis 1 of conv0: 5 to 20 */
    const int32_t conv0_dim1 = (T + 1) / 2;
    int8_t *const concat3 = (int8_t *)&pools->sram[0x000];
    int8_t *const conv4 = (int8_t *)&pools->sram[16 * conv0_dim1];
    int8_t *const add5 = (int8_t *)&pools->sram[0x000];
    cg_add_params add5_params;
    cg_copy_params(&add5_params, &add5_params_copied, sizeof add5_params);
    add5_params.shape.extent.d4 = 16 * conv0_dim1;
    CG_STEP_BEGIN(5u);
    cg_add_s8(&add5_params, concat3, conv4, add5);
    CG_STEP_END(5u);
}

/* 6: CONV_2D add5 1xconv0_dim1x1x16 -> conv6 1xconv0_dim1x1x4; at outputs->v13 */
static void step_6_conv6(const sized_workspace_pools *pools, const sized_outputs *outputs,
                         const sized_dims *dims)
{
    const int32_t T = (int32_t)dims->T;
    /* axis 1 of conv0: 5 to 20 */
    const int32_t conv0_dim1 = (T + 1) / 2;
    int8_t *const add5 = (int8_t *)&pools->sram[0x000];
    int8_t *const conv6 = outputs->v13;
    cg_conv_params conv6_params;
    cg_copy_params(&conv6_params, &conv6_params_copied, sizeof conv6_params);
    conv6_params.window.in.h = conv0_dim1;
    conv6_params.window.out.h = conv0_dim1;
    const cg_conv_weights conv6_weights = {
        .weight = pools->constants->flash.conv6_weight,
        .bias = pools->constants->flash.conv6_bias,
        .multiplier = pools->constants->flash.conv4_multiplier,
        .shift = pools->constants->flash.conv4_shift,
        .scale_step = 1,
    };
    CG_STEP_BEGIN(6u);
    cg_conv2d_s8(&conv6_params, &conv6_weights, add5, conv6);
    CG_STEP_END(6u);
}

cg_status sized_step(uint32_t step, const sized_workspace_pools *pools, const sized_inputs *inputs,
                     const sized_outputs *outputs, const sized_dims *dims)
{
    const cg_status ready = check_call(pools, inputs, outputs, dims);
    if (ready != CG_OK) {
        return ready;
    }
    switch (step) {
    case 0u:
        step_0_conv0(pools, inputs, dims);
        break;
    case 1u:
        step_1_conv1(pools, inputs, dims);
        break;
    case 2u:
        step_2_dw2(pools, dims);
        break;
    case 3u:
        step_3_concat3(pools, dims);
        break;
    case 4u:
        step_4_conv4(pools, inputs, dims);
        break;
    case 5u:
        step_5_add5(pools, dims);
        break;
    case 6u:
        step_6_conv6(pools, outputs, dims);
        break;
    default:
        return CG_ERR_STEP;
    }
    return CG_OK;
}

/* ---- entry function ------------------------------------------------------------------- */

cg_status sized_run(const sized_workspace_pools *pools, const sized_inputs *inputs,
                    const sized_outputs *outputs, const sized_dims *dims)
{
    const cg_status ready = check_call(pools, inputs, outputs, dims);
    if (ready != CG_OK) {
        return ready;
    }

    for (uint32_t step = 0; step < SIZED_STEPS; step++) {
        const cg_status status = sized_step(step, pools, inputs, outputs, dims);
        if (status != CG_OK) {
            return status;
        }
    }

    return CG_OK;
}

/* ---- for hooks and the linker --------------------------------------------------------- */

#ifdef CG_MODEL_HOOKS
/* clang-format off */
static const char *const sized_step_names[] = {SIZED_STEP_NAMES};
const cg_model sized_model = {
    .name = SIZED_NAME,
    .step_names = sized_step_names,
    .steps = SIZED_STEPS,
};
/* clang-format on */
#endif

CG_REQUIRE(cg_runtime_of_version_000102030405);
const uint8_t sized_header_and_library_of_build_000102030405 = 0;

/* The linker finds it twice where an image would have two builds of this name. */
extern const uint8_t sized_ERROR_built_twice__build_one_with_option_name;
const uint8_t sized_ERROR_built_twice__build_one_with_option_name = 0;
