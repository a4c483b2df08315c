/* SPDX-License-Identifier: 0BSD */
/* classes.c -- classes and their names on the UART. */
#include "classes.h"

#include "uart.h"

uint32_t largest(const int8_t *scores, uint32_t count)
{
    uint32_t found = 0;
    for (uint32_t i = 1; i < count; i++) {
        if (scores[i] > scores[found]) {
            found = i;
        }
    }
    return found;
}

static void print_class(const char *model, uint32_t input, const char *name)
{
    uart_text(model);
    uart_text(" ");
    uart_number(input);
    uart_text(": ");
    uart_text(name);
    uart_text("\n");
}

void print_digit(uint32_t input, uint32_t digit)
{
    const char name[] = {(char)('0' + digit), '\0'};
    print_class(DIGITS_NAME, input, name);
}

void print_tone(uint32_t input, uint32_t tone)
{
    static const char *const names[TONE_SCORES_ELEMENTS] = {"silence", "500 Hz", "1000 Hz",
                                                            "1500 Hz", "2000 Hz"};
    print_class(TONE_NAME, input, names[tone]);
}

void stop(const char *model, cg_status status)
{
    uart_text(model);
    uart_text(" failed with status ");
    uart_number((uint32_t)status);
    uart_text("\nend\n");
    for (;;) {
        __asm__ volatile("wfi");
    }
}
