/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turn_sign.c -- uint8 to int8 of the same meaning, or back: each byte with the other sign bit, by
 * words where both ends are aligned to them.
 */
#include "cg_kernels.h"

typedef struct {
    uint32_t words[4];
} CG_MAY_ALIAS register_block; /* cores load and store several registers at once */

#define SIGNS 0x80808080u

void cg_turn_sign(const void *input, void *output, int32_t count)
{
    const uint8_t *const from = (const uint8_t *)input;
    uint8_t *const to = (uint8_t *)output;
    const int32_t size = (int32_t)sizeof(register_block);
    int32_t i = 0;
    if ((((uintptr_t)to | (uintptr_t)from) % sizeof(uint32_t)) == 0u) {
        for (; i + size <= count; i += size) {
            const register_block *const x = (const register_block *)(const void *)&from[i];
            register_block *const y = (register_block *)(void *)&to[i];
            const uint32_t a = x->words[0] ^ SIGNS;
            const uint32_t b = x->words[1] ^ SIGNS;
            const uint32_t c = x->words[2] ^ SIGNS;
            const uint32_t d = x->words[3] ^ SIGNS;
            y->words[0] = a;
            y->words[1] = b;
            y->words[2] = c;
            y->words[3] = d;
        }
    }
    for (; i < count; i++) {
        to[i] = (uint8_t)(from[i] ^ 0x80u);
    }
}
