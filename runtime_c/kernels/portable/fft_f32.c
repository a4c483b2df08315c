/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fft_f32.c -- SIGNAL_RFFT and SIGNAL_IRFFT, float32.
 */
#include "cg_kernels_signal.h"

#define FFT_IS_WHOLE             1
#define FFT_SAMPLE               cg_f32
#define FFT_FACTOR               float
#define FFT_QUARTER(x)           (x)
#define FFT_HALF(x)              (x)
#define FFT_PLUS(a, b)           ((a) + (b))
#define FFT_MINUS(a, b)          ((a) - (b))
#define FFT_PRODUCTS(a, b, c, d) (((a) * (b)) + ((c) * (d)))
#define FFT_KEPT(x)              (x)
#define FFT_HALVED(x)            ((x)*0.5f)
typedef float fft_value;

#include "cg_fft_parts.h"

FFT_FUNCTIONS(f32)
