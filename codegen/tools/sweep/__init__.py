"""Sweep: every combination of models, boards and settings, built and run, as one table.

In: what to combine. Out: a folder with one result a combination, named by its contents, and tables and a page
of all. Start with `sweeping`.
"""

from codegen.api.tool import ToolDeclaration, Verb

TOOL = ToolDeclaration(
    verbs={
        "sweep": Verb(
            module="codegen.tools.sweep.sweep_verb",
            help="""Build and run every combination of MODELS, boards, settings and limits, as one table.

What DIR has a result of is not done again. Combinations that fail are rows too. Written: sweep.csv,
sweep.parquet (with pyarrow), one file a combination. Exit 7, 8 or 1 if a result is wrong.""",
        ),
    },
    docs=("guides/sweeps.md",),
    extra="sweep",
)
