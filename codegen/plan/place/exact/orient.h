/* Exact search for small graphs, by the directions of conflicts: see orient.c. Compiled on first use
 * (native.py). The text of this file after the marker is also what cffi parses; it follows search.h. */
#ifndef CODEGEN_PLAN_EXACT_ORIENT_H
#define CODEGEN_PLAN_EXACT_ORIENT_H

#include "search.h"

/* cdef */

typedef struct cg_orient_search cg_orient_search;

/* A search for offsets below `capacity`. `keyed`: the shifts of the graph hold, so that directions never
 * form a circle. The graph must outlive the search. NULL: out of memory. */
cg_orient_search *cg_orient_new(const cg_fit_graph *graph, int64_t capacity, int32_t keyed);

/* Goes on for about `effort` units of work, each worth one of cg_fit_run. Another call resumes it. */
int32_t cg_orient_run(cg_orient_search *search, int64_t effort);

/* Offsets of all buffers; meaningful once cg_orient_run has answered CG_FIT_FOUND. */
void cg_orient_offsets(const cg_orient_search *search, int64_t *offsets);

/* Nodes visited so far. */
int64_t cg_orient_nodes(const cg_orient_search *search);

/* Units of work so far. */
int64_t cg_orient_effort(const cg_orient_search *search);

void cg_orient_free(cg_orient_search *search);

#endif
