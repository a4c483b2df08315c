/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shift.c -- a window of frames moves on: frames go down in memory, front to back, blocks and words
 * where both ends are aligned to words.
 */
#include "cg_kernels.h"

typedef struct {
    int32_t words[8];
} CG_MAY_ALIAS register_block; /* cores load and store several registers at once */

/* `to` lies below `from`, or apart from it. */
static void move_down(uint8_t *to, const uint8_t *from, int32_t bytes)
{
    int32_t i = 0;
    if ((((uintptr_t)to | (uintptr_t)from) % sizeof(cg_s32)) == 0u) {
        const int32_t size = (int32_t)sizeof(register_block);
        if ((uintptr_t)from - (uintptr_t)to >=
            sizeof(register_block)) { /* else a block lies in itself */
            for (; i + size <= bytes; i += size) {
                *(register_block *)(void *)&to[i] = *(const register_block *)(const void *)&from[i];
            }
        }
        for (; i + 4 <= bytes; i += 4) {
            *(cg_s32 *)(void *)&to[i] = *(const cg_s32 *)(const void *)&from[i];
        }
    }
    for (; i < bytes; i++) {
        to[i] = from[i];
    }
}

void cg_shift(const void *frame, int32_t added, void *window, int32_t kept)
{
    uint8_t *const first = (uint8_t *)window;
    move_down(first, &first[added], kept);
    move_down(&first[kept], (const uint8_t *)frame, added);
}
