/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_sizes.h -- what models need whose sizes are known at run time only.
 */
#ifndef CG_SIZES_H
#define CG_SIZES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Hosts: what is the same in every call of a step's parameters; the step then stores the rest. */
void cg_copy_params(void *to, const void *from, size_t bytes);

static inline int32_t cg_larger(int32_t one, int32_t other)
{
    return (one > other) ? one : other;
}

/* The next multiple of a power of two; `value` is not negative. */
static inline int32_t cg_round_up(int32_t value, int32_t multiple)
{
    return (value + multiple - 1) & ~(multiple - 1);
}

#ifdef __cplusplus
}
#endif

#endif
