"""Slices and concatenations without copies in C: written with our writer, compiled, run, measured.

Vectors and images of one pixel, where every branch of a network is one run of bytes of what joins them.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from codegen import board as boards
from codegen import emit, toolchain
from codegen.board import run_poisoned
from codegen.driver.build import Built, build, plan_model
from codegen.driver.inputs.cases import Case, pattern_case
from codegen.driver.options import Options
from codegen.driver.run import RunConditions, check_steps, complaints, execute, request
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.joint import together
from codegen.program.image import RunResult, Trace
from codegen.program.interface import IoMode
from codegen.program.program import Program
from codegen.settings import Optimize
from tests import engines

SCALE = 0.05


class _Net:
    """Dense layers, slices and concatenations of int8 rows."""

    def __init__(self, *widths: int) -> None:
        self.builder = ModelBuilder()
        self.dice = np.random.default_rng(5)
        self.widths: dict[int, int] = {}
        self.first = [self.row(width, f"x{i}") for i, width in enumerate(widths)]

    def row(self, width: int, name: str = "") -> int:
        made = self.builder.tensor(
            name or f"t{self.builder.tensors}", (1, width), "int8", scale=SCALE, zero_point=2
        )
        self.widths[made] = width
        return made

    def dense(self, source: int, width: int) -> int:
        weights = self.dice.integers(-127, 128, (width, self.widths[source])).astype(np.int8)
        bias = self.dice.integers(-500, 500, width).astype(np.int32)
        n = self.builder.tensors
        w = self.builder.tensor(f"w{n}", weights.shape, "int8", scale=0.01, zero_point=0, data=weights)
        b = self.builder.tensor(f"b{n}", bias.shape, "int32", scale=SCALE * 0.01, data=bias)
        result = self.row(width)
        self.builder.op("FULLY_CONNECTED", [source, w, b], [result])
        return result

    def concat(self, *sources: int) -> int:
        result = self.row(sum(self.widths[source] for source in sources))
        self.builder.op("CONCATENATION", sources, [result], axis=1)
        return result

    def slice(self, source: int, begin: int, end: int) -> int:
        result = self.row(end - begin)
        marks = [
            self.builder.constant(f"{what}{result}", values)
            for what, values in (("begin", [0, begin]), ("end", [1, end]), ("step", [1, 1]))
        ]
        self.builder.op("STRIDED_SLICE", [source, *marks], [result])
        return result

    def split(self, source: int, *widths: int) -> list[int]:
        """SPLIT into equal parts, else SPLIT_V."""
        results = [self.row(width) for width in widths]
        axis = self.builder.constant(f"axis{results[0]}", [1])
        if len(set(widths)) == 1:
            self.builder.op("SPLIT", [axis, source], results, num_splits=len(widths))
        else:
            sizes = self.builder.constant(f"sizes{results[0]}", [*widths[:-1], -1])
            self.builder.op("SPLIT_V", [source, sizes, axis], results, num_splits=len(widths))
        return results

    def constant(self, width: int) -> int:
        data = self.dice.integers(-128, 128, (1, width)).astype(np.int8)
        made = self.builder.tensor(f"k{width}", data.shape, "int8", scale=SCALE, zero_point=2, data=data)
        self.widths[made] = width
        return made

    def build(self, *results: int) -> bytes:
        self.builder.inputs(*self.first)
        self.builder.outputs(*results)
        return self.builder.build()


def inception() -> bytes:
    """Four branches of two layers each, side by side, twice."""
    net = _Net(24)
    value = net.first[0]
    for _ in range(2):
        value = net.concat(*(net.dense(net.dense(value, 12), width) for width in (4, 9, 16, 11)))
    return net.build(net.dense(value, 10))


def dense_net() -> bytes:
    """Each layer reads all that came before it: joins of joins, the input among them."""
    net = _Net(16)
    value = net.first[0]
    for width in (5, 6, 7):
        value = net.concat(value, net.dense(value, width))
    return net.build(net.dense(value, 10))


def halves() -> bytes:
    """Slices go their own ways; beside what can be joined there are a slice, a constant and a repetition."""
    net = _Net(32, 8)
    hidden = net.dense(net.first[0], 40)
    left, right = net.slice(hidden, 0, 20), net.slice(hidden, 20, 40)
    low = net.dense(left, 13)
    again = net.dense(right, 3)
    value = net.concat(low, right, net.constant(5), again, again, net.first[1])
    return net.build(net.dense(value, 10), net.slice(value, 8, 30))


def shuffle() -> bytes:
    """Half of each value goes on as it is, beside what is computed of the other half."""
    net = _Net(32)
    value = net.dense(net.first[0], 32)
    for widths in ((16, 16), (8, 24), (12, 12, 8)):
        parts = net.split(value, *widths)
        value = net.concat(*parts[1:], net.dense(parts[0], widths[0]))
    return net.build(net.dense(value, 10))


MODELS: tuple[Callable[[], bytes], ...] = (inception, dense_net, halves, shuffle)


def _built(make: Callable[[], bytes], folder: Path, options: Options) -> tuple[Built, tuple[Case, ...]]:
    path = folder / "net.tflite"
    path.write_bytes(make())
    built = build([path], options, folder / "build", emulated=True)
    types = [tensor.type for tensor in built.models[0].program.signature.inputs]
    return built, _with_expected(make(), tuple(pattern_case(types, seed) for seed in (1, 2)))


def _with_expected(model: bytes, cases: tuple[Case, ...]) -> tuple[Case, ...]:
    """The cases with TFLite's own outputs, where it is there; else NumPy's evaluation decides."""
    if engines.TFLITE_RUNTIME not in engines.available():
        return cases
    inputs = tuple(case.inputs for case in cases)
    [answer] = engines.evaluate([engines.Request(engine=engines.TFLITE_RUNTIME, model=model, inputs=inputs)])
    assert not answer.error
    return tuple(
        Case(name=case.name, inputs=case.inputs, expected=outputs)
        for case, outputs in zip(cases, answer.outputs, strict=True)
    )


def _check(built: Built, cases: tuple[Case, ...]) -> None:
    planned = built.models[0]
    measured = execute(built, cases)
    assert complaints(planned, cases, measured, built.image.sizes.stack_bound_bytes) == []
    measured = execute(built, cases[:1], RunConditions(trace=Trace.RESULTS))
    compared = [step.comparison for step in check_steps(planned, cases[0], measured)]
    assert all(one.matches for one in compared if one is not None)
    # What is joined without code is there, and compared, all the same.
    prims = planned.program.steps.prim_funcs
    assert [one is not None for one in compared] == [prim.view is None for prim in prims]
    assert {
        step.instructions for step in measured.result.trace if step.step in planned.program.silent_steps
    } <= {None if built.board.counter is None else 0}


def _kernels(program: Program) -> list[str]:
    moving = ("CONCATENATION", "STRIDED_SLICE")
    return [prim.kernel for prim in program.steps.prim_funcs if prim.let.call.op.name in moving]


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("io", list(IoMode))
@pytest.mark.parametrize("optimize", ["speed", "balanced"])
@pytest.mark.sampled()
def test_outputs_are_tflites_on_the_host(
    make: Callable[[], bytes], io: IoMode, optimize: Optimize, tmp_path: Path
) -> None:
    options = Options(board="host", io=io, optimize=optimize)
    built, cases = _built(make, tmp_path, options)
    _check(built, cases)
    kernels = _kernels(built.models[0].program)
    if make is inception:
        assert kernels == ["concat_join"] * 2
    elif make is shuffle:
        assert set(kernels) == {"concat_join", "strided_slice_view"}
    elif io is IoMode.POOL:
        assert set(kernels) == {"concat_join"} | ({"strided_slice_view"} if make is halves else set())


@pytest.mark.qemu
@pytest.mark.parametrize("make", MODELS)
@pytest.mark.sampled(2)
def test_measured_on_the_target(make: Callable[[], bytes], tmp_path: Path) -> None:
    built, cases = _built(make, tmp_path, Options(board="mps2-an386"))
    _check(built, cases)


@pytest.mark.parametrize("make", [inception, dense_net])
def test_peaks_by_hand(make: Callable[[], bytes], tmp_path: Path) -> None:
    path = tmp_path / "net.tflite"
    path.write_bytes(make())
    # A core whose kernels need no workspaces.
    program = plan_model(path, boards.load_board("mps2-an385"), Options(board="mps2-an385")).program
    expected = {
        # Both concatenations: the last branch reads the first one, what it computes lies in the second's gap.
        inception: 40 + 40,
        # The last one holds everything; beside it there is the result, but for the byte that is written last.
        dense_net: 34 + 10 - 1,
    }
    assert program.memory.peak_bytes("sram") == expected[make]


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.sampled(2)
def test_no_step_touches_what_is_not_its_own(make: Callable[[], bytes], tmp_path: Path) -> None:
    built, cases = _built(make, tmp_path, Options(board="host"))
    program = built.models[0].program
    sources = emit.render(together([program]))
    emit.write(sources, tmp_path / "poisoned")
    board = boards.load_board("host")
    image = toolchain.build(sources, tmp_path / "poisoned", board, optimize="balanced", sanitize=True)
    assert isinstance(run_poisoned(image, board, request(program, cases)), RunResult)


def _source(folder: Path) -> str:
    """The model's C, blanks and ends of lines all alike."""
    return " ".join((folder / "build" / "net.c").read_text().replace("*", " ").split())


def test_the_source_says_that_no_code_runs(tmp_path: Path) -> None:
    built, _ = _built(halves, tmp_path, Options(board="host", optimize="speed"))
    source = _source(tmp_path)
    assert "a view, no code" in source
    assert "there already" in source
    built, _ = _built(inception, tmp_path, Options(board="host"))
    source = _source(tmp_path)
    assert source.count("side by side, no code") == 2
    assert "cg_concat" not in source
    assert "kernels/portable/concat.c" not in emit.render(together([built.models[0].program])).files
