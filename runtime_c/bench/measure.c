/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c -- painting memory and reading back how far it was used; MPU ranges of a model.
 */
#include <string.h>

#include "cg_link.h"
#include "cg_port.h"
#include "measure.h"

/* Farther from a pool nothing is painted: a stray write there meets the MPU, and time counts. */
#define AROUND_BYTES 4096u

#define NULL_PAGE_BYTES 64u /* the vector table, where code starts at address 0 */

typedef uint32_t CG_MAY_ALIAS aliased_word;

typedef struct {
    uint8_t *start;
    uint8_t *end;
} byte_range;

static uint32_t address_of(const void *pointer)
{
    return (uint32_t)(uintptr_t)pointer;
}

/* The pool section that holds `pool`, NULL if none does. */
static const cg_port_pools *section_of(const cg_bench_pool *pool)
{
    for (uint32_t i = 0; i < cg_board.pools_count; i++) {
        const cg_port_pools *const section = &cg_board.pools[i];
        if (pool->base >= section->start && pool->base < section->end) {
            return section;
        }
    }
    return NULL;
}

/*
 * Bytes in front of and behind a pool: guard bands, and pools of other models, which nobody uses
 * while this model runs; not what is a pool of the model too.
 */
static byte_range bytes_before(const cg_bench_model *model, const cg_bench_pool *pool)
{
    const cg_port_pools *const section = section_of(pool);
    byte_range range = {pool->base, pool->base};
    if (section != NULL) {
        const uint32_t free = (uint32_t)(pool->base - section->front);
        range.start -= free < AROUND_BYTES ? free : AROUND_BYTES;
    }
    for (uint32_t i = 0; i < model->pool_count; i++) {
        const uint32_t granules = model->pools[i].size_bytes + cg_mpu_granule_bytes - 1u;
        uint8_t *const end = model->pools[i].base + (granules - (granules % cg_mpu_granule_bytes));
        if (end <= pool->base && end > range.start) {
            range.start = end;
        }
    }
    return range;
}

static byte_range bytes_behind(const cg_bench_model *model, const cg_bench_pool *pool)
{
    const cg_port_pools *const section = section_of(pool);
    byte_range range = {pool->base + pool->size_bytes, pool->base + pool->size_bytes};
    if (section != NULL) {
        const uint32_t free = (uint32_t)(section->guard_end - range.start);
        range.end += free < AROUND_BYTES ? free : AROUND_BYTES;
    }
    for (uint32_t i = 0; i < model->pool_count; i++) {
        uint8_t *const base = model->pools[i].base;
        if (base > pool->base && base < range.end) {
            range.end = base;
        }
    }
    return range;
}

static void fill(byte_range range, uint8_t paint)
{
    memset(range.start, paint, (size_t)(range.end - range.start));
}

/* One past the highest byte that differs from the paint; the start if none does. */
static uint8_t *highest_use(byte_range range, uint8_t paint)
{
    const uint32_t word = paint * 0x01010101u;
    uint8_t *end = range.end;
    while (end > range.start && end[-1] == paint) {
        if ((address_of(end) & 3u) == 0) {
            while (end - range.start >= 4 &&
                   *(const aliased_word *)(const void *)(end - 4) == word) {
                end -= 4;
            }
            if (end == range.start || end[-1] != paint) {
                break;
            }
        }
        end--;
    }
    return end;
}

/* The lowest byte that differs from the paint; the end if none does. */
static uint8_t *lowest_use(byte_range range, uint8_t paint)
{
    uint8_t *at = range.start;
    while (at < range.end && *at == paint) {
        at++;
    }
    return at;
}

static bool untouched(byte_range range, uint8_t paint)
{
    return highest_use(range, paint) == range.start;
}

static uint8_t last_paint;

