"""Firmware that answers MLPerf Tiny's runner in place of the test link (runtime_c/mlperf_tiny).

Names, sizes of inputs and what is asked of outputs: github.com/mlcommons/tiny, benchmark/api and
benchmark/reference_submissions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codegen.emit.c.c_text import fill
from codegen.emit.c.spelling import scalar
from codegen.ir import DType
from codegen.program.program import Program, uses_second_core

FILES = ("mlperf_tiny/mlperf_tiny.c", "mlperf_tiny/mlperf_tiny.h")
"""Below runtime_c."""
MODEL_FILE = "firmware/mlperf_model.c"


@dataclass(frozen=True, kw_only=True, slots=True)
class Benchmark:
    """One of the runner's: elements of the only input and output, both int8, and the form of its data."""

    name: str
    inputs: int
    outputs: int
    form: str
    """Of mlperf_tiny.h, without its prefix."""

    @property
    def buffer_bytes(self) -> int:
        """Bytes of an input as the runner sends it."""
        return self.inputs * (4 if self.form == "FEATURES" else 1)


BENCHMARKS = (
    Benchmark(name="kws01", inputs=49 * 10, outputs=12, form="BYTES"),
    Benchmark(name="vww01", inputs=96 * 96 * 3, outputs=2, form="IMAGE"),
    Benchmark(name="ic01", inputs=32 * 32 * 3, outputs=10, form="IMAGE"),
    Benchmark(name="ad01", inputs=640, outputs=640, form="FEATURES"),
)


def mlperf_benchmark(program: Program) -> Benchmark | None:
    """The benchmark that a model is for, by its input and output; None for any other model."""
    sides = (program.signature.inputs, program.signature.outputs)
    if any(len(side) != 1 or side[0].type.dtype is not DType.INT8 for side in sides):
        return None
    elements = tuple(side[0].type.elements for side in sides)
    return next((each for each in BENCHMARKS if (each.inputs, each.outputs) == elements), None)


def mlperf_refusal(programs: Sequence[Program]) -> str | None:
    """Why these programs have no such firmware; None if they do."""
    if len(programs) != 1:
        return f"it is for one model, not {len(programs)}"
    [program] = programs
    if program.board.uart is None:
        return f"board {program.board.name} has no UART that codegen drives"
    if uses_second_core(programs):
        return "it is for one core, and the model has steps on the second"
    if program.ranges is not None:
        return "it is for fixed sizes, and the model has sizes that are known as ranges"
    if mlperf_benchmark(program) is None:
        known = ", ".join(f"{each.name} {each.inputs} -> {each.outputs}" for each in BENCHMARKS)
        return f"the model is none of the benchmarks (int8 elements of input and output: {known})"
    return None


def mlperf_model(program: Program) -> str:
    """Text of `MODEL_FILE`. Raises ValueError for a program that `mlperf_refusal` refuses."""
    found = mlperf_benchmark(program)
    if found is None:
        raise ValueError(f"{program.name} is none of MLPerf Tiny's benchmarks")
    [image], [result] = program.signature.inputs, program.signature.outputs
    view: Mapping[str, object] = {
        "benchmark": found.name,
        "form": f"CG_MLPERF_{found.form}",
        "input_scale": scalar(image.type.scale),
        "input_zero_point": image.type.zero_point,
        "output_scale": scalar(result.type.scale),
        "output_zero_point": result.type.zero_point,
        "clock_hz": program.board.clock_hz,
        "buffer_bytes": found.buffer_bytes,
    }
    return fill("c/mlperf_model.c.j2", model=view)
