/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_conv_dsp_parts.h -- what the C and assembly parts of the DSP convolutions share. Included by
 * kernels only.
 *
 * Widened pixels: for each group of four values k0 k1 k2 k3 of a pixel the int16 pairs {k0, k2} of
 * all pixels of the tile, then the pairs {k1, k3} of all of them: so SXTB16 leaves them.
 */
#ifndef CG_CONV_DSP_PARTS_H
#define CG_CONV_DSP_PARTS_H

#include "cg_conv_dsp.h"

/* cg_tile_dsp.inc knows these offsets. */
typedef struct {
    const int32_t *pixels;    /* widened */
    const int32_t *stream;    /* packed weights */
    const int32_t *pairs_end; /* in the stream: behind the last pair of channels */
    int32_t groups;           /* groups of four values a pixel */
    int32_t out_zero;
    int32_t is_odd; /* a single channel follows the pairs */
    int32_t act_min;
    int32_t act_max;
} cg_tile_dsp;

/* Words of the stream that a pair of channels takes. */
static inline int32_t cg_pair_words_dsp(int32_t groups)
{
    return (2 * groups) + 5;
}

/* Behind the last pair of `outputs` channels in a stream; one that is left over follows it. */
static inline const int32_t *cg_stream_end_s8_dsp(const int32_t *stream, int32_t outputs,
                                                  int32_t groups)
{
    return &stream[(outputs / 2) * cg_pair_words_dsp(groups)];
}

/* Behind the last pair of channels in a stream of int4 weights; one left over is a pair too. */
static inline const int32_t *cg_stream_end_s4_dsp(const int32_t *stream, int32_t outputs,
                                                  int32_t groups)
{
    return &stream[((outputs + 1) / 2) * (groups + 5)];
}

/* One row of inputs as a pixel. */
static inline cg_tile_dsp cg_fc_tile_dsp(const cg_fc_params *params, const int32_t *stream,
                                         const int32_t *pixels)
{
    const int32_t groups = (params->in_len + 3) / 4;
    const cg_tile_dsp tile = {
        .pixels = pixels,
        .stream = stream,
        .pairs_end = cg_stream_end_s8_dsp(stream, params->out_len, groups),
        .groups = groups,
        .out_zero = params->out_zero,
        .is_odd = params->out_len % 2,
        .act_min = params->act_min,
        .act_max = params->act_max,
    };
    return tile;
}

/* Place of value k of a pixel in a table of offsets: groups in the order 0 2 1 3. */
static inline __attribute__((always_inline)) int32_t cg_place_dsp(int32_t k)
{
    return (k & ~3) + ((k & 1) * 2) + ((k >> 1) & 1);
}

/*
 * All channels of four pixels. The first goes to `output`, the next two follow `step` bytes apart,
 * the fourth `last_step` bytes behind the third: 0 where it is the third once more.
 */
void cg_tile4_s8_dsp(const cg_tile_dsp *tile, int8_t *output, int32_t step, int32_t last_step);
/* All channels of two pixels, `step` bytes apart. */
void cg_tile2_s8_dsp(const cg_tile_dsp *tile, int8_t *output, int32_t step);
/* All channels of one pixel; `narrow`: `pixels` are its bytes, not widened. */
void cg_tile1_s8_dsp(const cg_tile_dsp *tile, int8_t *output);
void cg_tile1_narrow_s8_dsp(const cg_tile_dsp *tile, int8_t *output);
/* The only channel of one pixel that is not widened. */
void cg_tile1_single_s8_dsp(const cg_tile_dsp *tile, int8_t *output);

/* Tiles of four, two and one pixels by a joined stream. */
void cg_tile4_joined_s8_dsp(const cg_tile_dsp *tile, int8_t *output, int32_t step,
                            int32_t last_step);
void cg_tile2_joined_s8_dsp(const cg_tile_dsp *tile, int8_t *output, int32_t step);
void cg_tile1_joined_s8_dsp(const cg_tile_dsp *tile, int8_t *output);
void cg_tile1_narrow_joined_s8_dsp(const cg_tile_dsp *tile, int8_t *output);

/* Tiles by int4 weights: `stream` and `pairs_end` are those of cg_conv2d_s4_dsp. */
void cg_tile4_s4_dsp(const cg_tile_dsp *tile, int8_t *output, int32_t step, int32_t last_step);
void cg_tile2_s4_dsp(const cg_tile_dsp *tile, int8_t *output, int32_t step);
void cg_tile1_s4_dsp(const cg_tile_dsp *tile, int8_t *output);

/* Tiles of int8 weights, rounded as ONNX does: multipliers in the stream are float32. */
void cg_tile4_even_s8_dsp(const cg_tile_dsp *tile, int8_t *output, int32_t step, int32_t last_step);
void cg_tile2_even_s8_dsp(const cg_tile_dsp *tile, int8_t *output, int32_t step);
void cg_tile1_even_s8_dsp(const cg_tile_dsp *tile, int8_t *output);
void cg_tile4_even_s4_dsp(const cg_tile_dsp *tile, int8_t *output, int32_t step, int32_t last_step);
void cg_tile2_even_s4_dsp(const cg_tile_dsp *tile, int8_t *output, int32_t step);
void cg_tile1_even_s4_dsp(const cg_tile_dsp *tile, int8_t *output);
void cg_tile1_narrow_even_s8_dsp(const cg_tile_dsp *tile, int8_t *output);

