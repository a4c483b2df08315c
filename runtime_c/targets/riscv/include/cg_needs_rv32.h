/* SPDX-License-Identifier: Apache-2.0 */
/* cg_needs_rv32.h -- one message where code for RV32IM is compiled with other flags. */
#if !defined(__riscv_mul) || (__riscv_xlen != 32)
#error "RV32IM kernels: compile with the core's flags (README.md), as -march=rv32imac -mabi=ilp32"
#endif
