"""The report as a page: one offline HTML file, what other viewers read, and what differs between two.

In: a report document, the C of its steps, a second report to compare with. Out: text. Every number is one of
the document; sentences about it are made in `words`. Start with `page.page`.
"""

from codegen.api.tool import ReportFlag, ToolDeclaration, Verb

TOOL = ToolDeclaration(
    verbs={
        "report": Verb(
            module="codegen.tools.page.report_verb",
            help="""Turn report.json into one offline page: memory over time, proof, steps, flash.

DIR is a folder of `build` or `run -o`; left out it is that of the shipped example, out/digits. Other files
that `plan -o` wrote do too.""",
        ),
        "compare": Verb(
            module="codegen.tools.page.compare_verb",
            help="""Say what is different between two builds: figures, steps, buffers.

BEFORE and AFTER are folders of `build`, their report.json, or REVISION:PATH of one that git has. Exit 4 if a
figure grew by more than --fail-if permits.""",
        ),
    },
    docs=(
        "guides/reading-the-report.md",
        "report.md",
    ),
    report_flags=(
        ReportFlag(
            flag="--report",
            help="Write report.html too: one offline page with everything, and the curve RAM against work.",
            file="report.html",
            module="codegen.tools.page.page_files",
        ),
    ),
)
