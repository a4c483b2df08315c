"""Sweep: every combination of models, boards and settings, built and run, as one table.

In: what to combine. Out: a folder with one result a combination, named by its contents, and tables and a page
of all. Start with `sweeping`.
"""

from codegen.sweep.combination_results import Result, best, write_tables
from codegen.sweep.jobs import Combination, Until, combinations, limits_of
from codegen.sweep.sweep_page import sweep_page
from codegen.sweep.sweeping import Swept, sweep

__all__ = [
    "Combination",
    "Result",
    "Swept",
    "Until",
    "best",
    "combinations",
    "limits_of",
    "sweep",
    "sweep_page",
    "write_tables",
]
