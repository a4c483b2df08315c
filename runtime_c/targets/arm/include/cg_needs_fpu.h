/* SPDX-License-Identifier: Apache-2.0 */
/* cg_needs_fpu.h -- one message where code for an FPU is compiled with other flags. */
#if !defined(__ARM_FP)
#error "FPU kernels: compile with the core's flags (README.md), as -mfloat-abi=hard -mfpu=..."
#endif
