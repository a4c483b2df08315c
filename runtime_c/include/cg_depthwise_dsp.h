/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_depthwise_dsp.h -- depthwise convolution, int8, on cores with the DSP extension:
 * parameters, prototypes, contracts. What cg_kernels.h says of all kernels holds here.
 *
 * Images are read as words where C % 4 == 0: image and result are aligned to 4 bytes.
 */
#ifndef CG_DEPTHWISE_DSP_H
#define CG_DEPTHWISE_DSP_H

#include "cg_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 3x3, stride 1 or 2, one output channel an input channel, at least four channels ----- */

/*
 * Words of a channel: six of weights, bias, multiplier, right shift less one. Weights are doubled
 * int16 pairs, per row of the window {w0, w1} and {w1, w2} (first one in the low half). The bias is
 * 2 * (bias - in_zero * sum(w)), and no accumulator reaches 2^30, so that the requantization is
 * exact. 1 <= right shift <= 23, the activation's range is all of int8.
 */
#define CG_DW3X3_WORDS 9

/* The part of a channel that the workspace holds. */
typedef struct {
    int32_t columns; /* result columns at a time, a multiple of 4 */
    int32_t plane_bytes;
} cg_dw_tile;

typedef struct {
    cg_window window;        /* pad_left <= 1, strides alike */
    const int32_t *channels; /* CG_DW3X3_WORDS of each */
    int32_t in_zero;
    int32_t out_zero; /* twice the zero point plus 1; rounded as ONNX does, the zero point */
    cg_dw_tile band;  /* of six rows, of four where the result replaces its image */
    cg_dw_tile line;  /* of three rows */
} cg_dw3x3_params;

/*
 * Stride 1: four result rows and four channels at a time. The workspace holds six rows of four
 * channels as int16. Bands of four rows are read, then written.
 */
void cg_depthwise3x3_s8_dsp(const cg_dw3x3_params *params, void *workspace, const int8_t *input,
                            int8_t *output);

/*
 * 3x3 depthwise, two result rows at a time, whose result replaces its image: one output pixel an
 * input pixel, a band as wide as the image. The workspace holds four rows.
 */
void cg_depthwise3x3_in_place_s8_dsp(const cg_dw3x3_params *params, void *workspace, int8_t *image);

/* Stride 1 or 2, one row after the other: the workspace holds three rows. */
void cg_depthwise3x3_rows_s8_dsp(const cg_dw3x3_params *params, void *workspace,
                                 const int8_t *input, int8_t *output);

/*
 * Result row y, columns [x_start, x_stop). Four channels at a time: the row's windows are read
 * until its last write.
 */
void cg_depthwise3x3_s8_dsp_row(const cg_dw3x3_params *params, void *workspace,
                                const cg_rows *input, int8_t *output, int32_t y, int32_t x_start,
                                int32_t x_stop);

/* 3x3 depthwise for zero point -128, the least result: an instruction less a result. */
void cg_depthwise3x3_least_s8_dsp(const cg_dw3x3_params *params, void *workspace,
                                  const int8_t *input, int8_t *output);
void cg_depthwise3x3_least_in_place_s8_dsp(const cg_dw3x3_params *params, void *workspace,
                                           int8_t *image);
void cg_depthwise3x3_least_rows_s8_dsp(const cg_dw3x3_params *params, void *workspace,
                                       const int8_t *input, int8_t *output);
void cg_depthwise3x3_least_s8_dsp_row(const cg_dw3x3_params *params, void *workspace,
                                      const cg_rows *input, int8_t *output, int32_t y,
                                      int32_t x_start, int32_t x_stop);

/*
 * 3x3 depthwise with int4 weights, also for zero point -128. Words of four channels: biases and
 * multipliers as above, of each channel the first eight weights in nibbles (the first one lowest),
 * the right shifts less one in bytes, the ninth weights in nibbles.
 */
#define CG_DW3X3_S4_WORDS 14

void cg_depthwise3x3_s4_dsp(const cg_dw3x3_params *params, void *workspace, const int8_t *input,
                            int8_t *output);
void cg_depthwise3x3_in_place_s4_dsp(const cg_dw3x3_params *params, void *workspace, int8_t *image);
void cg_depthwise3x3_rows_s4_dsp(const cg_dw3x3_params *params, void *workspace,
                                 const int8_t *input, int8_t *output);
void cg_depthwise3x3_s4_dsp_row(const cg_dw3x3_params *params, void *workspace,
                                const cg_rows *input, int8_t *output, int32_t y, int32_t x_start,
                                int32_t x_stop);
void cg_depthwise3x3_least_s4_dsp(const cg_dw3x3_params *params, void *workspace,
                                  const int8_t *input, int8_t *output);
