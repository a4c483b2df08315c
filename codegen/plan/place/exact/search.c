/* See search.h for what it answers and placing rules in reference.py, which this file follows step
 * by step. Host code: compiled and loaded by native.py, never part of generated sources. */
#include "search.h"
#include "trail.h"

#include <stdlib.h>

enum { RAW, EFFECTIVE, BANNED, PLACED };
enum { NONE = -1 };

/* An independent part of what is left: sections [first, last), and the level to go back to. */
typedef struct {
    int32_t first;
    int32_t last;
    int32_t level;
    int32_t next;
} part;

/* A buffer placed where it could also lie higher, and the state before. */
typedef struct {
    int32_t buffer;
    int32_t changes;
    int32_t parts;
    int32_t head;
    int32_t back;
} level;

struct cg_fit_search {
    cg_fit_graph graph;
    int64_t capacity;
    int64_t nodes;
    int64_t lifts;
    int64_t checks;
    int32_t adaptive;
    int32_t started;

    int32_t *by_rank;   /* buffers, lowest rank first */
    int64_t *raw;       /* lowest offset above all placed neighbours that lie below */
    int64_t *effective; /* proved lower bound of the offset, >= raw */
    uint8_t *banned;    /* proved: not at raw */
    uint8_t *placed;
    int64_t *blame; /* contradictions the buffer took part in, unplaced */
    int64_t *load;  /* per section: bytes not yet placed */
    int32_t *cut;   /* per border after a section: unplaced buffers and conflicts across it */

    int32_t *queue; /* lifted buffers to look at again, a ring */
    uint8_t *queued;
    int32_t queue_first;
    int32_t queue_count;
    int32_t *dirty; /* sections to check again */
    uint8_t *is_dirty;
    int32_t dirty_count;

    int64_t *pile_offset; /* for one section check */
    int64_t *pile_bytes;

    cg_trail trail;
    part *parts;
    int32_t part_count;
    int32_t head;
    int32_t back;
    level *levels;
    int32_t level_count;
};

static int lifted(const cg_fit_search *s, int32_t buffer)
{
    return s->banned[buffer] || s->effective[buffer] > s->raw[buffer];
}

static int64_t aligned(const cg_fit_search *s, int32_t buffer, int64_t offset)
{
    int64_t alignment = s->graph.alignment[buffer];
    return (offset + alignment - 1) / alignment * alignment;
}

static void enqueue(cg_fit_search *s, int32_t buffer)
{
    if (!s->queued[buffer]) {
        s->queued[buffer] = 1;
        s->queue[(s->queue_first + s->queue_count++) % s->graph.buffers] = buffer;
    }
}

static void mark_sections(cg_fit_search *s, int32_t buffer)
{
    for (int32_t k = s->graph.home_start[buffer]; k < s->graph.home_start[buffer + 1]; k++) {
        int32_t section = s->graph.home[k];
        if (!s->is_dirty[section]) {
            s->is_dirty[section] = 1;
            s->dirty[s->dirty_count++] = section;
        }
    }
}

/* The bound of `buffer` is now `offset`: its sections and the lifted buffers that lean on it
 * follow. */
static int raise_to(cg_fit_search *s, int32_t buffer, int64_t offset)
{
    cg_trail_add(&s->trail, EFFECTIVE, buffer, s->effective[buffer]);
    s->effective[buffer] = offset;
    if (offset + s->graph.size[buffer] > s->capacity) {
        s->blame[buffer]++;
        return 0;
    }
    mark_sections(s, buffer);
    for (int32_t k = s->graph.edge_start[buffer]; k < s->graph.edge_start[buffer + 1]; k++) {
        int32_t other = s->graph.edge_other[k];
        if (!s->placed[other] && lifted(s, other)) {
            enqueue(s, other);
        }
    }
    return 1;
}

/* A lifted buffer rests on an unplaced neighbour, and some neighbour needs the bytes at its raw
 * offset. */
