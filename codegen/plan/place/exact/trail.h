/* What a search has changed, so that it can go back: of search.c and orient.c alone. */
#ifndef CODEGEN_PLAN_EXACT_TRAIL_H
#define CODEGEN_PLAN_EXACT_TRAIL_H

#include <stdint.h>
#include <stdlib.h>

/* What something was before: `kind` says which of its numbers, `index` of which buffer or pair. */
typedef struct {
    int64_t old;
    int32_t kind;
    int32_t index;
} cg_change;

typedef struct {
    cg_change *changes;
    int32_t count;
    int32_t room;
    int32_t out_of_memory; /* changes were lost: the search cannot go on */
} cg_trail;

static inline void cg_trail_add(cg_trail *trail, int32_t kind, int32_t index, int64_t old)
{
    if (trail->count == trail->room) {
        int32_t room = 2 * trail->room + 1024;
        cg_change *more = realloc(trail->changes, (size_t)room * sizeof *more);
        if (more == NULL) {
            trail->out_of_memory = 1;
            trail->count = 0;
            return;
        }
        trail->changes = more;
        trail->room = room;
    }
    trail->changes[trail->count++] = (cg_change){.old = old, .kind = kind, .index = index};
}

#endif
