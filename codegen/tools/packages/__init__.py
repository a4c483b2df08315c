"""A built folder as a package of another build system.

In: a folder of `codegen build` and its report. Out: the files of the package. Nothing is planned or measured
here. Start with `package_forms`.
"""

from codegen.api.tool import ToolDeclaration, Verb

TOOL = ToolDeclaration(
    verbs={
        "export": Verb(
            module="codegen.tools.packages.export_verb",
            help="""Lay a built folder out as a package of another build system.

DIR is a folder of `build`. A plan for other planners is another thing: `plan --export`.""",
        ),
    },
    docs=("guides/packages.md",),
)
