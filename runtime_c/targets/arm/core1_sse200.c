/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core1_sse200.c -- the second core of Arm's SSE-200 (system control: INITSVTOR1, CPUWAIT), a
 * Cortex-M33 with an MPU of Armv8-M of its own.
 */
#include "cg_port.h"
#include "core1.h"

#define INITSVTOR1 0x114u /* vector table of core 1 at its reset */
#define CPUWAIT    0x118u /* bit n: core n does not start */

#define MPU_CTRL  0xE000ED94u
#define MPU_RNR   0xE000ED98u
#define MPU_RBAR  0xE000ED9Cu
#define MPU_RLAR  0xE000EDA0u
#define MPU_MAIR0 0xE000EDC0u

#define CTRL_PRIVDEFENA (1u << 2)
#define MOST_REGIONS    16u /* an Armv8-M core has at most these */

static struct {
    uint32_t count;
    uint32_t control;
    uint32_t attributes;
    struct {
        uint32_t base;
        uint32_t limit;
    } region[MOST_REGIONS];
} seen;

void cg_core1_release(uint32_t registers, uint32_t vectors)
{
    *cg_register(registers + INITSVTOR1) = vectors;
    __asm__ volatile("dsb" ::: "memory"); /* memory is as core 1 shall find it */
    *cg_register(registers + CPUWAIT) &= ~(1u << 1);
}

void cg_core1_see_mpu(void)
{
    const uint32_t available = cg_mpu_regions();
    seen.count = available < MOST_REGIONS ? available : MOST_REGIONS;
    seen.control = *cg_register(MPU_CTRL);
    seen.attributes = *cg_register(MPU_MAIR0);
    for (uint32_t i = 0; i < seen.count; i++) {
        *cg_register(MPU_RNR) = i;
        seen.region[i].base = *cg_register(MPU_RBAR);
        seen.region[i].limit = *cg_register(MPU_RLAR);
    }
}

void cg_core1_follow_mpu(const void *given)
{
    (void)given;
    *cg_register(MPU_CTRL) = 0;
    *cg_register(MPU_MAIR0) = seen.attributes;
    for (uint32_t i = 0; i < seen.count; i++) {
        *cg_register(MPU_RNR) = i;
        *cg_register(MPU_RBAR) = seen.region[i].base;
        *cg_register(MPU_RLAR) = seen.region[i].limit;
    }
    *cg_register(MPU_CTRL) = seen.control & ~CTRL_PRIVDEFENA;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
}
