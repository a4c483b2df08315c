"""Single int8 layers on a board: instructions per multiply-accumulate, the board's kernels beside portable C.

python benchmarks/layers.py --board microbit
python benchmarks/layers.py --board mps2-an386 --int4
python benchmarks/layers.py --board benchmarks/boards/mps2-an385-v6m.toml --layers 1x1 3x3

Instructions of an inference under QEMU's `-icount shift=0`, where results equal the reference. A layer that
does not fit the board loses rows until it does; `rows` says how many it has.
"""

import argparse
import math
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, not the installed one

from codegen import board as boards
from codegen import emit, toolchain
from codegen.board import load_board
from codegen.driver.build import Planned
from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from codegen.driver.preparing import prepared
from codegen.driver.run import complaints, measure, request
from codegen.errors import CodegenError, ExitCode
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir import Board
from codegen.joint import together
from codegen.search import Choices, search
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.fewest_bytes import nearly_as_fast
from codegen.search.kernels.selection import select

CHOICES = Choices(planner="greedy_by_size", optimize="speed")
SCALE = 0.05
"""Of images and results."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """A layer: image (height, width, channels); `outputs` 0 is a depthwise convolution. A fully connected
    layer has an image of (1, 1, inputs) and no kernel."""

    image: tuple[int, int, int]
    kernel: tuple[int, int] | None = (3, 3)
    outputs: int = 0
    stride: int = 1
    relu: bool = False
    is_int4: bool = False
    """Of its weights; of the file's, what a kernel makes of them is its choice."""

    @property
    def name(self) -> str:
        """Kind, image and outputs in one word."""
        if self.kernel is None:
            return f"fc {self.image[2]}->{self.outputs}"
        kind = "dw" if self.outputs == 0 else ""
        stride = f"s{self.stride}" if self.stride > 1 else ""
        end = f"->{self.outputs}" if self.outputs else ""
        relu = (" relu" if self.relu else "") + (" int4" if self.is_int4 else "")
        return f"{kind}{self.kernel[0]}x{self.kernel[1]}{stride} {'x'.join(map(str, self.image))}{end}{relu}"

    def build(self) -> bytes:
        """The `.tflite` file."""
        model = ModelBuilder()
        x, y = self.add(model)
        model.inputs(x)
        model.outputs(y)
        return model.build()

    def add(self, model: ModelBuilder, prefix: str = "", x: int | None = None) -> tuple[int, int]:
        """The layer in `model`, its tensors' names behind `prefix`, of image `x` or one of its own: image and
        result."""
        rng = np.random.default_rng([*self.image, self.outputs])
        kernel = self.kernel or (1, 1)
        height, width, depth = self.image
        channels = self.outputs or depth
        taps = math.prod(kernel) * (depth if self.outputs else 1)
        dims = (channels, *kernel, depth) if self.outputs else (1, *kernel, channels)
        result: tuple[int, ...] = (1, -(-height // self.stride), -(-width // self.stride), channels)
        image: tuple[int, ...] = (1, *self.image)
        if self.kernel is None:
            image, dims, result = (1, depth), (channels, depth), (1, channels)
        factor = 64 / (73 * 73 * taps**0.5)  # results spread over int8
        scales = [float(np.float32(factor * 2.0 ** rng.uniform(-0.5, 0.5))) for _ in range(channels)]
        if x is None:
            x = model.tensor(f"{prefix}x", image, scale=SCALE, zero_point=-3)
        zeros = [0] * channels
        axis = 0 if self.outputs else 3
        low, high = (-8, 8) if self.is_int4 else (-127, 128)
        factor *= 16 if self.is_int4 else 1
        data = rng.integers(low, high, dims).astype(np.int8)
        kind = "int4" if self.is_int4 else "int8"
        weights = model.tensor(f"{prefix}w", dims, kind, scale=scales, zero_point=zeros, axis=axis, data=data)
        bias = model.tensor(
            f"{prefix}b",
            (channels,),
            "int32",
            scale=[float(np.float32(SCALE * scale)) for scale in scales],
            zero_point=zeros,
            data=rng.integers(-2000, 2001, channels).astype(np.int32),
        )
        y = model.tensor(f"{prefix}y", result, scale=SCALE, zero_point=-128 if self.relu else 4)
        activation = "relu" if self.relu else "none"
        if self.kernel is None:
            model.op("FULLY_CONNECTED", [x, weights, bias], [y], activation=activation)
        else:
            model.op(
                "CONV_2D" if self.outputs else "DEPTHWISE_CONV_2D",
                [x, weights, bias],
                [y],
                stride_h=self.stride,
                stride_w=self.stride,
                padding="SAME",
                activation=activation,
            )
        return x, y


LAYERS = (
    Layer(image=(24, 24, 64), kernel=(1, 1), outputs=64),
    Layer(image=(24, 24, 32), kernel=(1, 1), outputs=32),
    Layer(image=(6, 6, 128), kernel=(1, 1), outputs=128),
    Layer(image=(48, 48, 16), kernel=(1, 1), outputs=32),
    Layer(image=(48, 48, 16), kernel=(1, 1), outputs=32, relu=True),
    Layer(image=(12, 12, 57), kernel=(1, 1), outputs=30),
    Layer(image=(32, 32, 16), outputs=16),
    Layer(image=(16, 16, 32), outputs=32),
    Layer(image=(8, 8, 64), outputs=64),
    Layer(image=(32, 32, 3), outputs=16),
    Layer(image=(48, 48, 3), outputs=8, stride=2),
    Layer(image=(49, 10, 1), kernel=(10, 4), outputs=64, stride=2),
    Layer(image=(24, 24, 32)),
    Layer(image=(24, 24, 32), relu=True),
    Layer(image=(6, 6, 128)),
    Layer(image=(48, 48, 16)),
    Layer(image=(24, 24, 32), stride=2),
    Layer(image=(25, 5, 64)),
    Layer(image=(14, 14, 16), kernel=(5, 5)),
    Layer(image=(1, 1, 128), kernel=None, outputs=128),
    Layer(image=(1, 1, 640), kernel=None, outputs=32),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """What was measured of a layer, and what its kernel predicted."""

    kernel: str
    rows: int
    macs: int
    instructions: int
    predicted: int | None
    constant_bytes: int
    workspace_bytes: int


def plan(layer: Layer, board: Board, folder: Path, *, is_portable: bool) -> tuple[Planned, int]:
    """The layer's program and its image's rows: as many as fit the board. Raises CodegenError."""
    path = folder / "layer.tflite"
    path.write_bytes(layer.build())
    ready = prepared(path, Options(board=board.name, reduce=False))
    seen = without_features(board) if is_portable else board
    constants = {id_: constant.data for id_, constant in ready.module.constants.items()}
    [fastest] = select(ready.module.main, Binder(constants, seen.target))
    program = None
    try:
        program = search(ready.module, seen, CHOICES, name="layer")
    except CodegenError as error:
        if error.exit_code is not ExitCode.FIT or layer.image[0] <= layer.stride:
            raise
    # A slower one is what the search falls back to where memory is short: not what is measured here.
    if program is None or not nearly_as_fast([fastest], {0: program.steps.prim_funcs[0]}):
        fewer = (layer.image[0] - layer.stride, *layer.image[1:])
        return plan(replace(layer, image=fewer), board, folder, is_portable=is_portable)
    program = replace(program, board=board)
    return Planned(module=ready.module, program=program, macs=ready.macs), layer.image[0]


def run(layer: Layer, board: Board, *, is_portable: bool) -> Figure:
    """Build, run and check one layer. Raises CodegenError."""
    with tempfile.TemporaryDirectory(prefix="codegen-bench-") as name:
        folder = Path(name)
        planned, rows = plan(layer, board, folder, is_portable=is_portable)
        instructions = executed(planned, board, folder)
        [prim] = planned.program.steps.prim_funcs
        return Figure(
            kernel=prim.kernel,
            rows=rows,
            macs=prim.macs,
            instructions=instructions,
            predicted=prim.instructions,
            constant_bytes=sum(pool.size_bytes for pool in planned.program.constants.pools),
            workspace_bytes=sum(space.size_bytes for space in prim.workspaces),
        )


def executed(planned: Planned, board: Board, folder: Path) -> int:
    """Instructions of an inference of random int8 inputs. Raises CodegenError, also where results differ."""
    sources = emit.render(together([planned.program]))
    emit.write(sources, folder / "build")
    image = toolchain.build(sources, folder / "build", board, optimize="speed")
    rng = np.random.default_rng(0)
    shapes = [tensor.type.shape for tensor in planned.program.signature.inputs]
    inputs = tuple(rng.integers(-128, 128, shape).astype(np.int8) for shape in shapes)
    cases = [Case(name="random", inputs=inputs)]
    with boards.session(image, board) as target:
        measured = measure(planned, cases, target.run(request(planned.program, cases)))
    wrong = complaints(planned, cases, measured, image.sizes.stack_bound_bytes)
    if wrong:
        raise CodegenError(wrong)
    return measured.result.cases[0].instructions or 0


def without_features(board: Board) -> Board:
    """The board as it looks to kernels where only portable ones are to be taken."""
    host = load_board("host").target.cpu
    return replace(board, target=replace(board.target, cpu=host, features=frozenset()))


def show(layers: Sequence[Layer], board: Board) -> None:
    """The table: a line for each layer."""
    line = "{:<26} {:<26} {:>5} {:>9} {:>9} {:>6} {:>10} {:>9} {:>10}"
    heads = ("kernel", "rows", "per MAC", "portable", "ratio", "predicted", "constants", "workspace")
    print(line.format(f"layer on {board.name}", *heads))
    for layer in layers:
        ours = run(layer, board, is_portable=False)
        plain = run(layer, board, is_portable=True)
        per_mac = ours.instructions / ours.macs
        plain_per_mac = plain.instructions / plain.macs
        off = "" if ours.predicted is None else f"{100 * (ours.predicted / ours.instructions - 1):+.1f} %"
        words = (
            f"{per_mac:.3f}",
            f"{plain_per_mac:.3f}",
            f"{per_mac / plain_per_mac:.3f}",
            off,
            f"{ours.constant_bytes:,}",
            f"{ours.workspace_bytes:,}",
        )
        print(line.format(layer.name, ours.kernel, ours.rows, *words), flush=True)


def show_int4(layers: Sequence[Layer], board: Board) -> None:
    """The table of int4 weights beside int8 ones: a line for each layer."""
    line = "{:<26} {:<26} {:>12} {:>12} {:>6} {:>10} {:>10} {:>6}"
    heads = ("instructions", "with int8", "ratio", "constants", "with int8", "ratio")
    print(line.format(f"int4 on {board.name}", "kernel", *heads))
    for layer in layers:
        narrow = run(replace(layer, is_int4=True), board, is_portable=False)
        wide = run(layer, board, is_portable=False)
        words = (
            f"{narrow.instructions:,}",
            f"{wide.instructions:,}",
            f"{narrow.instructions / wide.instructions:.3f}",
            f"{narrow.constant_bytes:,}",
            f"{wide.constant_bytes:,}",
            f"{narrow.constant_bytes / wide.constant_bytes:.3f}",
        )
        print(line.format(layer.name, narrow.kernel, *words), flush=True)


def main() -> int:
    """Measure and print."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--board", required=True, help="name or .toml file")
    parser.add_argument("--layers", nargs="+", default=[""], help="only layers whose name begins so")
    parser.add_argument("--int4", action="store_true", help="int4 weights beside int8 ones")
    wanted = parser.parse_args()
    layers = [layer for layer in LAYERS if layer.name.startswith(tuple(wanted.layers))]
    try:
        (show_int4 if wanted.int4 else show)(layers, boards.load_board(wanted.board))
    except CodegenError as error:
        print(error, file=sys.stderr)
        return int(error.exit_code)
    return 0


if __name__ == "__main__":
    sys.exit(main())
