/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fft_s16.c -- SIGNAL_RFFT and SIGNAL_IRFFT, int16.
 */
#include "cg_kernels_signal.h"

#define FFT_IS_WHOLE             0
#define FFT_SAMPLE               cg_s16
#define FFT_FACTOR               int16_t
#define FFT_QUARTER(x)           ((((x)*8191) + 16384) >> 15)
#define FFT_HALF(x)              ((((x)*16383) + 16384) >> 15)
#define FFT_PLUS(a, b)           ((a) + (b))
#define FFT_MINUS(a, b)          ((a) - (b))
#define FFT_PRODUCTS(a, b, c, d) ((int16_t)((((a) * (b)) + ((c) * (d)) + 16384) >> 15))
#define FFT_KEPT(x)              ((int16_t)(x))
#define FFT_HALVED(x)            ((x) >> 1)
typedef int32_t fft_value;

#include "cg_fft_parts.h"

FFT_FUNCTIONS(s16)
