/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_sizes.h -- arithmetic of models whose sizes are known at run time only.
 */
#ifndef CG_SIZES_H
#define CG_SIZES_H

#include <stdint.h>

static inline int32_t cg_larger(int32_t one, int32_t other)
{
    return (one > other) ? one : other;
}

/* The next multiple of a power of two; `value` is not negative. */
static inline int32_t cg_round_up(int32_t value, int32_t multiple)
{
    return (value + multiple - 1) & ~(multiple - 1);
}

#endif
