/* Do these few buffers fit into `capacity` bytes? A search over the directions of conflicts that knows
 * alignments and permitted overlaps. Host code: compiled and loaded by native.py, never part of
 * generated sources.
 *
 * Every buffer has a window of offsets, multiples of its alignment. A node decides which buffer of one
 * conflict is the lower one. What prunes:
 * - windows: a direction that the windows exclude decides the conflict; a direction narrows both
 *   windows (longest paths from the base and from the top, rounded to alignments on the way);
 * - sequences: buffers of a section that are all in conflict lie one above the other. Over all their
 *   orders, by dynamic programming over subsets (Held and Karp 1962) from below and from above: the
 *   least and the largest offset of each buffer, and pairs with only one direction left. With distances
 *   other than sizes the last buffer of a subset belongs to the state. Where keys exist decided
 *   directions restrict the orders; without keys any order in which each conflict's distance holds
 *   between neighbours counts (every tournament has such a path, Redei 1934), a relaxation.
 * A solution: at their lowest offsets no conflict is broken. */
#include "orient.h"
#include "trail.h"

#include <stdlib.h>
#include <string.h>

enum { FREE, FIRST_BELOW, SECOND_BELOW };
enum { LOWEST, HIGHEST, DIRECTION };

/* Buffers of a sequence: where distances are sizes, and where they are not. Others are left out. */
enum { MOST = 14, MOST_ODD = 9 };

/* Steps of a dynamic program that take as long as a unit of work of search.c. */
enum { STEPS = 32 };

#define FAR (INT64_MAX / 4)

/* A decision, its opposite, and the state before. */
typedef struct {
    int32_t pair;
    uint8_t opposite;
    int32_t changes;
} level;

/* A conflict: first + below <= second, or second + above <= first. */
typedef struct {
    int32_t first;
    int32_t second;
    int64_t below;
    int64_t above;
    uint8_t direction;
} pair;

/* Buffers that are all in conflict, and what a sequence of them knows while it is checked. */
typedef struct {
    int32_t count;
    int32_t odd; /* some distance is not the size of the lower buffer */
    int32_t buffer[MOST];
} clique;

struct cg_orient_search {
    cg_fit_graph graph;
    int32_t keyed;
    int32_t started;
    int64_t nodes;
    int64_t steps;
    int64_t *low; /* window of each buffer's offset, both ends multiples of the alignment */
    int64_t *high;
    pair *pairs;
    int32_t pair_count;
    int32_t *pair_of; /* pair of each of graph's edges */
    int32_t *between; /* buffers x buffers: their pair, or -1 */
    uint8_t *queued;
    clique *cliques;
    int32_t clique_count;
    uint8_t *dirty;
    cg_trail trail;
    level *levels;
    int32_t level_count;
    int64_t *rising;  /* per subset (and its last buffer): least end, or offset of the last */
    int64_t *falling; /* per subset (and its first buffer): the largest */
    uint16_t *rises;  /* per subset: last buffers for which there is an order */
    uint16_t *falls;

    /* Of the clique that is checked now. */
    int32_t before[MOST]; /* members decided to lie below, as bits */
    int32_t after[MOST];
    int64_t distance[MOST][MOST];
    int64_t least[MOST]; /* what the orders leave of the windows, and of the directions */
    int64_t most[MOST];
    int32_t above[MOST]; /* members that lie above in some order */
};

static int64_t up(const cg_orient_search *s, int32_t buffer, int64_t offset)
{
    int64_t alignment = s->graph.alignment[buffer];
    return offset <= 0 ? 0 : (offset + alignment - 1) / alignment * alignment;
}

static int64_t down(const cg_orient_search *s, int32_t buffer, int64_t offset)
{
    int64_t alignment = s->graph.alignment[buffer];
    return offset < 0 ? -1 : offset / alignment * alignment;
}

