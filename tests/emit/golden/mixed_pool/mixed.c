/* SPDX-License-Identifier: 0BSD */
/*
 * mixed.c -- generated; do not edit. Provenance: see the header.
 *
 * Memory map. One row a step, one column per some bytes of a pool; a letter marks the buffer that
 * owns the bytes (see the table below), '*' is a workspace, '.' is free.
 *
 * sram pool, 60 bytes (lower bound 12), 2 bytes a column
 *                0x000           0x020          live bytes
 *    0 add0      AAAAAAAAAAAABBBBBBCCCCCCCCCCCC         60  <- peak
 *    1 clamp1    ..................DDDDDDDDDDDD         24  D over C
 *    2 scale2    ..................DDDDDDDDDDDD         24
 *    3 quantize3 FFF...........................          6
 *
 * ccm pool, 24 bytes (lower bound 0), 1 byte a column
 *                0x000           0x010    live bytes
 *    0 add0      ........................          0
 *    1 clamp1    ........................          0
 *    2 scale2    EEEEEEEEEEEEEEEEEEEEEEEE         24  <- peak
 *    3 quantize3 EEEEEEEEEEEEEEEEEEEEEEEE         24  <- peak
 *
 * id  values     pool    offset    bytes  align  steps
 * A   double     sram     0x000       24      4  0..0
 * B   int8_t     sram     0x018       12      4  0..0
 * C   add0       sram     0x024       24      4  0..1
 * D   clamp1     sram     0x024       24      4  1..2
 * E   scale2     ccm      0x000       24      4  2..3
 * F   quantize3  sram     0x000        6      4  3..3
 */
#include "mixed.h"

#include <stddef.h>
#include <string.h>

#include "mixed_data.h"
#include "mixed_kernels.h"

#if CG_RUNTIME_ABI != 1
#error "generated for runtime ABI 1: generate this model again"
#endif

/* The model that hooks are told of. */
#define CG_MODEL mixed_model

/* ---- pools ---------------------------------------------------------------------------- */

uint8_t mixed_sram_pool[MIXED_SRAM_POOL_SIZE] CG_SECTION(".bss.cg.sram") CG_ALIGNED(16);
uint8_t mixed_ccm_pool[MIXED_CCM_POOL_SIZE] CG_SECTION(".bss.cg.ccm") CG_ALIGNED(16);

/* ---- layer parameters ----------------------------------------------------------------- */

static const cg_binary_params_f32 add0_params = {
    .shape =
        {
            .extent = {.d0 = 1, .d1 = 1, .d2 = 1, .d3 = 2, .d4 = 3},
            .lhs_step = {.d3 = 3, .d4 = 1},
            .rhs_step = {.d4 = 1},
        },
    .act_min = -3.4028235e+38f,
    .act_max = 6.0f,
};

static const cg_binary_params_f32 scale2_params = {
    .shape =
        {
            .extent = {.d0 = 1, .d1 = 1, .d2 = 1, .d3 = 1, .d4 = 6},
            .lhs_step = {.d4 = 1},
        },
    .act_min = -3.4028235e+38f,
    .act_max = 3.4028235e+38f,
};

static const cg_quantize_params quantize3_params = {
    .scale = 0.5f,
    .zero = -3,
};

/* ---- inputs and outputs --------------------------------------------------------------- */

float *mixed_input_double_(void)
{
    return (float *)(void *)&mixed_sram_pool[0x000];
}

float *mixed_input_int8_t_(void)
{
    return (float *)(void *)&mixed_sram_pool[0x018];
}

const float *mixed_output_class_(void)
{
    return (float *)(void *)&mixed_ccm_pool[0x000];
}

const int8_t *mixed_output_double_(void)
{
    return (int8_t *)&mixed_sram_pool[0x000];
}

/* Copies a tensor, unless an address is NULL or both are the same. */
static void copy_tensor(void *to, const void *from, size_t size_bytes)
{
    if ((to != NULL) && (from != NULL) && (to != from)) {
        memcpy(to, from, size_bytes);
    }
}

/* ---- entry function ------------------------------------------------------------------- */

cg_status mixed_run(const mixed_inputs *inputs, const mixed_outputs *outputs)
{
    if (inputs != NULL) {
        copy_tensor(mixed_input_double_(), inputs->double_, MIXED_DOUBLE_SIZE);
        copy_tensor(mixed_input_int8_t_(), inputs->int8_t_, MIXED_INT8_T_SIZE);
    }
    cg_f32 *const double_ = (cg_f32 *)(void *)&mixed_sram_pool[0x000];
    cg_f32 *const int8_t_ = (cg_f32 *)(void *)&mixed_sram_pool[0x018];

    /* 0: ADD double_ 2x3 + int8_t_ 3 -> add0 2x3; sram 0x024, 24 bytes, steps 0..1 */
    cg_f32 *const add0 = (cg_f32 *)(void *)&mixed_sram_pool[0x024];
    CG_STEP_BEGIN(0u);
    cg_add_f32(&add0_params, double_, int8_t_, add0);
    CG_STEP_END(0u);

    /* 1: RELU add0 2x3 -> clamp1 2x3; sram 0x024, 24 bytes, steps 1..2, over add0 */
    cg_f32 *const clamp1 = (cg_f32 *)(void *)&mixed_sram_pool[0x024];
    CG_STEP_BEGIN(1u);
    cg_clamp_f32(-1.5f, 1e+06f, add0, clamp1, 6);
    CG_STEP_END(1u);

    /* 2: MUL clamp1 2x3 -> scale2 2x3; ccm 0x000, 24 bytes, steps 2..3 */
    cg_f32 *const scale2 = (cg_f32 *)(void *)&mixed_ccm_pool[0x000];
    CG_STEP_BEGIN(2u);
    cg_mul_f32(&scale2_params, clamp1, mixed_flash_pool.scale2_rhs, scale2);
    CG_STEP_END(2u);

    /* 3: QUANTIZE scale2 2x3 -> quantize3 2x3; sram 0x000, 6 bytes, step 3 */
    int8_t *const quantize3 = (int8_t *)&mixed_sram_pool[0x000];
    CG_STEP_BEGIN(3u);
    cg_quantize_f32_s8(&quantize3_params, scale2, quantize3, 6);
    CG_STEP_END(3u);

    if (outputs != NULL) {
        copy_tensor(outputs->class_, mixed_output_class_(), MIXED_CLASS_SIZE);
        copy_tensor(outputs->double_, mixed_output_double_(), MIXED_OUTPUT_DOUBLE_SIZE);
    }
    return CG_OK;
}

/* ---- for hooks and the linker --------------------------------------------------------- */

#ifdef CG_MODEL_HOOKS
/* clang-format off */
static const char *const mixed_step_names[] = {MIXED_STEP_NAMES};
const cg_model mixed_model = {
    .name = MIXED_NAME,
    .step_names = mixed_step_names,
    .steps = MIXED_STEPS,
};
/* clang-format on */
#endif

CG_REQUIRE(cg_runtime_of_version_000102030405);
const uint8_t mixed_header_and_library_of_build_000102030405 = 0;

/* The linker finds it twice where an image would have two builds of this name. */
extern const uint8_t mixed_ERROR_built_twice__build_one_with_option_name;
const uint8_t mixed_ERROR_built_twice__build_one_with_option_name = 0;
