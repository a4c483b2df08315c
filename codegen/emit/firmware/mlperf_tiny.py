"""Firmware that answers MLPerf Tiny's runner in place of the test link (runtime_c/mlperf_tiny).

Names, sizes of inputs and what is asked of outputs: github.com/mlcommons/tiny, benchmark/api and
benchmark/reference_submissions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codegen.emit.c.c_tables import numbers, table_rows
from codegen.emit.c.c_text import fill
from codegen.emit.c.spelling import scalar
from codegen.emit.firmware.wake_word import BANDS, STEP, hamming, mel_bands, twiddles
from codegen.ir import DType
from codegen.program.program import Program, uses_second_core

FILES = tuple(
    f"mlperf_tiny/{name}" for name in ("mlperf_tiny.c", "mlperf_tiny.h", "wake_word.c", "wake_word.h")
)
"""Below runtime_c."""
MODEL_FILE = "firmware/mlperf_model.c"


@dataclass(frozen=True, kw_only=True, slots=True)
class Benchmark:
    """One of the runner's: elements of the only input and output, both int8, and the form of its data."""

    name: str
    inputs: int
    outputs: int
    form: str
    """Name of the form in mlperf_tiny.h, without its prefix."""

    @property
    def buffer_bytes(self) -> int:
        """Bytes of an input as the runner sends it: of sound the samples of a step, 16 bits each."""
        if self.takes_sound:
            return 2 * STEP
        return self.inputs * (4 if self.form == "FEATURES" else 1)

    @property
    def takes_sound(self) -> bool:
        """True if the runner sends sound, step by step."""
        return self.form == "SOUND"

    @property
    def command_bytes(self) -> int:
        """Longest command of the runner."""
        return 1028 if self.takes_sound else 80

    @property
    def profile(self) -> str:
        """Name and version of the protocol, as the published firmware says them."""
        return "MLPerf Tiny Firmware V0.1.0" if self.takes_sound else "ULPMark for tinyML Firmware V0.0.1"


BENCHMARKS = (
    Benchmark(name="kws01", inputs=49 * 10, outputs=12, form="BYTES"),
    Benchmark(name="vww01", inputs=96 * 96 * 3, outputs=2, form="IMAGE"),
    Benchmark(name="ic01", inputs=32 * 32 * 3, outputs=10, form="IMAGE"),
    Benchmark(name="ad01", inputs=640, outputs=640, form="FEATURES"),
    Benchmark(name="sww01", inputs=30 * BANDS, outputs=3, form="SOUND"),
    # The same network with `--window INPUT=1`: it takes the features of a step and keeps its window.
    Benchmark(name="sww01", inputs=BANDS, outputs=3, form="SOUND"),
)


def mlperf_benchmark(program: Program) -> Benchmark | None:
    """The benchmark that a model is for, by its input and output; None for any other model."""
    sides = (program.signature.written_inputs, program.signature.read_outputs)
    if any(len(side) != 1 or side[0].type.dtype is not DType.INT8 for side in sides):
        return None
    elements = tuple(side[0].type.elements for side in sides)
    keeps_window = bool(program.signature.states)
    fitting = [benchmark for benchmark in BENCHMARKS if (benchmark.inputs, benchmark.outputs) == elements]
    return next((benchmark for benchmark in fitting if keeps_window == (benchmark.inputs == BANDS)), None)


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
        known = ", ".join(f"{one.name} {one.inputs} -> {one.outputs}" for one in BENCHMARKS)
        return f"the model is none of the benchmarks (int8 elements of input and output: {known})"
    return None


def mlperf_model(program: Program) -> str:
    """Text of `MODEL_FILE`. Raises ValueError for a program that `mlperf_refusal` refuses."""
    benchmark = mlperf_benchmark(program)
    if benchmark is None:
        raise ValueError(f"{program.name} is none of MLPerf Tiny's benchmarks")
    [image], [result] = program.signature.written_inputs, program.signature.read_outputs
    view: Mapping[str, object] = {
        "benchmark": benchmark.name,
        "profile": benchmark.profile,
        "form": f"CG_MLPERF_{benchmark.form}",
        "input_scale": scalar(image.type.scale),
        "input_zero_point": image.type.zero_point,
        "output_scale": scalar(result.type.scale),
        "output_zero_point": result.type.zero_point,
        "clock_hz": program.board.clock_hz,
        "buffer_bytes": benchmark.buffer_bytes,
        "command_bytes": benchmark.command_bytes,
        "tables": _tables() if benchmark.takes_sound else None,
        "frames_bytes": image.type.size_bytes if image.type.elements > BANDS else 0,
    }
    return fill("c/mlperf_model.c.j2", model=view)


def _tables() -> Mapping[str, Sequence[str]]:
    """Rows of the tables of the features, by their names in C."""
    bands = mel_bands()
    tables = {
        "window": hamming(),
        "twiddles": twiddles(),
        "weights": bands.weights,
        "starts": bands.starts,
        "counts": bands.counts,
    }
    return {name: table_rows(numbers(values)) for name, values in tables.items()}
