/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cast.c -- CAST, a function for each pair of element types.
 */
#include "cg_kernels_families.h"

#define CAST(name, from, to)                                                                       \
    void cg_cast_##name(const from *input, to *output, int32_t count)                              \
    {                                                                                              \
        for (int32_t i = 0; i < count; ++i) {                                                      \
            output[i] = (to)input[i];                                                              \
        }                                                                                          \
    }

CAST(s16_s32, cg_s16, cg_s32)
CAST(s32_s8, cg_s32, int8_t)
