"""Single int8 operators on a board: instructions an element of the result or a multiply-accumulate.

python benchmarks/operators.py --board mps2-an386
python benchmarks/operators.py --board mps3-an547 --only MAXIMUM PAD

Instructions of an inference under QEMU's `-icount shift=0`, where results equal the reference, with the
board's kernels beside portable C; `kernels` are those that run, in order.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, not the installed one

from benchmarks.layers import CHOICES, executed, without_features
from codegen import board as boards
from codegen.driver.build import Planned, prepared
from codegen.driver.options import Options
from codegen.errors import CodegenError
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir import Board
from codegen.search import search

IMAGE = (1, 12, 12, 16)
SCALE, ZERO_POINT = 0.05, -3
"""Of arguments; of results too where the operator wants it so."""

Shape = tuple[int, ...]
Write = Callable[[ModelBuilder], tuple[int, str]]
"""Writes a model of one operator: what instructions are divided by, and its word."""


def _value(model: ModelBuilder, name: str, shape: Shape, *, other: bool = False) -> int:
    scale, zero_point = (0.7 * SCALE, 9) if other else (SCALE, ZERO_POINT)
    return model.tensor(name, shape, scale=scale, zero_point=zero_point)


def _ends(model: ModelBuilder, inputs: tuple[int, ...], output: int) -> None:
    model.inputs(*inputs)
    model.outputs(output)


def pair(
    op: str, *, image: Shape = IMAGE, second: Shape = IMAGE, same: bool = False, constant: bool = False
) -> Write:
    """An operator of two arguments; `same`: all of one quantisation."""

    def write(model: ModelBuilder) -> tuple[int, str]:
        x = _value(model, "x", image)
        if constant:
            data = np.random.default_rng(1).integers(-128, 128, second).astype(np.int8)
            scale, zero_point = (SCALE, ZERO_POINT) if same else (0.7 * SCALE, 9)
            z = model.tensor("z", second, scale=scale, zero_point=zero_point, data=data)
        else:
            z = _value(model, "z", second, other=not same)
        kind = "bool" if op in ("LESS", "EQUAL") else "int8"
        result = (
            _value(model, "y", image, other=not same) if kind == "int8" else model.tensor("y", image, kind)
        )
        model.op(op, [x, z], [result])
        _ends(model, (x,) if constant else (x, z), result)
        return int(np.prod(image)), "element"

    return write


def single(op: str, *, scale: float = SCALE, zero_point: int = 9) -> Write:
    """An operator of one argument, element by element."""

    def write(model: ModelBuilder) -> tuple[int, str]:
        x = _value(model, "x", IMAGE)
        y = model.tensor("y", IMAGE, scale=scale, zero_point=zero_point)
        model.op(op, [x], [y])
        _ends(model, (x,), y)
        return 12 * 12 * 16, "element"

    return write


def walked(
    op: str, result: Shape, *numbers: list[int] | list[list[int]], image: Shape = IMAGE, half: bool = False
) -> Write:
    """An operator with constants of numbers (axes, paddings, sizes); elements of the larger side count."""

    def write(model: ModelBuilder) -> tuple[int, str]:
        x, y = _value(model, "x", image), _value(model, "y", result)
        consts = [model.constant(f"n{at}", np.array(each, np.int32)) for at, each in enumerate(numbers)]
        if half:
            model.op(op, [x, *consts], [y], half_pixel_centers=True)
        else:
            model.op(op, [x, *consts], [y])
        _ends(model, (x,), y)
        return int(max(np.prod(image), np.prod(result))), "element"

    return write


def pooled(window: int) -> Write:
    """AVERAGE_POOL_2D of windows side by side."""

    def write(model: ModelBuilder) -> tuple[int, str]:
        x = _value(model, "x", IMAGE)
        y = _value(model, "y", (1, 12 // window, 12 // window, 16))
        model.op(
            "AVERAGE_POOL_2D",
            [x],
            [y],
            padding="VALID",
            filter_width=window,
            filter_height=window,
            stride_w=window,
            stride_h=window,
        )
        _ends(model, (x,), y)
        return 12 * 12 * 16, "element"

    return write


def matmul(rows: int, depth: int, columns: int, batches: int, *, adj_y: bool) -> Write:
    """Two matrices that are computed at run time."""

    def write(model: ModelBuilder) -> tuple[int, str]:
        x = _value(model, "x", (batches, rows, depth))
        shape = (batches, columns, depth) if adj_y else (batches, depth, columns)
        z = _value(model, "z", shape, other=True)
        y = model.tensor("y", (batches, rows, columns), scale=0.5, zero_point=2)
        model.op("BATCH_MATMUL", [x, z], [y], adj_y=adj_y)
        _ends(model, (x, z), y)
        return batches * rows * depth * columns, "MAC"

    return write


def transposed(image: Shape, outputs: int, kernel: int, stride: int) -> Write:
    """TRANSPOSE_CONV with SAME padding."""

    def write(model: ModelBuilder) -> tuple[int, str]:
        rng = np.random.default_rng(2)
        _, height, width, depth = image
        result = (1, height * stride, width * stride, outputs)
        shape = model.constant("shape", np.array(result, np.int32))
        data = rng.integers(-127, 128, (outputs, kernel, kernel, depth)).astype(np.int8)
        weights = model.tensor(
            "w", data.shape, scale=[0.01] * outputs, zero_point=[0] * outputs, axis=0, data=data
        )
        x = _value(model, "x", image)
        y = model.tensor("y", result, scale=0.4, zero_point=2)
        model.op("TRANSPOSE_CONV", [shape, weights, x], [y], padding="SAME", stride_h=stride, stride_w=stride)
        _ends(model, (x,), y)
        return height * width * depth * outputs * kernel * kernel, "MAC"

    return write


def lstm(steps: int, inputs: int, units: int) -> Write:
    """UNIDIRECTIONAL_SEQUENCE_LSTM."""

    def write(model: ModelBuilder) -> tuple[int, str]:
        rng = np.random.default_rng(3)
        x = _value(model, "x", (1, steps, inputs))
        consts: list[int] = []
        for at in range(8):
            data = rng.integers(-127, 128, (units, inputs if at < 4 else units)).astype(np.int8)
            consts.append(model.tensor(f"w{at}", data.shape, scale=0.001, data=data))
        sums = [
            model.tensor(f"b{at}", (units,), "int32", scale=0.001 * SCALE, data=np.zeros(units, np.int32))
            for at in range(4)
        ]
        hidden = model.tensor("hidden", (1, units), scale=2.0**-7, variable=True)
        cell = model.tensor("cell", (1, units), "int16", scale=2.0**-11, variable=True)
        y = model.tensor("y", (1, steps, units), scale=2.0**-7)
        no = None
        rest = [no, no, no, *sums, no, no, hidden, cell, no, no, no, no]
        model.op("UNIDIRECTIONAL_SEQUENCE_LSTM", [x, *consts, *rest], [y], activation="tanh")
        _ends(model, (x,), y)
        return steps * 4 * units * (inputs + units), "MAC"

    return write


def svdf(inputs: int, units: int, memory: int) -> Write:
    """SVDF of rank 1 with a window of int8."""

    def write(model: ModelBuilder) -> tuple[int, str]:
        rng = np.random.default_rng(4)
        x = _value(model, "x", (1, inputs))
        features = rng.integers(-127, 128, (units, inputs)).astype(np.int8)
        time = rng.integers(-127, 128, (units, memory)).astype(np.int8)
        given = [
            model.tensor("f", features.shape, scale=0.01, data=features),
            model.tensor("t", time.shape, scale=0.01, data=time),
            model.tensor("b", (units,), "int32", scale=0.0005, data=np.zeros(units, np.int32)),
            model.tensor("held", (1, memory * units), scale=SCALE, variable=True),
        ]
        y = model.tensor("y", (1, units), scale=SCALE, zero_point=1)
        model.op("SVDF", [x, *given], [y], rank=1, activation="none")
        _ends(model, (x,), y)
        return units * (inputs + memory), "MAC"

    return write


CASES: dict[str, Write] = {
    "LOGISTIC": single("LOGISTIC", scale=1 / 256, zero_point=-128),
    "TANH": single("TANH", scale=1 / 128, zero_point=0),
    "HARD_SWISH": single("HARD_SWISH"),
    "QUANTIZE": single("QUANTIZE", scale=0.07),
    "PRELU by channel": pair("PRELU", second=(1, 1, 16), constant=True),
    "MAXIMUM": pair("MAXIMUM", same=True),
    "MAXIMUM scalar": pair("MAXIMUM", second=(1,), same=True, constant=True),
    "MINIMUM by channel": pair("MINIMUM", second=(1, 1, 1, 16), same=True, constant=True),
    "ADD": pair("ADD"),
    "SUB": pair("SUB"),
    "ADD by channel": pair("ADD", second=(1, 1, 1, 16), constant=True),
    "MUL": pair("MUL"),
    "MUL by channel": pair("MUL", second=(1, 1, 1, 16), constant=True),
    "MUL scalar": pair("MUL", second=(1,), constant=True),
    "MUL gate by channel": pair("MUL", second=(1, 1, 1, 16)),
    "SQUARED_DIFFERENCE": pair("SQUARED_DIFFERENCE"),
    "LESS": pair("LESS"),
    "MUL by three channels": pair("MUL", image=(1, 24, 24, 3), second=(3,), constant=True),
    "PAD": walked("PAD", (1, 14, 14, 16), [[0, 0], [1, 1], [1, 1], [0, 0]]),
    "PAD channels": walked("PAD", (1, 12, 12, 24), [[0, 0], [0, 0], [0, 0], [4, 4]]),
    "AVERAGE_POOL_2D 2x2": pooled(2),
    "AVERAGE_POOL_2D 12x12": pooled(12),
    "MEAN rows": walked("MEAN", (1, 16), [1, 2]),
    "MEAN channels": walked("MEAN", (1, 12, 12), [3]),
    "SUM rows": walked("SUM", (1, 16), [1, 2]),
    "SUM channels": walked("SUM", (1, 12, 12), [3]),
    "REDUCE_MAX rows": walked("REDUCE_MAX", (1, 16), [1, 2]),
    "REDUCE_MAX channels": walked("REDUCE_MAX", (1, 12, 12), [3]),
    "RESIZE_NEAREST x2": walked("RESIZE_NEAREST_NEIGHBOR", (1, 12, 12, 16), [12, 12], image=(1, 6, 6, 16)),
    "RESIZE_BILINEAR x2": walked("RESIZE_BILINEAR", (1, 12, 12, 16), [12, 12], image=(1, 6, 6, 16)),
    "RESIZE_BILINEAR x2 half": walked(
        "RESIZE_BILINEAR", (1, 12, 12, 16), [12, 12], image=(1, 6, 6, 16), half=True
    ),
    "BATCH_MATMUL": matmul(16, 32, 16, 2, adj_y=False),
    "BATCH_MATMUL adj_y": matmul(16, 32, 16, 2, adj_y=True),
    "TRANSPOSE_CONV 3x3 s2": transposed((1, 6, 6, 16), 16, 3, 2),
    "TRANSPOSE_CONV 2x2 s2": transposed((1, 6, 6, 16), 16, 2, 2),
    "LSTM": lstm(8, 16, 16),
    "SVDF": svdf(40, 32, 8),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """What was measured of an operator."""

    kernels: str
    instructions: int
    each: float
    unit: str


def planned_model(model: ModelBuilder, board: Board, folder: Path, *, is_portable: bool) -> Planned:
    """By the board's kernels, or portable C alone. Raises CodegenError."""
    path = folder / "layer.tflite"
    path.write_bytes(model.build())
    ready = prepared(path, Options(board=board.name, reduce=False))
    seen = without_features(board) if is_portable else board
    program = replace(search(ready.module, seen, CHOICES, name="layer"), board=board)
    return Planned(module=ready.module, program=program, macs=ready.macs)