static int lift(cg_fit_search *s, int32_t buffer)
{
    int64_t lowest = INT64_MAX;
    int needed = 0;
    for (int32_t k = s->graph.edge_start[buffer]; k < s->graph.edge_start[buffer + 1]; k++) {
        int32_t other = s->graph.edge_other[k];
        if (s->placed[other]) {
            continue;
        }
        int64_t offset = s->effective[other];
        if (offset + s->graph.edge_above[k] < lowest) {
            lowest = offset + s->graph.edge_above[k];
        }
        if (offset < s->raw[buffer] + s->graph.edge_below[k]) {
            needed = 1;
        }
    }
    s->lifts++;
    if (!needed) {
        s->blame[buffer]++;
        return 0;
    }
    lowest = aligned(s, buffer, lowest);
    return lowest <= s->effective[buffer] || raise_to(s, buffer, lowest);
}

/* A section is too full: nobody unplaced in it found room. Always 0. */
static int blame_section(cg_fit_search *s, int32_t section)
{
    for (int32_t k = s->graph.member_start[section]; k < s->graph.member_start[section + 1]; k++) {
        int32_t buffer = s->graph.member[k];
        s->blame[buffer] += !s->placed[buffer];
    }
    return 0;
}

/* Whether the unplaced buffers of a section can still be piled up below the capacity. */
static int section_fits(cg_fit_search *s, int32_t section)
{
    int32_t count = 0;
    int32_t unplaced = 0;
    int64_t highest = 0;
    int64_t bytes = 0;
    /* From an offset up to here even everything unplaced would fit. */
    int64_t early = s->capacity - s->load[section];
    s->checks += 1 + (s->graph.member_start[section + 1] - s->graph.member_start[section]) / 16;
    for (int32_t k = s->graph.member_start[section]; k < s->graph.member_start[section + 1]; k++) {
        int32_t buffer = s->graph.member[k];
        if (s->placed[buffer]) {
            continue;
        }
        int64_t offset = s->effective[buffer];
        unplaced++;
        if (offset > early) {
            highest = offset > highest ? offset : highest;
            bytes += s->graph.member_bytes[k];
            s->pile_offset[count] = offset;
            s->pile_bytes[count++] = s->graph.member_bytes[k];
        }
    }
    if (count == unplaced) {
        return count == 0 || blame_section(s, section);
    }
    if (highest + bytes <= s->capacity) {
        return 1;
    }
    /* From the top: everything that cannot start below an offset lies above it. */
    for (int64_t above = 0; count > 0; count--) {
        int32_t top = 0;
        for (int32_t i = 1; i < count; i++) {
            top = s->pile_offset[i] > s->pile_offset[top] ? i : top;
        }
        above += s->pile_bytes[top];
        if (s->pile_offset[top] + above > s->capacity) {
            return blame_section(s, section);
        }
        s->pile_offset[top] = s->pile_offset[count - 1];
        s->pile_bytes[top] = s->pile_bytes[count - 1];
    }
    return 1;
}

