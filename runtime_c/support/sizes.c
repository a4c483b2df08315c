/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sizes.c -- see cg_sizes.h.
 */
#include "cg_sizes.h"

#include <string.h>

/* Apart from the models: a compiler that knows what is copied writes an instruction a field. */
void cg_copy_params(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}
