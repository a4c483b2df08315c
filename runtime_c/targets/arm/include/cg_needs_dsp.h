/* SPDX-License-Identifier: Apache-2.0 */
/* cg_needs_dsp.h -- one message where code for the DSP extension is compiled with other flags. */
#if !defined(__ARM_FEATURE_DSP)
#error "DSP kernels: compile with the core's flags (README.md), as -mcpu=cortex-m4 -mthumb"
#endif
