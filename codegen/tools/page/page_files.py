"""Pages written: report.json with the C beside it in, report.html out."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.api import curve_report, model_name, plan_curve, write_file
from codegen.api.tool import ReportWork
from codegen.report_file import typed

if TYPE_CHECKING:
    from codegen.tools.page.page import Excerpt

_STEP = re.compile(r"^ {4}(?:/\* | \* )(?P<step>\d+): ")
"""The first words of a step's comment in <model>.c."""
_LONGEST = 60
"""Lines of a step that are shown."""


def write_page(
    document: Mapping[str, object],
    target: Path,
    folder: Path | None = None,
    against: Mapping[str, object] | None = None,
) -> str:
    """Write the page of a report, with the C that lies in `folder`; return a line about it."""
    excerpts = {} if folder is None else _excerpts(document, folder)
    from codegen.tools.page.page import page

    text = page(document, against=against, excerpts=excerpts).encode()
    write_file(target, text)
    return f"written   {target}  (the report as a page, {len(text):,} bytes)"


def finish_report(work: ReportWork) -> tuple[Mapping[str, object], str]:
    """Add the curve of the model to the report, and write its page. Several models in shared pools, and sizes
    that are ranges, have no curve."""
    document = work.document
    if len(work.models) == 1 and not work.options.has_ranges:
        [model] = work.models
        curve = plan_curve(model, work.options, model_name(model, work.options.names), work.progress)
        document = {**document, "pareto": curve_report(curve, work.options.board)["pareto"]}
    return document, write_page(document, work.target, work.folder)


def _excerpts(document: Mapping[str, object], folder: Path) -> "dict[str, dict[int, Excerpt]]":
    """The C of the steps of each model, where <model>.c lies in `folder`."""
    report = typed(document)
    names = [model.model.name for model in (report.models or (report,)) if model.model]
    files = ((name, folder / f"{name}.c") for name in names)
    return {name: _steps(file) for name, file in files if file.is_file()}


def _steps(file: Path) -> "dict[int, Excerpt]":
    lines = file.read_text(encoding="utf-8").splitlines()
    starts = [(index, int(match["step"])) for index, line in enumerate(lines) if (match := _STEP.match(line))]
    from codegen.tools.page.page import Excerpt

    excerpts: dict[int, Excerpt] = {}
    for number, (start, step) in enumerate(starts):
        first = start - 1 if lines[start].startswith("     * ") else start
        stop = starts[number + 1][0] if number + 1 < len(starts) else len(lines)
        end = _end(lines, start, min(stop, start + _LONGEST), step)
        text = "\n".join(line.removeprefix("    ") for line in lines[first:end])
        excerpts.setdefault(step, Excerpt(file=file.name, line=first + 1, text=text))
    return excerpts


def _end(lines: Sequence[str], start: int, stop: int, step: int) -> int:
    """One past the last line of a step: behind its call, or behind the comment of one without code."""
    ends = [index for index in range(start, stop) if f"CG_STEP_END({step}u" in lines[index]]
    blank = next((index for index in range(start, stop) if not lines[index].strip()), stop)
    return ends[0] + 1 if ends else blank
