/* SPDX-License-Identifier: Apache-2.0 */
/* cg_needs_v6m.h -- one message where code for ARMv6-M is compiled with other flags. */
#if !defined(__thumb__)
#error "ARMv6-M kernels: compile with the core's flags (README.md), as -mcpu=cortex-m0 -mthumb"
#endif