void cg_depthwise3x3_least_in_place_s4_dsp(const cg_dw3x3_params *params, void *workspace,
                                           int8_t *image);
void cg_depthwise3x3_least_rows_s4_dsp(const cg_dw3x3_params *params, void *workspace,
                                       const int8_t *input, int8_t *output);
void cg_depthwise3x3_least_s4_dsp_row(const cg_dw3x3_params *params, void *workspace,
                                      const cg_rows *input, int8_t *output, int32_t y,
                                      int32_t x_start, int32_t x_stop);

/*
 * 3x3 depthwise rounded as ONNX does: rint(float32(sum) * scale) + zero, on cores that have an FPU
 * too. Words of a channel: weights and bias are not doubled, the multiplier is a float32, the shift
 * counts for nothing.
 */
void cg_qlinear_depthwise3x3_s8_dsp(const cg_dw3x3_params *params, void *workspace,
                                    const int8_t *input, int8_t *output);
void cg_qlinear_depthwise3x3_in_place_s8_dsp(const cg_dw3x3_params *params, void *workspace,
                                             int8_t *image);
void cg_qlinear_depthwise3x3_rows_s8_dsp(const cg_dw3x3_params *params, void *workspace,
                                         const int8_t *input, int8_t *output);
void cg_qlinear_depthwise3x3_s8_dsp_row(const cg_dw3x3_params *params, void *workspace,
                                        const cg_rows *input, int8_t *output, int32_t y,
                                        int32_t x_start, int32_t x_stop);

/* ---- 3x3, stride 1 or 2, an image of one channel, any number of results --------------- */

/*
 * Reads the same words of a channel for every result. The workspace holds three rows of
 * the image. Order of reads and writes: `striped_below` with stripes of `line.columns` of a row.
 */
void cg_depthwise_plane_s8_dsp(const cg_dw3x3_params *params, void *workspace, const int8_t *input,
                               int8_t *output);
void cg_depthwise_plane_s8_dsp_row(const cg_dw3x3_params *params, void *workspace,
                                   const cg_rows *input, int8_t *output, int32_t y, int32_t x_start,
                                   int32_t x_stop);
/* Depthwise by planes for zero point -128. */
void cg_depthwise_plane_least_s8_dsp(const cg_dw3x3_params *params, void *workspace,
                                     const int8_t *input, int8_t *output);
void cg_depthwise_plane_least_s8_dsp_row(const cg_dw3x3_params *params, void *workspace,
                                         const cg_rows *input, int8_t *output, int32_t y,
                                         int32_t x_start, int32_t x_stop);

/* ---- 5x5 or 7x7, stride 1, at least four channels ---------------------------------------- */

/*
 * Words of a channel: bias, multiplier, right shift less one as above, then per row of the window
 * {w0, w1}, {w1, w2}, ..., doubled int16 pairs: 23 words of 5x5, 45 of 7x7. No accumulator reaches
 * 2^30.
 */
typedef struct {
    cg_window window;        /* pad_left <= kernel_w / 2, dilation 1 */
    const int32_t *channels; /* words of each */
    int32_t in_zero;
    int32_t out_zero; /* twice the zero point plus 1 */
} cg_dw_wide_params;

/*
 * Four result rows (of 7x7: two) and four channels at a time. The workspace, aligned to 4 bytes,
 * holds eight rows of four channels as int16 for the whole width, rounded up to four columns: 32
 * words for each pair of pixels, fewer by the rows that the first band does not have. Order of
 * reads and writes: `striped_below` with bands of these rows, as wide as the result.
 */
void cg_depthwise5x5_s8_dsp(const cg_dw_wide_params *params, void *workspace, const int8_t *input,
                            int8_t *output);
void cg_depthwise7x7_s8_dsp(const cg_dw_wide_params *params, void *workspace, const int8_t *input,
                            int8_t *output);

/* ---- any window of at most CG_DW_MOST_TAPS taps, at least four channels ----------------- */

#define CG_DW_MOST_TAPS 49
#define CG_DW_NINE_TAPS 9 /* of a 3x3 window, which has loops of its own */

/*
 * weights: per group of four channels four biases as above, per two taps a and b doubled int16
 * pairs {a, b} of each channel, per channel multiplier and right shift. An odd number of taps other
 * than nine ends with one of weight 0; of nine taps the last one's pairs are {channel 0, channel 2}
 * and {1, 3}. If C % 4 != 0 the last group is that of the last four channels. pad: in.c times the
 * image's zero point, aligned to 4 bytes.
 */
typedef struct {
    cg_window window;
    const int32_t *weights;
    const int8_t *pad;
    int32_t out_zero;
} cg_dw_taps_params;