/* The buffer's conflicts and sequences have to be looked at again. */
static void touch(cg_orient_search *s, int32_t buffer)
{
    s->queued[buffer] = 1;
    for (int32_t i = 0; i < s->clique_count; i++) {
        for (int32_t x = 0; x < s->cliques[i].count; x++) {
            s->dirty[i] |= s->cliques[i].buffer[x] == buffer;
        }
    }
}

static int raise_low(cg_orient_search *s, int32_t buffer, int64_t offset)
{
    if (offset <= s->low[buffer]) {
        return 1;
    }
    cg_trail_add(&s->trail, LOWEST, buffer, s->low[buffer]);
    s->low[buffer] = offset;
    touch(s, buffer);
    return offset <= s->high[buffer];
}

static int lower_high(cg_orient_search *s, int32_t buffer, int64_t offset)
{
    if (offset >= s->high[buffer]) {
        return 1;
    }
    cg_trail_add(&s->trail, HIGHEST, buffer, s->high[buffer]);
    s->high[buffer] = offset;
    touch(s, buffer);
    return offset >= s->low[buffer];
}

static int decide(cg_orient_search *s, int32_t number, uint8_t direction)
{
    pair *p = &s->pairs[number];
    if (p->direction != FREE) {
        return p->direction == direction;
    }
    cg_trail_add(&s->trail, DIRECTION, number, FREE);
    p->direction = direction;
    touch(s, p->first);
    touch(s, p->second);
    return 1;
}

static void undo(cg_orient_search *s, int32_t down_to)
{
    while (s->trail.count > down_to) {
        cg_change c = s->trail.changes[--s->trail.count];
        if (c.kind == LOWEST) {
            s->low[c.index] = c.old;
        } else if (c.kind == HIGHEST) {
            s->high[c.index] = c.old;
        } else {
            s->pairs[c.index].direction = (uint8_t)c.old;
        }
    }
}

static int apart(cg_orient_search *s, int32_t lower, int32_t upper, int64_t distance)
{
    return raise_low(s, upper, up(s, upper, s->low[lower] + distance)) &&
           lower_high(s, lower, down(s, lower, s->high[upper] - distance));
}

/* One conflict: what its windows exclude, and what its direction does to them. */
static int settle(cg_orient_search *s, int32_t number)
{
    pair *p = &s->pairs[number];
    s->steps++;
    if (p->direction == FREE) {
        int first = s->low[p->first] + p->below <= s->high[p->second];
        int second = s->low[p->second] + p->above <= s->high[p->first];
        if (first && second) {
            return 1;
        }
        if (!first && !second) {
            return 0;
        }
        decide(s, number, first ? FIRST_BELOW : SECOND_BELOW);
    }
    return p->direction == FIRST_BELOW ? apart(s, p->first, p->second, p->below)
                                       : apart(s, p->second, p->first, p->above);
}

/* Conflicts of buffers whose windows have changed, until nothing changes. */
static int relax(cg_orient_search *s)
{
    const cg_fit_graph *g = &s->graph;
    for (int changed = 1; changed;) {
        changed = 0;
        for (int32_t buffer = 0; buffer < g->buffers; buffer++) {
            if (!s->queued[buffer]) {
                continue;
            }
            changed = 1;
            s->queued[buffer] = 0;
            for (int32_t k = g->edge_start[buffer]; k < g->edge_start[buffer + 1]; k++) {
                if (!settle(s, s->pair_of[k])) {
                    return 0;
                }
            }
        }
    }
    return 1;
}

/* Distances and decided directions of a clique's members. */
static void read_clique(cg_orient_search *s, const clique *c)
{
    for (int32_t x = 0; x < c->count; x++) {
        s->before[x] = 0;
        s->after[x] = 0;
        s->least[x] = FAR;
        s->most[x] = -1;
        s->above[x] = 0;
        for (int32_t y = 0; y < c->count; y++) {
            if (x == y) {
                continue;
            }
            const pair *p =
                &s->pairs[s->between[c->buffer[x] * s->graph.buffers + c->buffer[y]]];
            int first = p->first == c->buffer[x];
            s->distance[x][y] = first ? p->below : p->above;
            if (s->keyed && p->direction != FREE) {
                int below = first == (p->direction == FIRST_BELOW);
                *(below ? &s->after[x] : &s->before[x]) |= 1 << y;
            }
        }
    }
}

