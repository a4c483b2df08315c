/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_kernels_detection.h -- what comes behind a detector.
 */
#ifndef CG_KERNELS_DETECTION_H
#define CG_KERNELS_DETECTION_H

#include "cg_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Meaning of an argument's numbers: scale * (number - zero_point) of int8; scale 0: float. */
typedef struct {
    float scale;
    int32_t zero_point;
} cg_detection_meaning;

typedef struct {
    int32_t boxes;
    int32_t coordinates; /* numbers of an encoded box: 4 or more, of which 4 are read */
    int32_t classes;
    int32_t background; /* 1: scores of a box begin with those of no class */
    int32_t rows;       /* detections that the result has room for */
    int32_t most;
    int32_t most_of_class;
    int32_t classes_of_box;
    int32_t by_class;
    float score;
    float overlap;
    float scales[4];
    cg_detection_meaning encoded;
    cg_detection_meaning scores;
    cg_detection_meaning anchors;
} cg_detection_params;

/*
 * DETECTION_POST_PROCESS. Boxes are decoded from anchors; of those that overlap, the one with the
 * best score stays. The result has `rows` boxes (top, left, bottom, right), classes, scores, and
 * how many there are: 6 * rows + 1 numbers, 0 where there are fewer. `space` has room for 6 numbers
 * a box.
 */
void cg_detections(const cg_detection_params *params, const void *encoded, const void *scores,
                   const void *anchors, cg_f32 *space, cg_f32 *output);

#ifdef __cplusplus
}
#endif

#endif
