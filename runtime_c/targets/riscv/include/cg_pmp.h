/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_pmp.h -- physical memory protection of RISC-V: what its drivers share. A driver says first how
 * its core differs:
 * PMP_READ and PMP_EXECUTE, bits of an entry. Of entries that hold an address the first rules; what
 * none holds is closed to the model's level, and open to the link's.
 */
#ifndef CG_PMP_H
#define CG_PMP_H

#include "cg_port.h"

#define PMP_WRITE (1u << 1)

static uint32_t pmp_next;
static uint32_t pmp_config[CG_PMP_ENTRIES / 4u];

static void pmp_write_address(uint32_t index, uint32_t value)
{
    switch (index) {
#define CASE(n)                                                                                    \
    case n:                                                                                        \
        CG_CSR_WRITE(pmpaddr##n, value);                                                           \
        break;
        CG_PMP_EACH(CASE)
#undef CASE
    default:
        break;
    }
}

static void pmp_write_config(void)
{
    CG_CSR_WRITE(pmpcfg0, pmp_config[0]);
    CG_CSR_WRITE(pmpcfg1, pmp_config[1]);
    CG_CSR_WRITE(pmpcfg2, pmp_config[2]);
    CG_CSR_WRITE(pmpcfg3, pmp_config[3]);
    __asm__ volatile("fence" ::: "memory");
}

static void pmp_close_all(void)
{
    for (uint32_t i = 0; i < CG_PMP_ENTRIES / 4u; i++) {
        pmp_config[i] = 0;
    }
    pmp_write_config();
    pmp_next = 0;
}

static uint32_t pmp_rights(cg_mpu_access access)
{
    switch (access) {
    case CG_MPU_READ_ONLY:
        return PMP_READ | PMP_EXECUTE;
    case CG_MPU_READ_WRITE:
        return PMP_READ | PMP_WRITE;
    case CG_MPU_CLOSED:
    default:
        return 0;
    }
}

static void pmp_set(uint32_t address, uint32_t config)
{
    pmp_write_address(pmp_next, address >> 2);
    pmp_config[pmp_next / 4u] |= config << (8u * (pmp_next % 4u));
    pmp_next++;
}

/* Opens all memory on a core with too few entries: the model's level needs its bytes anyway. */
static void pmp_open_everything(void)
{
    pmp_write_address(0, 0xFFFFFFFFu);
    pmp_config[0] = (3u << 3) | PMP_READ | PMP_WRITE | PMP_EXECUTE;
    pmp_write_config();
}

#endif /* CG_PMP_H */