/*
 * Pixel after pixel, four channels at a time: `striped_below` with bands and stripes of one.
 */
void cg_depthwise_taps_s8_dsp(const cg_dw_taps_params *params, const int8_t *input, int8_t *output);
void cg_depthwise_taps_s8_dsp_row(const cg_dw_taps_params *params, const cg_rows *input,
                                  int8_t *output, int32_t y, int32_t x_start, int32_t x_stop);

/*
 * Depthwise tap by tap, rounded as ONNX does, on cores that have an FPU too. Words: weights and
 * bias are not doubled, the multiplier is a float32, the shift 1.
 */
void cg_qlinear_depthwise_taps_s8_dsp(const cg_dw_taps_params *params, const int8_t *input,
                                      int8_t *output);
void cg_qlinear_depthwise_taps_s8_dsp_row(const cg_dw_taps_params *params, const cg_rows *input,
                                          int8_t *output, int32_t y, int32_t x_start,
                                          int32_t x_stop);

/*
 * Depthwise of nine taps and C % 4 == 0, weights as int8, rounded as TFLite does. weights: per
 * group of four channels four biases (bias - in_zero * sum(w)), per two taps a and b {c0 a, c1 a,
 * c0 b, c1 b} and {c2 a, c3 a, c2 b, c3 b} (bytes, lowest address first), the ninth tap of each
 * channel, four 2 * multiplier modulo 2^32, the right shift of each channel (1 to 31) in a byte.
 */
void cg_depthwise_narrow_s8_dsp(const cg_dw_taps_params *params, const int8_t *input,
                                int8_t *output);
void cg_depthwise_narrow_s8_dsp_row(const cg_dw_taps_params *params, const cg_rows *input,
                                    int8_t *output, int32_t y, int32_t x_start, int32_t x_stop);

/*
 * Depthwise of nine taps with int4 weights. weights: per group of four channels of every two taps a
 * and b a word, in nibbles of its halves: {c3 a, c2 a, c1 a, c0 a}, {c3 b, ...}, lowest first; of
 * the ninth tap {0, 0, c1, c0}, {0, 0, c3, c2}; four doubled biases; per channel multiplier and
 * right shift.
 */
void cg_depthwise_taps_s4_dsp(const cg_dw_taps_params *params, const int8_t *input, int8_t *output);
void cg_depthwise_taps_s4_dsp_row(const cg_dw_taps_params *params, const cg_rows *input,
                                  int8_t *output, int32_t y, int32_t x_start, int32_t x_stop);

/* ---- the inner loops, in assembly: depthwise3x3_parts_dsp.S ----------------------------- */

/* How rows of pixels become lines of words. */
typedef struct {
    const int8_t *rows[8]; /* each row's first pixel, channel 0; NULL: padding */
    int32_t count;         /* of rows */
    int32_t plane_bytes;
    int32_t step;  /* bytes from pixel to pixel */
    int32_t pairs; /* words of two pixels, the first one of padding and a pixel if `lead` */
    int32_t rest;  /* words of padding behind */
    int32_t odd;   /* 1: a pixel is left for the first word of `rest` */
    int32_t lead;
    uint32_t pad; /* in_zero, four times */
} cg_dw_lines;

typedef struct {
    int32_t count; /* channels */
    int32_t plane_bytes;
    int32_t columns; /* results a row */
    int32_t rows;
    int32_t step;       /* bytes from result to result */
    int32_t line_bytes; /* bytes from a row of results to the next */
    int32_t out_zero;   /* as the layer's parameters have it */
} cg_dw_job;

/*
 * Four channels from `channel` on into planes of 8, 6, 4 or 3 lines, from the line at `planes` on.
 * Of 3 lines word (pair, row) lies at 3 * pair + row of a plane of plane_bytes; of others (`count`
 * is even) the planes are interleaved: that of channel c lies at (4 * pair + c) * lines + row.
 */
void cg_dw_widen8_dsp(const cg_dw_lines *lines, int32_t channel, void *planes);
void cg_dw_widen6_dsp(const cg_dw_lines *lines, int32_t channel, void *planes);
void cg_dw_widen4_dsp(const cg_dw_lines *lines, int32_t channel, void *planes);
void cg_dw_widen3_words_dsp(const cg_dw_lines *lines, int32_t channel, void *planes);
void cg_dw_widen3_bytes_dsp(const cg_dw_lines *lines, int32_t channel, void *planes);
/*
 * Moves the last two lines of a plane of four to its front, `pairs` of pixels: the next band of two
 * rows reads them too.
 */
