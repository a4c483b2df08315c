"""report.json of a build, read back."""

from pathlib import Path
from typing import Any, cast

import msgspec

from codegen.documents import read_text
from codegen.driver.inputs.files import DATA, PAGE
from codegen.driver.report.single import SCHEMA
from codegen.errors import CodegenError, Message
from codegen.report_file import Report, typed

_MODELS = (".tflite", ".onnx")
_MOST_BYTES = 64 << 20
"""Longest report.json that is read; one of 10,000 buffers has 5 MiB."""


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
        for model in (report := typed(document)).models or (report,):
            _check_whole(model)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise _no_report(file, f"is no report of codegen: {reason}") from error
    fields = cast("dict[str, object]", document)
    if fields.get("schema") != SCHEMA or not ("plan" in fields or "models" in fields):
        text = "is no report of a plan, a build or a run"
        if "pareto" in fields:
            text = "is a curve of --pareto, no report"
        raise _no_report(file, text)
    return fields


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
