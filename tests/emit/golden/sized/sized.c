/* SPDX-License-Identifier: 0BSD */
/*
 * sized.c -- generated; do not edit. Provenance: see the header.
 *
 * Memory map. One row a step, one column per some bytes of a pool; a letter marks the buffer that
 * owns the bytes (see the table below), '*' is a workspace, '.' is free.
 * It is that of the largest sizes, as are offsets and bytes in comments.
 *
 * sram pool, 960 bytes (lower bound 960), 32 bytes a column
 *              0x000           0x200          live bytes
 *    0 conv0   AAAAAAAAAA..........BBBBB.....        480
 *    1 conv1   AAAAAAAAAACCCCCCCCCCBBBBB.....        800
 *    2 dw2     AAAAAAAAAACCCCCCCCCCBBBBBDDDDD        960  <- peak
 *    3 concat3 AAAAAAAAAAEEEEEEEEEEBBBBBDDDDD        960  <- peak
 *    4 conv4   AAAAAAAAAAEEEEEEEEEEFFFFFFFFFF        960  <- peak
 *    5 add5    GGGGGGGGGGEEEEEEEEEEFFFFFFFFFF        960  <- peak
 *    6 conv6   GGGGGGGGHHH...................        328  H over G
 *
 * id  values   pool    offset    bytes  align  steps
 * A   x0       sram     0x000      320      8  0..4
 * B   conv0    sram     0x280      160      8  0..3
 * C   conv1    sram     0x140      320      8  1..2
 * D   dw2      sram     0x320      160      8  2..3
 * E   concat3  sram     0x140      320      8  3..5
 * F   conv4    sram     0x280      320      8  4..5
 * G   add5     sram     0x000      320      8  5..6
 * H   conv6    sram     0x0f8       80      8  6..6
 */
#include "sized.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "sized_data.h"
#include "sized_kernels.h"

#if CG_RUNTIME_ABI != 1
#error "generated for runtime ABI 1: generate this model again"
#endif

/* The model that hooks are told of. */
#define CG_MODEL sized_model

/* ---- pools ---------------------------------------------------------------------------- */

uint8_t sized_sram_pool[SIZED_SRAM_POOL_SIZE] CG_SECTION(".bss.cg.sram") CG_ALIGNED(16);

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

