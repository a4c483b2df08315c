/* SPDX-License-Identifier: Apache-2.0 */
/* cg_zve32x_parts.h -- what the C and assembly parts of the Zve32x kernels share. */
#ifndef CG_ZVE32X_PARTS_H
#define CG_ZVE32X_PARTS_H

#include "cg_kernels_zve32x.h"

#include <string.h>

/* Windows of neighbouring pixels: products_s8_zve32x.S knows the layout. */
typedef struct {
    const int8_t *start;
    int32_t pixel_step; /* bytes from a pixel's window to the next one's */
    int32_t lines;      /* of each window */
    int32_t line_bytes;
    int32_t line_jump; /* bytes from behind a line to the next one */
} cg_windows_zve32x;

/* All channels of six pixels, of three, of one. Their results lie side by side. */
void cg_products6_s8_zve32x(const cg_products_zve32x *products, const cg_windows_zve32x *windows,
                            int8_t *output);
void cg_products3_s8_zve32x(const cg_products_zve32x *products, const cg_windows_zve32x *windows,
                            int8_t *output);
void cg_products1_s8_zve32x(const cg_products_zve32x *products, const cg_windows_zve32x *windows,
                            int8_t *output);

/* `count` bytes, at least one. */
void cg_copy_s8_zve32x(int8_t *to, const int8_t *from, int32_t count);

/* A row of results from three rows: depthwise3x3_rows_s8_zve32x.S knows the layout. */
typedef struct {
    const int8_t *rows[3];
    int32_t results;
    int32_t step; /* bytes from a result's first column to the next one's */
    int32_t first;
    int32_t channels; /* from `first` on: bytes of a column */
} cg_depthwise_rows_zve32x;

void cg_depthwise3x3_rows_s8_zve32x(const cg_products_zve32x *products,
                                    const cg_depthwise_rows_zve32x *rows, int8_t *output);

/* Columns [first, first + count) of an image, `width` columns, of each of them `depth` bytes. */
typedef struct {
    int32_t first;
    int32_t count;
    int32_t width;
    int32_t depth;
    int32_t step; /* bytes from a column of the image to the next */
    int32_t zero; /* value of the padding */
} cg_columns_zve32x;

/* These columns of the row of the image whose column `origin` is at `line` to `to`; NULL: padding.
 */
static inline void cg_keep_columns_zve32x(const cg_columns_zve32x *columns, int8_t *to,
                                          const int8_t *line, int32_t origin)
{
    const int32_t end = columns->first + columns->count;
    const int32_t start = (columns->first < 0) ? 0 : columns->first;
    const int32_t stop = (end > columns->width) ? columns->width : end;
    const int32_t depth = columns->depth;
    if ((line == NULL) || (stop <= start)) {
        memset(to, (int)columns->zero, (size_t)(columns->count * depth));
        return;
    }
    if (start > columns->first) {
        const int32_t bytes = (start - columns->first) * depth;
        memset(to, (int)columns->zero, (size_t)bytes);
        to += bytes;
    }
    const int8_t *from = &line[(start - origin) * columns->step];
    if (columns->step == depth) {
        cg_copy_s8_zve32x(to, from, (stop - start) * depth);
        to += (stop - start) * depth;
    } else {
        for (int32_t column = start; column < stop; column++) {
            cg_copy_s8_zve32x(to, from, depth);
            from += columns->step;
            to += depth;
        }
    }
    if (end > stop) {
        memset(to, (int)columns->zero, (size_t)((end - stop) * depth));
    }
}

#endif /* CG_ZVE32X_PARTS_H */
