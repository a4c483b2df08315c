/* SPDX-License-Identifier: Apache-2.0 */
/* cg_needs_v7m.h -- one message where code for ARMv7-M is compiled with other flags. */
#if !defined(__thumb2__)
#error "ARMv7-M kernels: compile with the core's flags (README.md), as -mcpu=cortex-m3 -mthumb"
#endif