void cg_measure_paint(const cg_bench_model *model, uint8_t paint)
{
    last_paint = paint;
    for (uint32_t i = 0; i < model->pool_count; i++) {
        const cg_bench_pool *const pool = &model->pools[i];
        fill((byte_range){bytes_before(model, pool).start, bytes_behind(model, pool).end}, paint);
    }
    fill((byte_range){cg_board.stack_start, cg_context_stack_top()}, paint);
}

cg_marks cg_measure_pool(const cg_bench_model *model, const cg_bench_pool *pool, uint8_t paint)
{
    const byte_range inside = {pool->base, pool->base + pool->size_bytes};
    return (cg_marks){
        .peak_bytes = (uint32_t)(highest_use(inside, paint) - pool->base),
        .intact = untouched(bytes_before(model, pool), paint) &&
                  untouched(bytes_behind(model, pool), paint),
    };
}

uint32_t cg_measure_stack(uint8_t paint)
{
    uint8_t *const top = cg_bench_stack != NULL ? cg_bench_stack : cg_context_stack_top();
    return (uint32_t)(top - lowest_use((byte_range){cg_board.stack_start, top}, paint));
}

uint32_t cg_measure_core1_stack(uint8_t paint)
{
    if (cg_board.core1 == NULL) {
        return 0;
    }
    const byte_range range = {cg_board.core1->stack_start, cg_board.core1->stack_top()};
    return (uint32_t)(cg_board.core1->stack_end - lowest_use(range, paint));
}

#define LINK_STACK_PAINT 0xA5u
#define OWN_FRAMES_BYTES 64u /* what painting itself may use */

void cg_measure_paint_link_stack(void)
{
    uint8_t *const here = __builtin_frame_address(0);
    fill((byte_range){cg_board.link_stack_start, here - OWN_FRAMES_BYTES}, LINK_STACK_PAINT);
}

uint32_t cg_measure_link_stack(void)
{
    const byte_range range = {cg_board.link_stack_start, cg_board.link_stack_end};
    return (uint32_t)(lowest_use(range, LINK_STACK_PAINT) - range.start);
}

/* ---- memory protection ------------------------------------------------------------------ */

typedef struct {
    cg_mpu_range *range; /* of the board, which has room for all */
    uint32_t count;
} range_list;

static void add(range_list *list, cg_mpu_range range)
{
    if (list->count < cg_board.range_count && range.start < range.end) {
        list->range[list->count] = range;
        list->count++;
    }
}

/* The part of a region that the model may touch: for the data region, from its start. */
static void add_data(range_list *list, const cg_port_pools *section)
{
    const uint32_t floor = section->region_start;
    if (section->data_region) {
        add(list, (cg_mpu_range){floor, floor, address_of(cg_board.data_end), CG_MPU_READ_WRITE});
    }
}

/* From the first of the model's pools in a section to the last: one range, as there are few. */
static void add_pools(range_list *list, const cg_bench_model *model, const cg_port_pools *section)
{
    cg_mpu_range all = {section->region_start, 0, 0, CG_MPU_READ_WRITE};
    for (uint32_t i = 0; i < model->pool_count; i++) {
        const cg_bench_pool *const pool = &model->pools[i];
        if (section_of(pool) == section) {
            const uint32_t start = address_of(bytes_before(model, pool).start);
            const uint32_t behind = address_of(bytes_behind(model, pool).end);
            const uint32_t guarded = address_of(pool->base) + pool->size_bytes + pool->guard_bytes;
            const uint32_t end = guarded < behind ? guarded : behind;
            all.start = (all.end == 0 || start < all.start) ? start : all.start;
            all.end = end > all.end ? end : all.end;
        }
    }
    add(list, all);
}