def run(write: Write, board: Board) -> tuple[Figure, Figure]:
    """Build, run and check: by the board's kernels and by portable C, once where that is the same. Raises
    CodegenError."""
    with tempfile.TemporaryDirectory(prefix="codegen-bench-") as name:
        folder = Path(name)
        model = ModelBuilder()
        work, unit = write(model)

        def figure(planned: Planned) -> Figure:
            instructions = executed(planned, board, folder)
            kernels = _kernels(planned)
            return Figure(kernels=kernels, instructions=instructions, each=instructions / work, unit=unit)

        ours, plain = (
            planned_model(model, board, folder, is_portable=is_portable) for is_portable in (False, True)
        )
        found = figure(ours)
        return found, found if _kernels(ours) == _kernels(plain) else figure(plain)


def _kernels(planned: Planned) -> str:
    kernels = [prim.kernel for prim in planned.program.steps.prim_funcs if prim.view is None]
    return ", ".join(dict.fromkeys(kernels))


def main() -> int:
    """Measure and print."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--board", required=True, help="name or .toml file")
    parser.add_argument("--only", nargs="+", default=[""], help="only operators whose name begins so")
    wanted = parser.parse_args()
    line = "{:<24} {:>9} {:>8} {:<8} {:>9} {:>6}  {}"
    try:
        board = boards.load_board(wanted.board)
        heads = (board.name, "instr.", "each", "", "portable", "ratio", "kernels")
        print(line.format(*heads))
        for name, write in CASES.items():
            if name.startswith(tuple(wanted.only)):
                ours, plain = run(write, board)
                ratio = ours.instructions / plain.instructions
                words = (
                    f"{ours.instructions:,}",
                    f"{ours.each:.2f}",
                    ours.unit,
                    f"{plain.each:.2f}",
                    f"{ratio:.2f}",
                )
                print(line.format(name, *words, ours.kernels), flush=True)
    except CodegenError as error:
        print(error, file=sys.stderr)
        return int(error.exit_code)
    return 0


if __name__ == "__main__":
    sys.exit(main())
