"""Exact placement: greedy seeds, restarted exact search in C, hill climb, CP-SAT; stops at the bound.

Reading order: graph.py (one pool as numbers), reference.py (the search and why it is complete; search.c is
the same in C), orient.c (small graphs, by directions of conflicts), squeeze.py (runs, capacities, proof),
contention.py, rooms.py and assign.py (which buffer goes to which of several pools), portfolio.py (what is
tried when).
"""

from codegen.plan.place.exact.portfolio import optimal

__all__ = ["optimal"]
