/* Exact search: do these buffers fit into `capacity` bytes? Compiled on first use (see native.py);
 * reference.py is the same algorithm, line by line, in Python. The text of this file after the
 * marker is also what cffi parses. */
#ifndef CODEGEN_PLAN_EXACT_SEARCH_H
#define CODEGEN_PLAN_EXACT_SEARCH_H

#include <stdint.h>

/* cdef */

/* Buffers as numbers. Lists of lists are stored flat: row i of X runs from X[X_start[i]] up to,
 * not including, X[X_start[i + 1]]. */
typedef struct {
    int32_t buffers;
    int32_t sections;
    const int64_t *size;
    const int64_t *alignment;
    const int64_t *shift; /* a buffer's key is offset + shift; lower key = lower in a conflict */
    const int32_t *first; /* first section a buffer belongs to */
    const int32_t *last;  /* one past its last section */
    const int32_t *edge_start; /* per buffer: its conflicts */
    const int32_t *edge_other;
    const int64_t *edge_below;   /* offset + edge_below <= offset(other), or ... */
    const int64_t *edge_above;   /* ... offset(other) + edge_above <= offset */
    const int32_t *member_start; /* per section: its buffers, and the bytes each adds to a pile */
    const int32_t *member;
    const int64_t *member_bytes;
    const int32_t *home_start; /* per buffer: its sections, and the bytes it adds in each */
    const int32_t *home;
    const int64_t *home_bytes;
} cg_fit_graph;

typedef struct cg_fit_search cg_fit_search;

/* Answers of cg_fit_run. */
enum { CG_FIT_STOPPED = 0, CG_FIT_FOUND = 1, CG_FIT_EXHAUSTED = 2, CG_FIT_NO_MEMORY = 3 };

/* A search for offsets below `capacity`. `rank` breaks ties (lower first); `adaptive` lets the
 * fullest section break them before. The graph and `rank` must outlive the search. NULL: out of
 * memory. */
cg_fit_search *cg_fit_new(const cg_fit_graph *graph, const int32_t *rank, int64_t capacity,
                          int32_t adaptive);

/* Goes on for about `effort` units of work (a node, a lift, a check of 16 buffers). Another call
 * resumes it. */
int32_t cg_fit_run(cg_fit_search *search, int64_t effort);

/* Offsets of all buffers; meaningful once cg_fit_run has answered CG_FIT_FOUND. */
void cg_fit_offsets(const cg_fit_search *search, int64_t *offsets);

/* Per buffer: contradictions so far in which it was one of those that found no room. */
void cg_fit_blame(const cg_fit_search *search, int64_t *blame);

/* Nodes visited so far. */
int64_t cg_fit_nodes(const cg_fit_search *search);

/* Units of work so far. */
int64_t cg_fit_effort(const cg_fit_search *search);

void cg_fit_free(cg_fit_search *search);

#endif
