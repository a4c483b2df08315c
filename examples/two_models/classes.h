/* SPDX-License-Identifier: 0BSD */
/* classes.h -- what the application makes of the models' scores. */
#ifndef CLASSES_H
#define CLASSES_H

#include <stdint.h>

#include "digits.h"
#include "inputs.h"
#include "tone.h"

/* What the code here relies on. A model of other shapes stops the build, not the product. */
CG_STATIC_ASSERT(DIGITS_ODDS_ELEMENTS == 10u, "digits has one score for each digit");
CG_STATIC_ASSERT(TONE_SCORES_ELEMENTS == 5u, "tone has one score for silence and for each tone");
CG_STATIC_ASSERT(sizeof images[0] == DIGITS_IMAGE_SIZE, "an image is not what digits takes");
CG_STATIC_ASSERT(sizeof recordings[0] == TONE_SAMPLES_SIZE, "a recording is not what tone takes");

/* Index of the largest score: the class. */
uint32_t largest(const int8_t *scores, uint32_t count);

/* Prints "<model> <input>: <class>". */
void print_digit(uint32_t input, uint32_t digit);
void print_tone(uint32_t input, uint32_t tone);

/* Prints which model failed with which status, and stops. */
_Noreturn void stop(const char *model, cg_status status);

#endif /* CLASSES_H */