/* Everything the model needs; of no model, what every model needs beside its pools. */
static void open_for(const cg_bench_model *model)
{
    range_list list = {.range = cg_board.ranges, .count = 0};
    for (uint32_t i = 0; i < cg_board.pools_count; i++) {
        add_data(&list, &cg_board.pools[i]);
        if (model != NULL) {
            add_pools(&list, model, &cg_board.pools[i]);
        }
    }
    for (uint32_t i = 0; i < cg_board.read_only_count; i++) {
        const cg_port_range *const range = &cg_board.read_only[i];
        add(&list, (cg_mpu_range){range->start, range->start, range->end, CG_MPU_READ_ONLY});
    }
    if (cg_board.read_only[0].start == 0) {
        add(&list, (cg_mpu_range){0, 0, NULL_PAGE_BYTES, CG_MPU_CLOSED});
    }
    for (uint32_t i = 0; i < cg_board.hole_count; i++) {
        const cg_port_range *const hole = &cg_board.holes[i];
        add(&list, (cg_mpu_range){hole->start, hole->start, hole->end, CG_MPU_CLOSED});
    }
    cg_mpu_open(list.range, list.count);
    cg_mpu_limit_stack(address_of(cg_board.stack_start));
}

/* Close memory on core 1 too, whose stack is painted last: what it did just now left marks there.
 */
static void protect_core1(void)
{
    if (cg_board.core1 != NULL) {
        cg_board.core1->follow();
        uint8_t *const top = cg_board.core1->stack_top();
        fill((byte_range){cg_board.core1->stack_start, top}, last_paint);
    }
}

void cg_measure_protect(const cg_bench_model *model)
{
    open_for(model);
    protect_core1();
}

static cg_mpu_range touched_range(const cg_bench_model *model, uint32_t index)
{
    const cg_bench_live *const live = &model->touched[index];
    const uint32_t start = address_of(model->pools[live->pool].base) + live->offset;
    const uint32_t end = start + live->size_bytes + cg_mpu_granule_bytes - 1u;
    return (cg_mpu_range){start, start, end & ~(cg_mpu_granule_bytes - 1u), CG_MPU_READ_WRITE};
}

static bool is_touched(const cg_bench_model *model, uint32_t index, uint32_t step)
{
    const uint32_t wanted = step == CG_LINK_NO_STEP ? CG_BENCH_EDGE : step;
    return model->touched[index].step == wanted;
}

/* The lowest bytes from `from` on that the step may use, as far as they go in one piece; empty if
 * there are none. In a piece nothing but padding parts one buffer from the next. */
static cg_mpu_range next_piece(const cg_bench_model *model, uint32_t step, uint32_t from)
{
    cg_mpu_range piece = {UINT32_MAX, UINT32_MAX, UINT32_MAX, CG_MPU_READ_WRITE};
    bool grows = true;
    while (grows) {
        grows = false;
        for (uint32_t i = 0; i < model->touched_count; i++) {
            if (!is_touched(model, i, step) || model->touched[i].size_bytes == 0) {
                continue;
            }
            const cg_mpu_range range = touched_range(model, i);
            if (range.end <= from) {
                continue; /* it is in a piece already */
            }
            if (piece.start == UINT32_MAX || range.end < piece.start) {
                piece = range;
                grows = true;
            } else if (range.start <= piece.end && piece.start <= range.end &&
                       (range.start < piece.start || piece.end < range.end)) {
                piece.start = range.start < piece.start ? range.start : piece.start;
                piece.end = piece.end < range.end ? range.end : piece.end;
                grows = true;
            }
        }
    }
    piece.floor = piece.start;
    return piece;
}

uint32_t cg_measure_protect_step(const cg_bench_model *model, uint32_t step)
{
    open_for(NULL);
    for (uint32_t i = 0; i < model->touched_count; i++) {
        if (is_touched(model, i, step) &&
            touched_range(model, i).start % cg_mpu_granule_bytes != 0) {
            return CG_LINK_INEXACT;
        }
    }
    for (uint32_t from = 0;;) {
        const cg_mpu_range piece = next_piece(model, step, from);
        if (piece.start == UINT32_MAX) {
            break;
        }
        if (!cg_mpu_add(&piece)) {
            return CG_LINK_NO_REGION;
        }
        from = piece.end;
    }
    protect_core1();
    return 0;
}
