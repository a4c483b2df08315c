/* SPDX-License-Identifier: Apache-2.0 */
/* cg_needs_mve.h -- one message where code for Helium is compiled with other flags. */
#if !defined(__ARM_FEATURE_MVE)
#error "Helium kernels: compile with the core's flags (README.md), as -mcpu=cortex-m55 -mthumb"
#endif
