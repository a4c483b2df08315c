/* SPDX-License-Identifier: Apache-2.0 */
/* cache_none.c -- cores without caches of their own, and boards that leave them off. */
#include "cg_port.h"

void cg_cache_enable(void)
{
}