/* Lifts and section checks until nothing changes; 0: a contradiction. */
static int propagate(cg_fit_search *s, int fits)
{
    while (fits && s->queue_count + s->dirty_count > 0) {
        if (s->queue_count > 0) {
            int32_t buffer = s->queue[s->queue_first];
            s->queue_first = (s->queue_first + 1) % s->graph.buffers;
            s->queue_count--;
            s->queued[buffer] = 0;
            fits = s->placed[buffer] || !lifted(s, buffer) || lift(s, buffer);
        } else {
            int32_t section = s->dirty[--s->dirty_count];
            s->is_dirty[section] = 0;
            fits = section_fits(s, section);
        }
    }
    while (s->queue_count > 0) {
        s->queued[s->queue[s->queue_first]] = 0;
        s->queue_first = (s->queue_first + 1) % s->graph.buffers;
        s->queue_count--;
    }
    while (s->dirty_count > 0) {
        s->is_dirty[s->dirty[--s->dirty_count]] = 0;
    }
    return fits;
}

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t most(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Adds `by` to every border that a buffer, or its conflict with an unplaced one, crosses. */
static void count_cuts(cg_fit_search *s, int32_t buffer, int32_t by)
{
    const cg_fit_graph *g = &s->graph;
    for (int32_t border = g->first[buffer]; border + 1 < g->last[buffer]; border++) {
        s->cut[border] += by;
    }
    for (int32_t k = g->edge_start[buffer]; k < g->edge_start[buffer + 1]; k++) {
        int32_t other = g->edge_other[k];
        if (s->placed[other]) {
            continue;
        }
        /* Nothing to add where the two share a section. */
        int32_t from = least(g->last[buffer], g->last[other]) - 1;
        int32_t to = most(g->first[buffer], g->first[other]);
        for (int32_t border = from; border < to; border++) {
            s->cut[border] += by;
        }
    }
}

static int place(cg_fit_search *s, int32_t buffer)
{
    const cg_fit_graph *g = &s->graph;
    int64_t offset = s->raw[buffer];
    int fits = 1;
    s->placed[buffer] = 1;
    cg_trail_add(&s->trail, PLACED, buffer, 0);
    for (int32_t k = g->home_start[buffer]; k < g->home_start[buffer + 1]; k++) {
        s->load[g->home[k]] -= g->home_bytes[k];
    }
    count_cuts(s, buffer, -1);
    mark_sections(s, buffer);
    for (int32_t k = g->edge_start[buffer]; fits && k < g->edge_start[buffer + 1]; k++) {
        int32_t other = g->edge_other[k];
        if (s->placed[other]) {
            continue;
        }
        int64_t above = aligned(s, other, offset + g->edge_below[k]);
        if (above > s->raw[other]) {
            cg_trail_add(&s->trail, RAW, other, s->raw[other]);
            s->raw[other] = above;
            if (s->banned[other]) {
                cg_trail_add(&s->trail, BANNED, other, 1);
                s->banned[other] = 0;
            }
            fits = above <= s->effective[other] || raise_to(s, other, above);
        }
        if (lifted(s, other)) {
            enqueue(s, other);
        }
    }
    return propagate(s, fits);
}

static int ban(cg_fit_search *s, int32_t buffer)
{
    cg_trail_add(&s->trail, BANNED, buffer, 0);
    s->banned[buffer] = 1;
    enqueue(s, buffer);
    return propagate(s, 1);
}

static void undo(cg_fit_search *s, int32_t down_to)
{
    while (s->trail.count > down_to) {
        cg_change c = s->trail.changes[--s->trail.count];
        if (c.kind == RAW) {
            s->raw[c.index] = c.old;
        } else if (c.kind == EFFECTIVE) {
            s->effective[c.index] = c.old;
        } else if (c.kind == BANNED) {
            s->banned[c.index] = (uint8_t)c.old;
        } else {
            s->placed[c.index] = 0;
            for (int32_t k = s->graph.home_start[c.index]; k < s->graph.home_start[c.index + 1];
                 k++) {
                s->load[s->graph.home[k]] += s->graph.home_bytes[k];
            }
            count_cuts(s, c.index, 1);
        }
    }
}

/* Bytes the tightest section of [first, last) has left over. */
static int64_t slack(const cg_fit_search *s, int32_t first, int32_t last)
{
    int64_t least_slack = INT64_MAX;
    for (int32_t section = first; section < last; section++) {
        int64_t floor = INT64_MAX;
        for (int32_t k = s->graph.member_start[section]; k < s->graph.member_start[section + 1];
             k++) {
            int32_t buffer = s->graph.member[k];
            if (!s->placed[buffer] && s->effective[buffer] < floor) {
                floor = s->effective[buffer];
            }
        }
        if (floor != INT64_MAX && s->capacity - floor - s->load[section] < least_slack) {
            least_slack = s->capacity - floor - s->load[section];
        }
    }
    return least_slack;
}

static int any_unplaced(const cg_fit_search *s, int32_t first, int32_t last)
{
    for (int32_t k = s->graph.member_start[first]; k < s->graph.member_start[last]; k++) {
        if (!s->placed[s->graph.member[k]]) {
            return 1;
        }
    }
    return 0;
}

/* Splits sections [first, last) where nothing unplaced crosses a border; the tightest part comes
 * first. */
static void split(cg_fit_search *s, int32_t first, int32_t last)
{
    int32_t from = first;
    int32_t begin = s->part_count;
    for (int32_t section = first; section < last; section++) {
        if (section + 1 < last && s->cut[section] > 0) {
            continue;
        }
        if (any_unplaced(s, from, section + 1)) {
            int64_t here = slack(s, from, section + 1);
            int32_t at = s->part_count++;
            while (at > begin && slack(s, s->parts[at - 1].first, s->parts[at - 1].last) < here) {
                s->parts[at] = s->parts[at - 1];
                at--;
            }
            s->parts[at] =
                (part){.first = from, .last = section + 1, .level = s->back, .next = NONE};
        }
        from = section + 1;
    }
    for (int32_t i = begin; i < s->part_count; i++) {
        s->parts[i].next = s->head;
        s->head = i;
    }
}

/* Bytes not yet placed in the fullest section of a buffer. */
static int64_t fullest(const cg_fit_search *s, int32_t buffer)
{
    int64_t bytes = 0;
    for (int32_t k = s->graph.home_start[buffer]; k < s->graph.home_start[buffer + 1]; k++) {
        int64_t load = s->load[s->graph.home[k]];
        bytes = load > bytes ? load : bytes;
    }
    return bytes;
}

/* The unplaced buffer of a part with the lowest key; no neighbour can lie below it. */
static int32_t lowest(const cg_fit_search *s, const part *where)
{
    int32_t found = NONE;
    int64_t key = INT64_MAX;
    int64_t full = -1;
    for (int32_t i = 0; i < s->graph.buffers; i++) {
        int32_t buffer = s->by_rank[i];
        if (s->placed[buffer] || s->graph.first[buffer] < where->first ||
            s->graph.last[buffer] > where->last) {
            continue;
        }
        int64_t this_key = s->effective[buffer] + s->graph.shift[buffer];
        if (this_key < key) {
            found = buffer;
            key = this_key;
            full = -1;
        } else if (this_key == key && s->adaptive) {
            int64_t this_full = fullest(s, buffer);
            full = full < 0 ? fullest(s, found) : full;
            if (this_full > full) {
                found = buffer;
                full = this_full;
            }
        }
    }
    return found;
}

/* Whether placing the buffer at its raw offset takes nothing from anybody. */
static int harmless(const cg_fit_search *s, int32_t buffer)
{
    for (int32_t k = s->graph.edge_start[buffer]; k < s->graph.edge_start[buffer + 1]; k++) {
        int32_t other = s->graph.edge_other[k];
        if (!s->placed[other] && s->effective[other] < s->raw[buffer] + s->graph.edge_below[k]) {
            return 0;
        }
    }
    return 1;
}

/* Places `buffer`, which belongs to the part at the head; splits the part where that cuts it. */
static int descend(cg_fit_search *s, int32_t buffer)
{
    if (!harmless(s, buffer)) {
        s->levels[s->level_count] = (level){.buffer = buffer,
                                            .changes = s->trail.count,
                                            .parts = s->part_count,
                                            .head = s->head,
                                            .back = s->back};
        s->back = s->level_count++;
    }
    if (!place(s, buffer)) {
        return 0;
    }
    part whole = s->parts[s->head];
    for (int32_t border = whole.first; border + 1 < whole.last; border++) {
        if (s->cut[border] == 0) {
            s->head = whole.next;
            split(s, whole.first, whole.last);
            break;
        }
    }
    return 1;
}

/* Back to the last choice that matters to this part, and the other way there. 0: no choice is left.
 */
static int retreat(cg_fit_search *s)
{
    while (s->back != NONE) {
        level choice = s->levels[s->back];
        s->level_count = s->back;
        undo(s, choice.changes);
        s->part_count = choice.parts;
        s->head = choice.head;
        s->back = choice.back;
        if (ban(s, choice.buffer)) {
            return 1;
        }
    }
    return 0;
}

static int start(cg_fit_search *s)
{
    s->started = 1;
    for (int32_t buffer = 0; buffer < s->graph.buffers; buffer++) {
        if (s->graph.size[buffer] > s->capacity) {
            return 0;
        }
    }
    for (int32_t section = 0; section < s->graph.sections; section++) {
        if (!section_fits(s, section)) {
            return 0;
        }
    }
    split(s, 0, s->graph.sections);
    return 1;
}

/* `count` zeroed elements; at least one, so that NULL means out of memory. */
static void *zeroed(int32_t count, size_t size)
{
    return calloc(count > 0 ? (size_t)count : 1, size);
}

static int allocate(cg_fit_search *s)
{
    int32_t n = s->graph.buffers;
    int32_t sections = s->graph.sections;
    s->by_rank = zeroed(n, sizeof *s->by_rank);
    s->raw = zeroed(n, sizeof *s->raw);
    s->effective = zeroed(n, sizeof *s->effective);
    s->banned = zeroed(n, sizeof *s->banned);
    s->placed = zeroed(n, sizeof *s->placed);
    s->blame = zeroed(n, sizeof *s->blame);
    s->load = zeroed(sections, sizeof *s->load);
    s->cut = zeroed(sections, sizeof *s->cut);
    s->queue = zeroed(n, sizeof *s->queue);
    s->queued = zeroed(n, sizeof *s->queued);
    s->dirty = zeroed(sections, sizeof *s->dirty);
    s->is_dirty = zeroed(sections, sizeof *s->is_dirty);
    s->pile_offset = zeroed(n, sizeof *s->pile_offset);
    s->pile_bytes = zeroed(n, sizeof *s->pile_bytes);
    /* Live parts: each placement takes one away and adds at most as many as it has unplaced
     * buffers. */
    s->parts = zeroed(2 * n + 2 * sections + 2, sizeof *s->parts);
    s->levels = zeroed(n, sizeof *s->levels);
    return s->by_rank && s->raw && s->effective && s->banned && s->placed && s->blame && s->load &&
           s->cut && s->queue && s->queued && s->dirty && s->is_dirty && s->pile_offset &&
           s->pile_bytes && s->parts && s->levels;
}

cg_fit_search *cg_fit_new(const cg_fit_graph *graph, const int32_t *rank, int64_t capacity,
                          int32_t adaptive)
{
    cg_fit_search *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    s->graph = *graph;
    s->capacity = capacity;
    s->adaptive = adaptive;
    s->head = NONE;
    s->back = NONE;
    if (!allocate(s)) {
        cg_fit_free(s);
        return NULL;
    }
    for (int32_t buffer = 0; buffer < graph->buffers; buffer++) {
        s->by_rank[rank[buffer]] = buffer;
    }
    for (int32_t section = 0; section < graph->sections; section++) {
        for (int32_t k = graph->member_start[section]; k < graph->member_start[section + 1]; k++) {
            s->load[section] += graph->member_bytes[k];
        }
    }
    /* A conflict is counted once: when its first buffer is, the second is marked as placed. */
    for (int32_t buffer = 0; buffer < graph->buffers; buffer++) {
        s->placed[buffer] = 1;
    }
    for (int32_t buffer = graph->buffers - 1; buffer >= 0; buffer--) {
        s->placed[buffer] = 0;
        count_cuts(s, buffer, 1);
    }
    return s;
}

void cg_fit_offsets(const cg_fit_search *s, int64_t *offsets)
{
    for (int32_t buffer = 0; buffer < s->graph.buffers; buffer++) {
        offsets[buffer] = s->raw[buffer];
    }
}

void cg_fit_blame(const cg_fit_search *s, int64_t *blame)
{
    for (int32_t buffer = 0; buffer < s->graph.buffers; buffer++) {
        blame[buffer] = s->blame[buffer];
    }
}

int64_t cg_fit_nodes(const cg_fit_search *s)
{
    return s->nodes;
}

int64_t cg_fit_effort(const cg_fit_search *s)
{
    return s->nodes + s->lifts + s->checks;
}

void cg_fit_free(cg_fit_search *s)
{
    if (s == NULL) {
        return;
    }
    free(s->by_rank);
    free(s->raw);
    free(s->effective);
    free(s->banned);
    free(s->placed);
    free(s->blame);
    free(s->load);
    free(s->cut);
    free(s->queue);
    free(s->queued);
    free(s->dirty);
    free(s->is_dirty);
    free(s->pile_offset);
    free(s->pile_bytes);
    free(s->trail.changes);
    free(s->parts);
    free(s->levels);
    free(s);
}

int32_t cg_fit_run(cg_fit_search *s, int64_t effort)
{
    int64_t until = cg_fit_effort(s) + effort;
    if (!s->started && !start(s)) {
        return CG_FIT_EXHAUSTED;
    }
    while (cg_fit_effort(s) < until) {
        int32_t buffer = NONE;
        while (s->head != NONE) {
            buffer = lowest(s, &s->parts[s->head]);
            if (buffer != NONE) {
                break;
            }
            s->head = s->parts[s->head].next;
            s->back = s->head == NONE ? NONE : s->parts[s->head].level;
        }
        if (buffer == NONE) {
            return CG_FIT_FOUND;
        }
        s->nodes++;
        if (!descend(s, buffer) && !retreat(s)) {
            return CG_FIT_EXHAUSTED;
        }
        if (s->trail.out_of_memory) {
            return CG_FIT_NO_MEMORY;
        }
    }
    return CG_FIT_STOPPED;
}
