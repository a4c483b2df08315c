/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detections.c -- DETECTION_POST_PROCESS.
 *
 * Instead of sorting boxes, the best one that is left is looked for again and again, and what it
 * overlaps leaves: as many comparisons as the overlaps take anyhow, and no list besides. Boxes that
 * are left stay in order, so of equal scores the first one is the best.
 */
#include <string.h>

#include "cg_kernels_detection.h"

#define SIDES 4

/* One inference: what was given, and the parts of `space`. */
typedef struct {
    const cg_detection_params *params;
    const void *scores;
    cg_f32 *corners; /* 4 a box */
    cg_f32 *best;    /* a score a box */
    cg_s32 *left;    /* boxes that are still in question */
    int32_t count;   /* how many of them */
    cg_f32 *output;
} detection;

/*
 * An integer of int8 less a zero point is added to the lowest bits of 3 * 2^22 as a float, and that
 * number taken away again. It is exact, and no conversion instruction: behind a condition compilers
 * for Helium write one that assemblers take for another.
 */
static float number(const void *values, int32_t at, const cg_detection_meaning *meaning)
{
    if (meaning->scale == 0.0f) {
        return ((const cg_f32 *)values)[at];
    }
    int32_t integer = ((const int8_t *)values)[at] - meaning->zero_point;
    uint32_t bits = 0x4B400000u + (uint32_t)integer;
    float real;
    memcpy(&real, &bits, sizeof real);
    return (real - 12582912.0f) * meaning->scale;
}

/*
 * exp(x) in 64 bits: 2^k * exp(r) with |r| <= ln(2) / 2, by its series up to r^13; the first term
 * left out is below 0.35^14 / 14! = 5e-18. Arguments beyond a float's range end at its ends.
 */