/* Distances are sizes: of a subset only its least end (from the top: largest offset) matters. */
static void order_plain(cg_orient_search *s, const clique *c)
{
    int32_t all = (1 << c->count) - 1;
    for (int32_t set = 1; set <= all; set++) {
        s->rising[set] = FAR;
        s->falling[set] = -1;
    }
    s->rising[0] = 0;
    s->falling[0] = FAR;
    for (int32_t set = 0; set < all; set++) {
        int64_t end = s->rising[set];
        int64_t top = s->falling[set];
        if (end == FAR && top < 0) {
            continue;
        }
        for (int32_t x = 0; x < c->count; x++) {
            int32_t buffer = c->buffer[x];
            int32_t with = set | 1 << x;
            int64_t size = s->graph.size[buffer];
            if (with == set) {
                continue;
            }
            s->steps++;
            if (end < FAR && !(s->before[x] & ~set)) {
                int64_t low = s->low[buffer];
                int64_t offset = end <= low ? low : up(s, buffer, end);
                if (offset <= s->high[buffer] && offset + size < s->rising[with]) {
                    s->rising[with] = offset + size;
                }
            }
            if (top >= 0 && !(s->after[x] & ~set)) {
                int64_t high = s->high[buffer];
                int64_t offset = top - size >= high ? high : down(s, buffer, top - size);
                if (offset >= s->low[buffer] && offset > s->falling[with]) {
                    s->falling[with] = offset;
                }
            }
        }
    }
}

/* What all orders together leave: each member between any subset and the rest of the clique. */
static void meet_plain(cg_orient_search *s, const clique *c)
{
    int32_t all = (1 << c->count) - 1;
    for (int32_t set = 0; set < all; set++) {
        if (s->rising[set] == FAR) {
            continue;
        }
        for (int32_t x = 0; x < c->count; x++) {
            int32_t buffer = c->buffer[x];
            int32_t rest = all & ~set & ~(1 << x);
            if (set >> x & 1 || s->before[x] & ~set || s->falling[rest] < 0) {
                continue;
            }
            s->steps++;
            int64_t low = up(s, buffer, s->rising[set]);
            int64_t high = down(s, buffer, s->falling[rest] - s->graph.size[buffer]);
            low = low > s->low[buffer] ? low : s->low[buffer];
            high = high < s->high[buffer] ? high : s->high[buffer];
            if (low <= high) {
                s->least[x] = low < s->least[x] ? low : s->least[x];
                s->most[x] = high > s->most[x] ? high : s->most[x];
                s->above[x] |= rest;
            }
        }
    }
}