/*
 * Requantizes sums of one channel in place, all cases: what tiles call for a channel whose byte of
 * shifts has bit 7 set (or whose neighbour's has). `shift` holds that byte, above it their number.
 */
void cg_requantize_s8_dsp(const cg_tile_dsp *tile, int32_t *sums, uint32_t doubled_multiplier,
                          uint32_t shift);
/* Requantizes such sums as ONNX rounds. */
void cg_requantize_even_s8_dsp(const cg_tile_dsp *tile, int32_t *sums, uint32_t scale_bits,
                               uint32_t shift);

/*
 * Four pixels, or two, widened to `pixels`: 4 * groups bytes each. They lie `step` bytes apart, the
 * last of four `last_step` behind the third. Aligned to 4 bytes.
 */
void cg_gather4_s8_dsp(const int8_t *source, int32_t *pixels, int32_t groups, int32_t step,
                       int32_t last_step);
void cg_gather2_s8_dsp(const int8_t *source, int32_t *pixels, int32_t groups, int32_t step);
/* Four pixels that lie anywhere. */
void cg_gather4_apart_s8_dsp(const int8_t *const sources[4], int32_t *pixels, int32_t groups);
/* One pixel of a tile of `tile_bytes / 4`; its first pair goes to `pixels`. Aligned to 4 bytes. */
void cg_gather1_s8_dsp(const int8_t *source, int32_t *pixels, int32_t groups, int32_t tile_bytes);
/* Gathers byte by byte: value k lies offsets[k] behind the pixel, groups in order 0 2 1 3. */
void cg_gather4_bytes_s8_dsp(const int8_t *source, int32_t *pixels, int32_t groups, int32_t step,
                             int32_t last_step, const int16_t *offsets);
void cg_gather1_bytes_s8_dsp(const int8_t *source, int32_t *pixels, int32_t groups,
                             int32_t tile_bytes, const int16_t *offsets);

/* Sizes of a tile of cg_conv2d_rgb_s8_dsp; tile4_rgb_s8_dsp.S knows these offsets. */
enum {
    CG_RGB_PIXELS_DSP = 4,
    CG_RGB_WORDS_DSP = 14, /* what a row of their windows covers, widened */
    CG_RGB_CHANNEL_WORDS_DSP = 19
};
typedef struct {
    int32_t steps[3];      /* from the first result pixel to the others, 0 where there is none */
    const int32_t *pixels; /* three rows of CG_RGB_WORDS_DSP */
    const int32_t *stream_end;
    const int32_t *stream;
} cg_rgb_tile_dsp;
void cg_tile4_rgb_s8_dsp(const cg_rgb_tile_dsp *tile, int8_t *output);
/*
 * The `rows` of the windows, NULL behind the last, to `pixels`: of each six bytes b0 to b5 the
 * words {b2 b0} {b3 b1} {b4 b5}. They are aligned to 4 bytes, and their first 12 bytes are read. 12
 * more are if `behind` is not negative, 4 more if it is positive; four bytes of `padding` stand for
 * those that are not.
 */
void cg_widen_rgb_s8_dsp(const int8_t *const *rows, int32_t *pixels, int32_t padding,
                         int32_t behind);

/* Sizes of a tile of cg_conv2d_mono_s8_dsp; tile5_mono_s8_dsp.S knows these offsets. */
enum {
    CG_MONO_PIXELS_DSP = 5,
    CG_MONO_VALUES_DSP = 12
}; /* pixels, and what a row of windows covers */
typedef struct {
    int32_t steps[4];      /* from the first result pixel to the others, 0 where there is none */
    const int32_t *pixels; /* rows of CG_MONO_VALUES_DSP doubled values */
    const int32_t *stream_end;
    int32_t rows;
    int32_t zero; /* twice the zero point plus 1 */
    const int32_t *stream;
} cg_mono_tile_dsp;
void cg_tile5_mono_s8_dsp(const cg_mono_tile_dsp *tile, int8_t *output);

/* One row of `count` inputs; behind them zeros up to a whole group. */
static inline void cg_widen_row_dsp(const int8_t *input, int32_t count, int32_t *pixels)
{
    const int32_t groups = (count + 3) / 4;
    if ((count % 4) == 0) {
        cg_gather1_s8_dsp(input, pixels, groups, 4);
        return;
    }
    cg_s16 *const values = (cg_s16 *)pixels;
    for (int32_t k = 0; k < (4 * groups); k++) {
        values[cg_place_dsp(k)] = (int16_t)((k < count) ? input[k] : 0);
    }
}

#endif /* CG_CONV_DSP_PARTS_H */
