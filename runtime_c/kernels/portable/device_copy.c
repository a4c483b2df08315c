/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_copy.c -- a value's bytes into another memory, by the core or by the application's hook.
 */
#include "cg_device_copy.h"

#ifndef CG_DEVICE_COPY_HOOK
#include <string.h>
#endif

void cg_device_copy(const void *input, void *output, int32_t bytes)
{
#ifdef CG_DEVICE_COPY_HOOK
    cg_device_copy_hook(output, input, (size_t)bytes);
#else
    memcpy(output, input, (size_t)bytes);
#endif
}