/* Any distances: the offset of the last (from the top: first) buffer of a subset, for each that can be. */
static void order_odd(cg_orient_search *s, const clique *c)
{
    int32_t all = (1 << c->count) - 1;
    memset(s->rises, 0, ((size_t)all + 1) * sizeof *s->rises);
    memset(s->falls, 0, ((size_t)all + 1) * sizeof *s->falls);
    for (int32_t x = 0; x < c->count; x++) {
        s->rising[(1 << x) * MOST + x] = s->low[c->buffer[x]];
        s->falling[(1 << x) * MOST + x] = s->high[c->buffer[x]];
        s->rises[1 << x] = (uint16_t)(s->before[x] ? 0 : 1 << x);
        s->falls[1 << x] = (uint16_t)(s->after[x] ? 0 : 1 << x);
    }
    for (int32_t set = 1; set < all; set++) {
        if (!(s->rises[set] | s->falls[set])) {
            continue;
        }
        for (int32_t x = 0; x < c->count; x++) {
            int32_t buffer = c->buffer[x];
            int32_t with = set | 1 << x;
            int rise = !(s->before[x] & ~set);
            int fall = !(s->after[x] & ~set);
            if (with == set) {
                continue;
            }
            int64_t least = FAR;
            int64_t most = -1;
            for (int32_t y = 0; y < c->count; y++) {
                int64_t offset;
                if (rise && s->rises[set] >> y & 1) {
                    offset = s->rising[set * MOST + y] + s->distance[y][x];
                    least = offset < least ? offset : least;
                }
                if (fall && s->falls[set] >> y & 1) {
                    offset = s->falling[set * MOST + y] - s->distance[x][y];
                    most = offset > most ? offset : most;
                }
            }
            s->steps += c->count;
            least = least <= s->low[buffer] ? s->low[buffer] : up(s, buffer, least);
            most = most >= s->high[buffer] ? s->high[buffer] : down(s, buffer, most);
            if (least <= s->high[buffer]) {
                s->rising[with * MOST + x] = least;
                s->rises[with] |= (uint16_t)(1 << x);
            }
            if (most >= s->low[buffer]) {
                s->falling[with * MOST + x] = most;
                s->falls[with] |= (uint16_t)(1 << x);
            }
        }
    }
}

static void meet_odd(cg_orient_search *s, const clique *c)
{
    int32_t all = (1 << c->count) - 1;
    for (int32_t set = 1; set <= all; set++) {
        for (int32_t x = 0; x < c->count && s->rises[set]; x++) {
            int32_t rest = (all & ~set) | 1 << x;
            if (!(s->rises[set] >> x & 1) || !(s->falls[rest] >> x & 1)) {
                continue;
            }
            s->steps++;
            int64_t low = s->rising[set * MOST + x];
            int64_t high = s->falling[rest * MOST + x];
            if (low <= high) {
                s->least[x] = low < s->least[x] ? low : s->least[x];
                s->most[x] = high > s->most[x] ? high : s->most[x];
                s->above[x] |= rest;
            }
        }
    }
}

/* Narrows what no order of a clique's members permits; 0: there is no order. */
static int sequence(cg_orient_search *s, const clique *c)
{
    read_clique(s, c);
    if (c->odd) {
        order_odd(s, c);
        meet_odd(s, c);
    } else {
        order_plain(s, c);
        meet_plain(s, c);
    }
    for (int32_t x = 0; x < c->count; x++) {
        if (s->most[x] < 0 || !raise_low(s, c->buffer[x], s->least[x]) ||
            !lower_high(s, c->buffer[x], s->most[x])) {
            return 0;
        }
    }
    for (int32_t x = 0; s->keyed && x < c->count; x++) {
        for (int32_t y = 0; y < c->count; y++) {
            if (x == y || s->above[x] >> y & 1) {
                continue;
            }
            /* y never lies above x. */
            int32_t number = s->between[c->buffer[x] * s->graph.buffers + c->buffer[y]];
            int first = s->pairs[number].first == c->buffer[y];
            if (!decide(s, number, first ? FIRST_BELOW : SECOND_BELOW)) {
                return 0;
            }
        }
    }
    return 1;
}

/* Windows and sequences until nothing changes; 0: a contradiction. */
static int propagate(cg_orient_search *s)
{
    int fits = relax(s);
    for (int32_t i = 0; fits && i < s->clique_count;) {
        if (s->dirty[i]) {
            fits = sequence(s, &s->cliques[i]);
            s->dirty[i] = 0;
            fits = fits && relax(s);
            i = 0;
        } else {
            i++;
        }
    }
    if (!fits) {
        memset(s->queued, 0, (size_t)s->graph.buffers);
        memset(s->dirty, 0, (size_t)s->clique_count);
    }
    return fits;
}

/* The broken conflict with the least room to choose, and its roomier direction; -1: none is broken.
 * Room: slack of the tighter direction, the more so the closer the other is (Smith and Cheng 1993). */
