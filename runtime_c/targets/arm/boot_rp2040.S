/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boot_rp2040.S -- second stage of the RP2040's start: lets the core run from the serial flash.
 *
 * The boot ROM copies the first 256 bytes of the flash to RAM, checks their CRC and calls them (RP2040 Datasheet,
 * Flash Second Stage). Until then the flash cannot be read at its addresses. This stage reads by command 03h, one bit a
 * clock, which every serial flash knows, at half the core's clock: at most 50 MHz for most parts, so a firmware of
 * more than 100 MHz sets BAUDR to 4. Then it starts what is behind it, as a core starts after reset.
 *
 * It lies at any address, has no stack of its own and needs no variable. Registers: SSI of the datasheet.
 */
#define SSI        0x18000000
#define CTRLR0     0x00
#define CTRLR1     0x04
#define SSIENR     0x08
#define SER        0x10
#define BAUDR      0x14
#define SPI_CTRLR0 0xF4
#define VTOR       0xE000ED08
#define VECTORS    0x10000100

#define FRAME_BITS  32
#define EEPROM_READ 3 /* send command and address, then receive */
#define READ        0x03
#define COMMAND_8   2 /* bits of the command, coded */
#define ADDRESS_24  6 /* bits of the address, in fours */

    .syntax unified
    .section .boot_stage, "ax", %progbits
    .balign 4
    .thumb_func
    .global cg_boot_stage
    .type cg_boot_stage, %function
cg_boot_stage:
    ldr     r3, .Lssi
    movs    r0, #0
    str     r0, [r3, #SSIENR] /* only while it is off it takes settings */
    movs    r1, #2
    str     r1, [r3, #BAUDR]
    ldr     r1, .Lctrlr0
    str     r1, [r3, #CTRLR0]
    str     r0, [r3, #CTRLR1] /* one frame an access */
    ldr     r1, .Lspi_ctrlr0
    movs    r2, #SPI_CTRLR0
    str     r1, [r3, r2]
    movs    r1, #1
    str     r1, [r3, #SER]
    str     r1, [r3, #SSIENR]
    ldr     r0, .Lvectors
    ldr     r1, .Lvtor
    str     r0, [r1]
    ldmia   r0!, {r1, r2}
    msr     msp, r1
    bx      r2
    .hword  0 /* constants lie at multiples of 4 */

.Lssi:
    .word SSI
.Lctrlr0:
    .word (FRAME_BITS - 1) << 16 | EEPROM_READ << 8
.Lspi_ctrlr0:
    .word READ << 24 | COMMAND_8 << 8 | ADDRESS_24 << 2
.Lvectors:
    .word VECTORS
.Lvtor:
    .word VTOR

    .org cg_boot_stage + 252
    .word 0x46F95B59 /* CRC-32 of the 252 bytes before: polynomial 0x04C11DB7, first 0xFFFFFFFF, not reflected */
    .size cg_boot_stage, . - cg_boot_stage