void cg_dw_keep_lines_dsp(void *planes, int32_t pairs);
/* The only channel into one plane of 3 lines. */
void cg_dw_widen3_single_dsp(const cg_dw_lines *lines, void *plane);

void cg_dw3x3_s8_dsp_plane6(const cg_dw_job *job, const void *planes, const int32_t *channels,
                            int8_t *output);
void cg_dw3x3_s8_dsp_plane4(const cg_dw_job *job, const void *planes, const int32_t *channels,
                            int8_t *output);
void cg_dw3x3_s8_dsp_line1(const cg_dw_job *job, const void *planes, const int32_t *channels,
                           int8_t *output);
void cg_dw3x3_s8_dsp_line2(const cg_dw_job *job, const void *planes, const int32_t *channels,
                           int8_t *output);

/* Results of 5x5 and 7x7 windows: depthwise_wide_parts_dsp.S. */
void cg_dw5x5_s8_dsp(const cg_dw_job *job, const void *planes, const int32_t *channels,
                     int8_t *output);
void cg_dw7x7_s8_dsp(const cg_dw_job *job, const void *planes, const int32_t *channels,
                     int8_t *output);

/* CG_DW3X3_WORDS of each of four channels: depthwise3x3_widen_s4_dsp.S. */
void cg_dw3x3_widen_s4_dsp(const int32_t *packed, int32_t *channels);

/* Six pixels of a plane whose zero point is the least result: depthwise3x3_least_parts_dsp.S. */
void cg_dw3x3_least_s8_dsp_plane6(const cg_dw_job *job, const void *planes, const int32_t *channels,
                                  int8_t *output);
void cg_dw3x3_least_s8_dsp_plane4(const cg_dw_job *job, const void *planes, const int32_t *channels,
                                  int8_t *output);
void cg_dw3x3_least_s8_dsp_line1(const cg_dw_job *job, const void *planes, const int32_t *channels,
                                 int8_t *output);
void cg_dw3x3_least_s8_dsp_line2(const cg_dw_job *job, const void *planes, const int32_t *channels,
                                 int8_t *output);

/* Six pixels of a plane, rounded as ONNX does: depthwise3x3_even_parts_dsp.S. */
void cg_dw3x3_even_s8_dsp_plane6(const cg_dw_job *job, const void *planes, const int32_t *channels,
                                 int8_t *output);
void cg_dw3x3_even_s8_dsp_plane4(const cg_dw_job *job, const void *planes, const int32_t *channels,
                                 int8_t *output);
void cg_dw3x3_even_s8_dsp_line1(const cg_dw_job *job, const void *planes, const int32_t *channels,
                                int8_t *output);
void cg_dw3x3_even_s8_dsp_line2(const cg_dw_job *job, const void *planes, const int32_t *channels,
                                int8_t *output);

/* ---- and those of depthwise_taps_parts_dsp.S, depthwise_narrow_parts_dsp.S -------------- */

/* The taps of a pixel's window; the next pixels' are `4 * groups - back + step` bytes further. */
typedef struct {
    int32_t count;
    int32_t pixels;
    int32_t groups; /* of four channels */
    int32_t back;   /* channels that the last group begins earlier */
    int32_t step;
    int32_t out_zero;
    const int8_t *tap[CG_DW_MOST_TAPS + 1]; /* nine, or an even number */
} cg_dw_taps;

void cg_dw_taps9_words_dsp(const cg_dw_taps *taps, const int32_t *weights, int8_t *output);
void cg_dw_taps9_bytes_dsp(const cg_dw_taps *taps, const int32_t *weights, int8_t *output);
void cg_dw_taps_words_dsp(const cg_dw_taps *taps, const int32_t *weights, int8_t *output);
void cg_dw_taps_bytes_dsp(const cg_dw_taps *taps, const int32_t *weights, int8_t *output);
void cg_dw_narrow9_words_dsp(const cg_dw_taps *taps, const int32_t *weights, int8_t *output);
void cg_dw_taps9_words_s4_dsp(const cg_dw_taps *taps, const int32_t *weights, int8_t *output);

/* Taps rounded as ONNX does: depthwise_taps_even_parts_dsp.S. */
void cg_dw_taps9_words_even_dsp(const cg_dw_taps *taps, const int32_t *weights, int8_t *output);
void cg_dw_taps9_bytes_even_dsp(const cg_dw_taps *taps, const int32_t *weights, int8_t *output);
void cg_dw_taps_words_even_dsp(const cg_dw_taps *taps, const int32_t *weights, int8_t *output);
void cg_dw_taps_bytes_even_dsp(const cg_dw_taps *taps, const int32_t *weights, int8_t *output);

#ifdef __cplusplus
}
#endif

#endif /* CG_DEPTHWISE_DSP_H */