static int32_t tightest(const cg_orient_search *s, uint8_t *direction)
{
    int32_t found = -1;
    double least = 0;
    for (int32_t i = 0; i < s->pair_count; i++) {
        const pair *p = &s->pairs[i];
        if (p->direction != FREE || s->low[p->first] + p->below <= s->low[p->second] ||
            s->low[p->second] + p->above <= s->low[p->first]) {
            continue;
        }
        int64_t first = s->high[p->second] - s->low[p->first] - p->below;
        int64_t second = s->high[p->first] - s->low[p->second] - p->above;
        double tight = (double)((first < second ? first : second) + 1);
        double loose = (double)((first < second ? second : first) + 1);
        /* tight / sqrt(tight / loose), squared */
        double room = tight * loose;
        if (found < 0 || room < least) {
            found = i;
            least = room;
            *direction = first >= second ? FIRST_BELOW : SECOND_BELOW;
        }
    }
    return found;
}

int32_t cg_orient_run(cg_orient_search *s, int64_t effort)
{
    int64_t until = s->steps + effort * STEPS;
    if (!s->started) {
        s->started = 1;
        for (int32_t buffer = 0; buffer < s->graph.buffers; buffer++) {
            if (s->high[buffer] < 0) {
                return CG_FIT_EXHAUSTED;
            }
            s->queued[buffer] = 1;
        }
        memset(s->dirty, 1, (size_t)s->clique_count);
        if (!propagate(s)) {
            return CG_FIT_EXHAUSTED;
        }
    }
    while (s->steps < until) {
        uint8_t direction = FREE;
        int32_t number = tightest(s, &direction);
        if (number < 0) {
            return CG_FIT_FOUND;
        }
        s->nodes++;
        s->steps += s->pair_count;
        s->levels[s->level_count++] = (level){
            .pair = number,
            .opposite = direction == FIRST_BELOW ? SECOND_BELOW : FIRST_BELOW,
            .changes = s->trail.count,
        };
        decide(s, number, direction);
        while (!propagate(s)) {
            if (s->level_count == 0) {
                return CG_FIT_EXHAUSTED;
            }
            level last = s->levels[--s->level_count];
            undo(s, last.changes);
            decide(s, last.pair, last.opposite);
        }
        if (s->trail.out_of_memory) {
            return CG_FIT_NO_MEMORY;
        }
    }
    return CG_FIT_STOPPED;
}

static void *zeroed(int64_t count, size_t size)
{
    return calloc(count > 0 ? (size_t)count : 1, size);
}

static int allocate(cg_orient_search *s)
{
    int32_t n = s->graph.buffers;
    int32_t edges = s->graph.edge_start[n];
    s->low = zeroed(n, sizeof *s->low);
    s->high = zeroed(n, sizeof *s->high);
    s->pairs = zeroed(edges / 2, sizeof *s->pairs);
    s->pair_of = zeroed(edges, sizeof *s->pair_of);
    s->between = zeroed((int64_t)n * n, sizeof *s->between);
    s->queued = zeroed(n, sizeof *s->queued);
    s->cliques = zeroed(s->graph.sections, sizeof *s->cliques);
    s->dirty = zeroed(s->graph.sections, sizeof *s->dirty);
    s->levels = zeroed(edges / 2, sizeof *s->levels);
    s->rising = zeroed((int64_t)1 << MOST, sizeof *s->rising);
    s->falling = zeroed((int64_t)1 << MOST, sizeof *s->falling);
    s->rises = zeroed((int64_t)1 << MOST_ODD, sizeof *s->rises);
    s->falls = zeroed((int64_t)1 << MOST_ODD, sizeof *s->falls);
    return s->low && s->high && s->pairs && s->pair_of && s->between && s->queued && s->cliques &&
           s->dirty && s->levels && s->rising && s->falling && s->rises && s->falls;
}

