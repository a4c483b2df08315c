/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wake_word.h -- features of sound for MLPerf Tiny's streaming wake word: 40 bands a step.
 */
#ifndef CG_WAKE_WORD_H
#define CG_WAKE_WORD_H

#include <stddef.h>
#include <stdint.h>

#define CG_WAKE_WORD_WINDOW 1024u /* samples at 16 kHz that a step's features are of */
#define CG_WAKE_WORD_STEP   512u  /* new ones a step */
#define CG_WAKE_WORD_BANDS  40u

/* Tables, written by the generator. */
typedef struct {
    const float *window;    /* Hamming, a factor a sample */
    const float *twiddles;  /* cos, -sin of 2 pi k / WINDOW for k below WINDOW / 2, interleaved */
    const float *weights;   /* of the bins of all bands, one band behind the other */
    const uint16_t *starts; /* first bin of a band, which is at least 1 */
    const uint16_t *counts; /* bins of a band, all below WINDOW / 2 */
} cg_wake_word_tables;

/*
 * Features of a window, 0 to 1 each. `before` is the sample in front of it; `work` has WINDOW
 * floats, of which nothing is kept.
 */
void cg_wake_word_features(const cg_wake_word_tables *tables, const int16_t *samples,
                           int16_t before, float *work, float *features);

#endif /* CG_WAKE_WORD_H */
