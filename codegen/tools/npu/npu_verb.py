"""`codegen npu`: what a file of Vela's holds, and its outputs against an engine's of the file before Vela."""

from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np

from codegen.api import (
    CodegenError,
    EngineRequest,
    ExitCode,
    Message,
    counted,
    engine_outputs,
    find_engine,
    model_bytes,
    npu_operations,
    table,
    to_json,
)
from codegen.tools.npu import TOOL
from codegen.tools.npu.vela_file import ArenaValue, VelaFile, read_vela_file, run_operator

_ENGINES = ("tflite-runtime", "ai-edge-litert", "tflite-micro")
"""Engines for .tflite files: the first that is installed and runs the file."""


@click.command(help=TOOL.verbs["npu"].help)
@click.argument("model", type=click.Path(path_type=Path))
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    metavar="MODEL.tflite",
    help="The file before Vela: an engine's outputs of it must be equal, bit by bit.",
)
@click.option(
    "--cases", type=click.IntRange(1, 1000), default=4, show_default=True, help="Random inputs to run."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout and nothing else.")
def npu(model: Path, against: Path | None, cases: int, as_json: bool) -> int:
    """`codegen npu`."""
    vela = read_vela_file(model)
    equal = _compared(vela, against, cases) if against is not None else None
    if as_json:
        click.echo(to_json({"schema": 1, **_document(vela), "engine": equal}), nl=False)
    else:
        _show(vela, equal)
    return ExitCode.OK


def _document(vela: VelaFile) -> dict[str, object]:
    return {
        "operators": [
            {
                "index": operator.index,
                "device": operator.device,
                "words": len(operator.stream),
                "operations": dict(npu_operations(operator.stream)),
                "scratch_bytes": operator.scratch_bytes,
                "fast_scratch_bytes": operator.fast_scratch_bytes,
                "constant_bytes": len(operator.constants),
            }
            for operator in vela.operators
        ],
        "on_the_core": list(vela.others),
    }


def _show(vela: VelaFile, equal: str | None) -> None:
    for operator in vela.operators:
        click.echo(
            f"npu       op {operator.index}: {operator.device}, {counted(len(operator.stream), 'word')}"
        )
        click.echo(
            f"memory    scratch {operator.scratch_bytes:,} bytes, fast scratch "
            f"{operator.fast_scratch_bytes:,}, constants {len(operator.constants):,}"
        )
        rows = [[kind, str(count)] for kind, count in sorted(npu_operations(operator.stream).items())]
        table("operations", ["kind", "commands"], rows)
    if vela.others:
        click.echo(f"core      {counted(len(vela.others), 'operator')} on the core: {', '.join(vela.others)}")
    if equal is not None:
        click.echo(f"outputs   {equal}")


def _compared(vela: VelaFile, against: Path, cases: int) -> str:
    """Compare the outputs; return words for what is equal. Raises CodegenError E705 where one differs."""
    operator = vela.alone()
    rng = np.random.default_rng(0)
    inputs = [tuple(_drawn(value, rng) for value in operator.inputs) for _ in range(cases)]
    engine, outputs = _answered(against, inputs)
    for number, (case, right) in enumerate(zip(inputs, outputs, strict=True)):
        for value, array, expected in zip(operator.outputs, run_operator(operator, case), right, strict=True):
            _need_equal(f"case {number}, output {value.name}", array, np.asarray(expected))
    return f"{cases} of {counted(cases, 'case')} equal to {engine}, bit by bit"


def _answered(
    against: Path, inputs: Sequence[tuple[np.ndarray, ...]]
) -> tuple[str, Sequence[tuple[np.ndarray, ...]]]:
    """Name and version of the first engine that runs the file before Vela, and its outputs of every case."""
    data = model_bytes(against)
    refusals: list[Message] = []
    for name in _ENGINES:
        engine = find_engine((name,), None)
        if engine is None:
            continue
        request = EngineRequest(engine=engine.name, model=data, inputs=tuple(inputs))
        [answer] = engine_outputs(engine.python, [request])
        if not answer.error:
            return f"{engine.name} {engine.version}", answer.outputs
        text = f"{engine.name} cannot run the file before Vela: {answer.error.splitlines()[-1]}"
        refusals.append(Message(code="E316", where=str(against), text=text))
    if refusals:
        raise CodegenError(refusals)
    text = "no engine that runs .tflite files is installed: nothing to compare with"
    raise CodegenError(Message(code="E313", text=text, help="pip install ai-edge-litert"))


def _drawn(value: ArenaValue, rng: np.random.Generator) -> np.ndarray:
    limits = np.iinfo(value.dtype)
    return rng.integers(limits.min, limits.max, value.shape, value.dtype, endpoint=True)


def _need_equal(where: str, array: np.ndarray, right: np.ndarray) -> None:
    if array.size != right.size:
        text = f"the model gives {counted(array.size, 'element')}, the engine {right.size}"
        help_ = "compare with the very file that Vela compiled"
        raise CodegenError(Message(code="E705", where=where, text=text, help=help_))
    differing = np.flatnonzero(array.reshape(-1) != right.reshape(-1))
    if len(differing):
        place = int(differing[0])
        text = (
            f"{len(differing)} of {counted(array.size, 'element')} differ; element {place} is "
            f"{array.reshape(-1)[place]}, the engine has {right.reshape(-1)[place]}"
        )
        help_ = (
            "is it the file that Vela compiled? Then Vela, the model or the engine is wrong: please report it"
        )
        raise CodegenError(Message(code="E705", where=where, text=text, help=help_))
