/* SPDX-License-Identifier: Apache-2.0 */
/* cg_needs_zve32x.h -- one message where code for Zve32x is compiled with other flags. */
#if !defined(__riscv_vector) || (__riscv_xlen != 32)
#error "Zve32x kernels: compile with the core's flags (README.md), as -march=rv32imac_zve32x"
#endif
