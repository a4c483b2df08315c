"""Reports read and pages written: report.json with the C beside it in, report.html out."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from codegen.documents import read_text, to_json
from codegen.driver.curve import curve_report, plan_curve
from codegen.driver.inputs.files import DATA, PAGE, write_file
from codegen.driver.inputs.models import model_name
from codegen.driver.options import Options
from codegen.driver.report.single import SCHEMA
from codegen.errors import CodegenError, Message
from codegen.progress import Progress
from codegen.report_file import Report, typed

if TYPE_CHECKING:
    from codegen.page import Excerpt

_MODELS = (".tflite", ".onnx")
_MOST_BYTES = 64 << 20
"""Of a report.json; one of 10,000 buffers has 5 MiB."""
_STEP = re.compile(r"^ {4}(?:/\* | \* )(?P<step>\d+): ")
"""The first words of a step's comment in <model>.c."""
_LONGEST = 60
"""Lines of a step that are shown."""


def read_report(path: Path) -> dict[str, object]:
    """The document of `path`, report.json or the folder that it is in. Raises CodegenError E204, E237."""
    file = path / DATA if path.is_dir() else path
    if not file.is_file():
        help_ = f"give a folder of `codegen build`, or a {DATA}"
        raise CodegenError(Message(code="E204", text=f"no file {file}", help=help_))
    if file.suffix.lower() in _MODELS:
        help_ = f"`codegen run {file} --report -o DIR` runs it and writes DIR/{DATA} and DIR/{PAGE}"
        raise CodegenError(Message(code="E237", where=str(file), text="is a model, no report", help=help_))
    try:
        document: Any = msgspec.json.decode(read_text(file, _MOST_BYTES))
        for each in (report := typed(document)).models or (report,):
            _check_whole(each)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise _no_report(file, f"is no report of codegen: {reason}") from error
    found = cast("dict[str, object]", document)
    if found.get("schema") != SCHEMA or not ("plan" in found or "models" in found):
        text = "is no report of a plan, a build or a run"
        if "pareto" in found:
            text = "is a curve of --pareto, no report"
        raise _no_report(file, text)
    return found


def _check_whole(report: Report) -> None:
    """Raise ValueError where a part names another one that is not there: somebody has edited the file."""
    plan, steps = report.plan, len(report.steps or ())
    if plan is None or plan.buffers is None:
        return
    ids, pools = {buffer.id for buffer in plan.buffers}, {pool.name for pool in plan.pools}
    for buffer in plan.buffers:
        named = {*buffer.rests_on, *(shared.id for shared in buffer.over)}
        in_steps = buffer.first_step is None or 0 <= buffer.first_step < steps
        if buffer.pool not in pools or not named <= ids or not in_steps:
            raise ValueError(f"buffer {buffer.id} names a pool, a step or a buffer that is not there")


def _no_report(file: Path, text: str) -> CodegenError:
    help_ = (
        f"`codegen build -o DIR` writes DIR/{DATA}, `codegen plan --json` prints one; "
        "what an older codegen wrote is made again"
    )
    if file.name != DATA and (file.parent / DATA).is_file():
        help_ = f"give the folder that it lies in: {file.parent}"
    return CodegenError(Message(code="E237", where=str(file), text=text, help=help_))


def write_page(
    document: Mapping[str, object],
    target: Path,
    folder: Path | None = None,
    against: Mapping[str, object] | None = None,
) -> str:
    """Write the page of a report, with the C that lies in `folder`; return a line about it."""
    excerpts = {} if folder is None else _excerpts(document, folder)
    from codegen.page import page

    text = page(document, against=against, excerpts=excerpts).encode()
    write_file(target, text)
    return f"written   {target}  (the report as a page, {len(text):,} bytes)"


def with_curve(
    document: Mapping[str, object], paths: Sequence[Path], options: Options, progress: Progress
) -> dict[str, object]:
    """`document` with `pareto`, the curve of the model; without where several share pools or sizes are
    ranges, which have none."""
    if len(paths) > 1 or options.has_ranges:
        return dict(document)
    [path] = paths
    found = plan_curve(path, options, model_name(path, options.names), progress)
    return {**document, "pareto": curve_report(found, options.board)["pareto"]}


@dataclass(frozen=True, kw_only=True, slots=True)
class BuildPage:
    """The page that `--report` asks for of a build; `wanted`: whether it does."""

    wanted: bool
    paths: Sequence[Path]
    options: Options

    def finish(self, text: str, folder: Path, target: Path, progress: Progress) -> tuple[str, list[str]]:
        """Write the page of the build in `folder` whose report.json is `text` to `target`, and report.json
        anew: with the curve. Return what that says then, and a line about the page."""
        if not self.wanted:
            return text, []
        document = with_curve(msgspec.json.decode(text), self.paths, self.options, progress)
        whole = to_json(document)
        write_file(folder / DATA, whole.encode())
        return whole, [write_page(document, target, folder)]


def _excerpts(document: Mapping[str, object], folder: Path) -> "dict[str, dict[int, Excerpt]]":
    """The C of the steps of each model, where <model>.c lies in `folder`."""
    report = typed(document)
    names = [each.model.name for each in (report.models or (report,)) if each.model]
    files = ((name, folder / f"{name}.c") for name in names)
    return {name: _steps(file) for name, file in files if file.is_file()}


def _steps(file: Path) -> "dict[int, Excerpt]":
    lines = file.read_text(encoding="utf-8").splitlines()
    starts = [(index, int(found["step"])) for index, line in enumerate(lines) if (found := _STEP.match(line))]
    from codegen.page import Excerpt

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
