/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage_copy.c -- constants into faster memory by the core: words where both ends are aligned to
 * them, as the memcpy of small C libraries goes byte by byte.
 */
#include <string.h>

#include "cg_stage_copy.h"

void cg_stage_copy(void *to, const void *from, size_t bytes)
{
    size_t words = bytes / sizeof(cg_s32);
    if ((((uintptr_t)to | (uintptr_t)from) % sizeof(cg_s32)) != 0u) {
        words = 0;
    }
    cg_s32 *const out = (cg_s32 *)to;
    const cg_s32 *const in = (const cg_s32 *)from;
    size_t i = 0;
    for (; i + 4u <= words; i += 4u) {
        const int32_t a = in[i];
        const int32_t b = in[i + 1u];
        const int32_t c = in[i + 2u];
        const int32_t d = in[i + 3u];
        out[i] = a;
        out[i + 1u] = b;
        out[i + 2u] = c;
        out[i + 3u] = d;
    }
    const size_t done = i * sizeof(cg_s32);
    memcpy((uint8_t *)to + done, (const uint8_t *)from + done, bytes - done);
}
