"""Lab: models on many boards at a time, each board doing one job after the other.

In: an inventory (lab.toml, or an environment of labgrid) and models. Out: one result a model and board, as a
table, JUnit XML and a page. Start with `working`.
"""

from codegen.api.tool import ToolDeclaration, Verb

TOOL = ToolDeclaration(
    verbs={
        "lab": Verb(
            module="codegen.tools.lab.lab_verb",
            help="""Run models on many boards at the same time, each board one job after the other.

`lab list` says what the lab has, `lab run MODEL...` writes lab.json, lab.xml (JUnit) and lab.html. A board
that hangs or answers garbage is power-cycled; the others go on.""",
        ),
    },
    docs=("guides/labs.md",),
    extra="lab",
)
