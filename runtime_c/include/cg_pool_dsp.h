/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_pool_dsp.h -- pools of int8 on cores with the DSP extension: prototypes, contracts.
 */
#ifndef CG_POOL_DSP_H
#define CG_POOL_DSP_H

#include "cg_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Averages as cg_avg_pool2d_s8, for windows of at most 256 elements. Where in.c % 4 == 0 the image
 * is aligned to 4 bytes. Four channels of a pixel are read before they are written: overlap as
 * there.
 */
void cg_avg_pool2d_s8_dsp(const cg_pool_params *params, const int8_t *input, int8_t *output);
void cg_avg_pool2d_reverse_s8_dsp(const cg_pool_params *params, const int8_t *input,
                                  int8_t *output);
void cg_avg_pool2d_s8_dsp_row(const cg_pool_params *params, const cg_rows *input, int8_t *output,
                              int32_t y, int32_t x_start, int32_t x_stop);

#ifdef __cplusplus
}
#endif

#endif /* CG_POOL_DSP_H */