static const cg_conv_weights conv0_weights = {
    .weight = sized_flash_pool.conv0_weight,
    .bias = sized_flash_pool.conv0_bias,
    .multiplier = sized_flash_pool.conv0_multiplier,
    .shift = sized_flash_pool.conv4_shift,
    .scale_step = 1,
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

static const cg_conv_weights conv1_weights = {
    .weight = sized_flash_pool.conv1_weight,
    .bias = sized_flash_pool.conv1_bias,
    .multiplier = sized_flash_pool.conv1_multiplier,
    .shift = sized_flash_pool.conv1_shift,
    .scale_step = 1,
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

static const cg_conv_weights dw2_weights = {
    .weight = sized_flash_pool.dw2_weight,
    .bias = sized_flash_pool.dw2_bias,
    .multiplier = sized_flash_pool.conv4_multiplier,
    .shift = sized_flash_pool.dw2_shift,
    .scale_step = 1,
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

static const cg_conv_weights conv4_weights = {
    .weight = sized_flash_pool.conv4_weight,
    .bias = sized_flash_pool.conv4_bias,
    .multiplier = sized_flash_pool.conv4_multiplier,
    .shift = sized_flash_pool.conv4_shift,
    .scale_step = 1,
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

static const cg_conv_weights conv6_weights = {
    .weight = sized_flash_pool.conv6_weight,
    .bias = sized_flash_pool.conv6_bias,
    .multiplier = sized_flash_pool.conv4_multiplier,
    .shift = sized_flash_pool.conv4_shift,
    .scale_step = 1,
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
        return (uint32_t)(8 * T + 32 * conv0_dim1);
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

/* ---- inputs and outputs --------------------------------------------------------------- */

int8_t *sized_input_x0(void)
{
    return (int8_t *)&sized_sram_pool[0x000];
}

const int8_t *sized_output_v13(const sized_dims *dims)
{
    const int32_t T = (int32_t)dims->T;
    /* axis 1 of conv0: 5 to 20 */
    const int32_t conv0_dim1 = (T + 1) / 2;
    return (int8_t *)&sized_sram_pool[cg_round_up(12 * conv0_dim1 + 4, 8)];
}

/* Copies a tensor, unless an address is NULL or both are the same. */
static void copy_tensor(void *to, const void *from, size_t size_bytes)
{
    if ((to != NULL) && (from != NULL) && (to != from)) {
        memcpy(to, from, size_bytes);
    }
}

/* Checks that a call has all it needs, before anything is touched. */
static cg_status check_call(const sized_dims *dims)
{
    if (dims == NULL) {
        return CG_ERR_NULL_POINTER;
    }
    if (!sizes_are_in_range(dims)) {
        return CG_ERR_SIZE;
    }
    return CG_OK;
}

/* ---- entry function ------------------------------------------------------------------- */

cg_status sized_run(const sized_inputs *inputs, const sized_outputs *outputs,
                    const sized_dims *dims)
{
    const cg_status ready = check_call(dims);
    if (ready != CG_OK) {
        return ready;
    }
    const int32_t T = (int32_t)dims->T;
    /* axis 1 of conv0: 5 to 20 */
    const int32_t conv0_dim1 = (T + 1) / 2;
    /* padding of conv0: 1 to 2 */
    const int32_t conv0_pad_rows = -T + 2 * conv0_dim1 + 1;
    if (inputs != NULL) {
        copy_tensor(sized_input_x0(), inputs->x0, (size_t)(8 * T));
    }
    int8_t *const x0 = (int8_t *)&sized_sram_pool[0x000];

    /* 0: CONV_2D x0 1xTx1x8 -> conv0 1xconv0_dim1x1x8; sram 0x280, 160 bytes, steps 0..3 */
    int8_t *const conv0 = (int8_t *)&sized_sram_pool[8 * T + 16 * conv0_dim1];
    CG_STEP_BEGIN(0u);
    {
        cg_conv_params conv0_params;
        cg_copy_params(&conv0_params, &conv0_params_copied, sizeof conv0_params);
        conv0_params.window.in.h = T;
        conv0_params.window.out.h = conv0_dim1;
        conv0_params.window.pad_top = conv0_pad_rows - 1;
        cg_conv2d_s8(&conv0_params, &conv0_weights, x0, conv0);
    }
    CG_STEP_END(0u);

    /* 1: CONV_2D x0 1xTx1x8 -> conv1 1xTx1x8; sram 0x140, 320 bytes, steps 1..2 */
    int8_t *const conv1 = (int8_t *)&sized_sram_pool[8 * T];
    CG_STEP_BEGIN(1u);
    {
        cg_conv_params conv1_params;
        cg_copy_params(&conv1_params, &conv1_params_copied, sizeof conv1_params);
        conv1_params.window.in.h = T;
        conv1_params.window.out.h = T;
        cg_conv2d_s8(&conv1_params, &conv1_weights, x0, conv1);
    }
    CG_STEP_END(1u);

    /*
     * 2: DEPTHWISE_CONV_2D conv1 1xTx1x8 -> dw2 1xconv0_dim1x1x8; sram 0x320, 160 bytes, steps 2..3
     */
    int8_t *const dw2 = (int8_t *)&sized_sram_pool[8 * T + 24 * conv0_dim1];
    CG_STEP_BEGIN(2u);
    {
        cg_conv_params dw2_params;
        cg_copy_params(&dw2_params, &dw2_params_copied, sizeof dw2_params);
        dw2_params.window.in.h = T;
        dw2_params.window.out.h = conv0_dim1;
        cg_depthwise_conv2d_s8(&dw2_params, &dw2_weights, conv1, dw2);
    }
    CG_STEP_END(2u);

    /*
     * 3: CONCATENATION conv0 1xconv0_dim1x1x8 + dw2 1xconv0_dim1x1x8 -> concat3 1xconv0_dim1x1x16;
     * sram 0x140, 320 bytes, steps 3..5
     */
    int8_t *const concat3 = (int8_t *)&sized_sram_pool[8 * T];
    const void *const concat3_addresses[] = {conv0, dw2};
    CG_STEP_BEGIN(3u);
    {
        const cg_concat_params concat3_params = {
            .rows = conv0_dim1,
            .count = 2,
            .row_bytes = sized_flash_pool.concat3_row_bytes,
        };
        cg_concat(&concat3_params, concat3_addresses, concat3);
    }
    CG_STEP_END(3u);

    /* 4: CONV_2D x0 1xTx1x8 -> conv4 1xconv0_dim1x1x16; sram 0x280, 320 bytes, steps 4..5 */
    int8_t *const conv4 = (int8_t *)&sized_sram_pool[8 * T + 16 * conv0_dim1];
    CG_STEP_BEGIN(4u);
    {
        cg_conv_params conv4_params;
        cg_copy_params(&conv4_params, &conv4_params_copied, sizeof conv4_params);
        conv4_params.window.in.h = T;
        conv4_params.window.out.h = conv0_dim1;
        cg_conv2d_s8(&conv4_params, &conv4_weights, x0, conv4);
    }
    CG_STEP_END(4u);

    /*
     * 5: ADD concat3 1xconv0_dim1x1x16 + conv4 1xconv0_dim1x1x16 -> add5 1xconv0_dim1x1x16; sram
     * 0x000, 320 bytes, steps 5..6
     */
    int8_t *const add5 = (int8_t *)&sized_sram_pool[0x000];
    CG_STEP_BEGIN(5u);
    {
        cg_add_params add5_params;
        cg_copy_params(&add5_params, &add5_params_copied, sizeof add5_params);
        add5_params.shape.extent.d4 = 16 * conv0_dim1;
        cg_add_s8(&add5_params, concat3, conv4, add5);
    }
    CG_STEP_END(5u);

    /*
     * 6: CONV_2D add5 1xconv0_dim1x1x16 -> conv6 1xconv0_dim1x1x4; sram 0x0f8, 80 bytes, step 6,
     * over add5
     */
    int8_t *const conv6 = (int8_t *)&sized_sram_pool[cg_round_up(12 * conv0_dim1 + 4, 8)];
    CG_STEP_BEGIN(6u);
    {
        cg_conv_params conv6_params;
        cg_copy_params(&conv6_params, &conv6_params_copied, sizeof conv6_params);
        conv6_params.window.in.h = conv0_dim1;
        conv6_params.window.out.h = conv0_dim1;
        cg_conv2d_reverse_s8(&conv6_params, &conv6_weights, add5, conv6);
    }
    CG_STEP_END(6u);

    if (outputs != NULL) {
        copy_tensor(outputs->v13, sized_output_v13(dims), (size_t)(4 * conv0_dim1));
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
