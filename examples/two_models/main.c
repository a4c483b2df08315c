/* SPDX-License-Identifier: 0BSD */
/* main.c -- two models, one after the other: they share the bytes of one pool. */
#include "classes.h"
#include "uart.h"

int main(void)
{
    uart_open();
    for (uint32_t i = 0; i < INPUTS; i++) {
        /* An output that is not copied stays in its place in the pool until the next run, of any
         * model. */
        cg_status status = digits_run(&(digits_inputs){.image = images[i]}, NULL);
        if (status != CG_OK) {
            stop(DIGITS_NAME, status);
        }
        print_digit(i, largest(digits_output_odds(), DIGITS_ODDS_ELEMENTS));

        /* An output of the application's own outlives the next run. */
        int8_t scores[TONE_SCORES_ELEMENTS];
        status =
            tone_run(&(tone_inputs){.samples = recordings[i]}, &(tone_outputs){.scores = scores});
        if (status != CG_OK) {
            stop(TONE_NAME, status);
        }
        print_tone(i, largest(scores, TONE_SCORES_ELEMENTS));
    }
    uart_text("end\n");
    return 0;
}