static void read_pairs(cg_orient_search *s)
{
    const cg_fit_graph *g = &s->graph;
    for (int32_t i = 0; i < g->buffers * g->buffers; i++) {
        s->between[i] = -1;
    }
    for (int32_t buffer = 0; buffer < g->buffers; buffer++) {
        for (int32_t k = g->edge_start[buffer]; k < g->edge_start[buffer + 1]; k++) {
            int32_t other = g->edge_other[k];
            if (other > buffer) {
                s->pairs[s->pair_count] = (pair){.first = buffer,
                                                 .second = other,
                                                 .below = g->edge_below[k],
                                                 .above = g->edge_above[k],
                                                 .direction = FREE};
                s->between[buffer * g->buffers + other] = s->pair_count;
                s->between[other * g->buffers + buffer] = s->pair_count++;
            }
            s->pair_of[k] = s->between[buffer * g->buffers + other];
        }
    }
}

static int all_in_conflict(const cg_orient_search *s, const clique *c, int32_t buffer)
{
    for (int32_t x = 0; x < c->count; x++) {
        if (s->between[buffer * s->graph.buffers + c->buffer[x]] < 0) {
            return 0;
        }
    }
    return 1;
}

static int is_odd(const cg_orient_search *s, const clique *c, int32_t buffer)
{
    const cg_fit_graph *g = &s->graph;
    for (int32_t x = 0; x < c->count; x++) {
        const pair *p = &s->pairs[s->between[buffer * g->buffers + c->buffer[x]]];
        if (p->below != g->size[p->first] || p->above != g->size[p->second]) {
            return 1;
        }
    }
    return 0;
}

/* The largest buffers of a section that are all in conflict, as many as there is room for. */
static void read_section(cg_orient_search *s, int32_t section)
{
    const cg_fit_graph *g = &s->graph;
    clique *c = &s->cliques[s->clique_count];
    for (;;) {
        int32_t next = -1;
        for (int32_t k = g->member_start[section]; k < g->member_start[section + 1]; k++) {
            int32_t buffer = g->member[k];
            /* A buffer is in no conflict with itself: members are not taken again. */
            if ((next < 0 || g->size[buffer] > g->size[next]) && all_in_conflict(s, c, buffer)) {
                next = buffer;
            }
        }
        if (next < 0) {
            break;
        }
        int32_t odd = c->odd | is_odd(s, c, next);
        if (c->count >= (odd ? MOST_ODD : MOST)) {
            break;
        }
        c->odd = odd;
        c->buffer[c->count++] = next;
    }
    s->clique_count += c->count > 1;
}

cg_orient_search *cg_orient_new(const cg_fit_graph *graph, int64_t capacity, int32_t keyed)
{
    cg_orient_search *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    s->graph = *graph;
    s->keyed = keyed;
    if (!allocate(s)) {
        cg_orient_free(s);
        return NULL;
    }
    for (int32_t buffer = 0; buffer < graph->buffers; buffer++) {
        s->high[buffer] = down(s, buffer, capacity - graph->size[buffer]);
    }
    read_pairs(s);
    for (int32_t section = 0; section < graph->sections; section++) {
        memset(&s->cliques[s->clique_count], 0, sizeof *s->cliques);
        read_section(s, section);
    }
    return s;
}

void cg_orient_offsets(const cg_orient_search *s, int64_t *offsets)
{
    memcpy(offsets, s->low, (size_t)s->graph.buffers * sizeof *offsets);
}

int64_t cg_orient_nodes(const cg_orient_search *s)
{
    return s->nodes;
}

int64_t cg_orient_effort(const cg_orient_search *s)
{
    return s->steps / STEPS;
}

void cg_orient_free(cg_orient_search *s)
{
    if (s == NULL) {
        return;
    }
    free(s->low);
    free(s->high);
    free(s->pairs);
    free(s->pair_of);
    free(s->between);
    free(s->queued);
    free(s->cliques);
    free(s->dirty);
    free(s->trail.changes);
    free(s->levels);
    free(s->rising);
    free(s->falling);
    free(s->rises);
    free(s->falls);
    free(s);
}