static double exponential(double x)
{
    static const double terms[] = {1.0 / 6227020800.0,
                                   1.0 / 479001600.0,
                                   1.0 / 39916800.0,
                                   1.0 / 3628800.0,
                                   1.0 / 362880.0,
                                   1.0 / 40320.0,
                                   1.0 / 5040.0,
                                   1.0 / 720.0,
                                   1.0 / 120.0,
                                   1.0 / 24.0,
                                   1.0 / 6.0,
                                   0.5,
                                   1.0,
                                   1.0};
    x = x < 700.0 ? x : 700.0;
    x = x > -700.0 ? x : -700.0;
    int32_t k = (int32_t)(x * 1.4426950408889634 + (x < 0.0 ? -0.5 : 0.5));
    double r = (x - (double)k * 0.693147180369123816490) - (double)k * 1.90821492927058770002e-10;
    double sum = 0.0;
    for (uint32_t i = 0; i < sizeof terms / sizeof terms[0]; i++) {
        sum = sum * r + terms[i];
    }
    uint64_t bits = (uint64_t)(uint32_t)(k + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return sum * power;
}

static void decode(const detection *it, const void *encoded, const void *anchors)
{
    const cg_detection_params *params = it->params;
    for (int32_t box = 0; box < params->boxes; box++) {
        for (int32_t axis = 0; axis < 2; axis++) {
            int32_t from = box * params->coordinates + axis;
            double place = (double)number(anchors, SIDES * box + axis, &params->anchors);
            double extent = (double)number(anchors, SIDES * box + axis + 2, &params->anchors);
            double shift = (double)number(encoded, from, &params->encoded);
            double stretch = (double)number(encoded, from + 2, &params->encoded);
            float centre = (float)(shift / (double)params->scales[axis] * extent + place);
            stretch /= (double)params->scales[axis + 2];
            float half = (float)(0.5 * exponential(stretch) * extent);
            it->corners[SIDES * box + axis] = centre - half;
            it->corners[SIDES * box + axis + 2] = centre + half;
        }
    }
}

static float score(const detection *it, int32_t box, int32_t class_)
{
    const cg_detection_params *params = it->params;
    int32_t at = box * (params->classes + params->background) + params->background + class_;
    return number(it->scores, at, &params->scores);
}

static float greater(float a, float b)
{
    return a < b ? b : a;
}

static float less(float a, float b)
{
    return b < a ? b : a;
}

static float area(const cg_f32 *box)
{
    return (box[2] - box[0]) * (box[3] - box[1]);
}

/* Intersection over union; 0 where a box has no area. */
static float overlap(const cg_f32 *a, const cg_f32 *b)
{
    float area_a = area(a);
    float area_b = area(b);
    if (area_a <= 0.0f || area_b <= 0.0f) {
        return 0.0f;
    }
    float height = greater(less(a[2], b[2]) - greater(a[0], b[0]), 0.0f);
    float width = greater(less(a[3], b[3]) - greater(a[1], b[1]), 0.0f);
    float common = height * width;
    return common / (area_a + area_b - common);
}

/* All boxes whose score is high enough are in question. The whole list is written, as all memory
 * is. */
static void begin(detection *it)
{
    it->count = 0;
    for (int32_t box = 0; box < it->params->boxes; box++) {
        it->left[box] = box;
        if (it->best[box] >= it->params->score) {
            it->left[it->count++] = box;
        }
    }
}

/* The best box in question; it and what it overlaps too much are no longer. */
static int32_t take(detection *it)
{
    int32_t found = it->left[0];
    for (int32_t i = 1; i < it->count; i++) {
        if (it->best[it->left[i]] > it->best[found]) {
            found = it->left[i];
        }
    }
    int32_t kept = 0;
    for (int32_t i = 0; i < it->count; i++) {
        int32_t other = it->left[i];
        if (other != found && !(overlap(it->corners + SIDES * found, it->corners + SIDES * other) >
                                it->params->overlap)) {
            it->left[kept++] = other;
        }
    }
    it->count = kept;
    return found;
}

/* Copies a box elsewhere. A loop would become a call of memmove, which no kernel asks for. */
static void copy_sides(cg_f32 *to, const cg_f32 *from)
{
    memcpy(to, from, SIDES * sizeof *to);
}

static void write(const detection *it, int32_t row, int32_t box, int32_t class_)
{
    int32_t rows = it->params->rows;
    copy_sides(it->output + SIDES * row, it->corners + SIDES * box);
    it->output[SIDES * rows + row] = (float)class_;
    it->output[(SIDES + 1) * rows + row] = score(it, box, class_);
}

/* The row of a new detection among `count` by falling scores: behind equal ones, which move down.
 */
static int32_t make_room(const detection *it, int32_t count, float value)
{
    int32_t rows = it->params->rows;
    cg_f32 *classes = it->output + SIDES * rows;
    cg_f32 *scores = classes + rows;
    int32_t row = count;
    while (row > 0 && scores[row - 1] < value) {
        row--;
        if (row + 1 < it->params->most) {
            copy_sides(it->output + SIDES * (row + 1), it->output + SIDES * row);
            classes[row + 1] = classes[row];
            scores[row + 1] = scores[row];
        }
    }
    return row;
}

/* Classes one by one. Returns how many detections there are. */
static int32_t by_class(detection *it)
{
    const cg_detection_params *params = it->params;
    int32_t count = 0;
    for (int32_t class_ = 0; class_ < params->classes; class_++) {
        for (int32_t box = 0; box < params->boxes; box++) {
            it->best[box] = score(it, box, class_);
        }
        begin(it);
        for (int32_t taken = 0; taken < params->most_of_class && it->count > 0; taken++) {
            int32_t box = take(it);
            int32_t row = make_room(it, count, it->best[box]);
            if (row < params->most) {
                write(it, row, box, class_);
                count += count < params->most;
            }
        }
    }
    return count;
}

/* The class of a box whose score comes next behind that of `last` (-1: the best one). */
static int32_t next_class(const detection *it, int32_t box, int32_t last)
{
    int32_t found = -1;
    for (int32_t class_ = 0; class_ < it->params->classes; class_++) {
        float value = score(it, box, class_);
        float before = last < 0 ? value : score(it, box, last);
        int is_behind = last < 0 || value < before || (value == before && class_ > last);
        if (is_behind && (found < 0 || value > score(it, box, found))) {
            found = class_;
        }
    }
    return found;
}

/* Boxes by their best class. Returns how many there are. */
static int32_t by_box(detection *it)
{
    const cg_detection_params *params = it->params;
    for (int32_t box = 0; box < params->boxes; box++) {
        float best = score(it, box, 0);
        for (int32_t class_ = 1; class_ < params->classes; class_++) {
            best = greater(best, score(it, box, class_));
        }
        it->best[box] = best;
    }
    begin(it);
    int32_t count = 0;
    while (count < params->most && it->count > 0) {
        int32_t box = take(it);
        int32_t class_ = next_class(it, box, -1);
        for (int32_t i = 0; i < params->classes_of_box && class_ >= 0; i++) {
            write(it, count * params->classes_of_box + i, box, class_);
            class_ = next_class(it, box, class_);
        }
        count++;
    }
    return count;
}

void cg_detections(const cg_detection_params *params, const void *encoded, const void *scores,
                   const void *anchors, cg_f32 *space, cg_f32 *output)
{
    detection it;
    it.params = params;
    it.scores = scores;
    it.corners = space;
    it.best = space + SIDES * params->boxes;
    void *left = space + (SIDES + 1) * params->boxes;
    it.left = left;
    it.count = 0;
    it.output = output;
    int32_t numbers = (SIDES + 2) * params->rows;
    for (int32_t i = 0; i < numbers; i++) {
        output[i] = 0.0f;
    }
    decode(&it, encoded, anchors);
    output[numbers] = (float)(params->by_class ? by_class(&it) : by_box(&it));
}
