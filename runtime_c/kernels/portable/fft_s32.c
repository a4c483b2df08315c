/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fft_s32.c -- SIGNAL_RFFT and SIGNAL_IRFFT, int32. Sums wrap, as tflite-micro's do.
 */
#include "cg_fixed_point.h"
#include "cg_kernels_signal.h"

#define FFT_IS_WHOLE             0
#define FFT_SAMPLE               cg_s32
#define FFT_FACTOR               int32_t
#define FFT_ROUNDED(x)           ((int32_t)(((x) + (INT64_C(1) << 30)) >> 31))
#define FFT_QUARTER(x)           FFT_ROUNDED(cg_product_s32((x), 536870911))
#define FFT_HALF(x)              FFT_ROUNDED(cg_product_s32((x), 1073741823))
#define FFT_PLUS(a, b)           ((int32_t)((uint32_t)(a) + (uint32_t)(b)))
#define FFT_MINUS(a, b)          ((int32_t)((uint32_t)(a) - (uint32_t)(b)))
#define FFT_PRODUCTS(a, b, c, d) FFT_ROUNDED(cg_product_s32((a), (b)) + cg_product_s32((c), (d)))
#define FFT_KEPT(x)              (x)
#define FFT_HALVED(x)            ((x) >> 1)
typedef int32_t fft_value;

#include "cg_fft_parts.h"

FFT_FUNCTIONS(s32)
