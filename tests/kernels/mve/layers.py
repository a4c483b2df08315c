"""Random layers for the Helium kernels as small models, many run in one boot."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from codegen.driver.build import Planned
from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.settings import SharingMode
from codegen.toolchain import Optimize
from tests.kernels.runs import run_files

BOARD = "mps3-an547"
ACTIVATIONS = ("none",) * 4 + ("relu", "relu6", "relu_n1_to_1")
ZERO_POINTS = (-128, -128, 127, 0, 5, -31)


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """Image (height, width, channels), window, steps, padding as TFLite names it."""

    image: tuple[int, int, int]
    kernel: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    padding: str = "VALID"
    batch: int = 1

    @property
    def result(self) -> tuple[int, int]:
        """Rows and columns of the result."""
        rows, columns = (self._extent(axis) for axis in (0, 1))
        return rows, columns

    @property
    def options(self) -> dict[str, Any]:
        """Options of operators without dilation."""
        return {"stride_h": self.stride[0], "stride_w": self.stride[1], "padding": self.padding}

    def _extent(self, axis: int) -> int:
        span = (self.kernel[axis] - 1) * self.dilation[axis] + 1
        free = self.image[axis] if self.padding == "SAME" else self.image[axis] - span + 1
        return -(-free // self.stride[axis])


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """A `.tflite` file and images for it."""

    data: bytes
    images: tuple[tuple[np.ndarray, ...], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """Kernels that ran, instructions predicted and measured."""

    symbols: tuple[str, ...]
    predicted: int | None
    measured: int | None


class Drawing:
    """One model under construction; everything random comes from one seed."""

    def __init__(self, *seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.model = ModelBuilder()
        self.tensors = 0
        self.inputs: list[tuple[int, tuple[int, ...]]] = []
        self.extreme = bool(self.rng.random() < 0.2)
        """Weights and images at the ends of their ranges."""

    def pick(self, *values: Any) -> Any:
        """One of the values."""
        return values[int(self.rng.integers(len(values)))]

    def tensor(self, shape: Sequence[int], dtype: str = "int8", **quantisation: Any) -> int:
        """A tensor with a name of its own."""
        self.tensors += 1
        return self.model.tensor(f"t{self.tensors}", tuple(shape), dtype, **quantisation)

    def image(self, shape: Sequence[int], scale: float = 0.05, zero_point: int | None = None) -> int:
        """An int8 tensor that is computed or given."""
        zero = int(self.pick(*ZERO_POINTS)) if zero_point is None else zero_point
        return self.tensor(shape, scale=scale, zero_point=zero)

    def input(self, shape: Sequence[int], **quantisation: Any) -> int:
        """A graph input."""
        index = self.image(shape, **quantisation)
        self.inputs.append((index, tuple(shape)))
        return index

    def bytes_of(self, shape: Sequence[int], low: int = -128) -> np.ndarray:
        """Random int8 data."""
        if self.extreme:
            return self.rng.choice(np.array([low, 127], np.int8), tuple(shape))
        return self.rng.integers(low, 128, tuple(shape)).astype(np.int8)

    def weights(self, shape: Sequence[int], axis: int, low: int = -128) -> tuple[int, int]:
        """Weights and bias; scales of all kinds: usual ones, shifts to the left, multipliers of 0."""
        outputs = shape[axis]
        count = outputs if self.rng.random() < 0.7 else 1
        taps = int(np.prod(shape)) // outputs
        usual = 40.0 / (73.0 * 73.0 * taps**0.5)
        factor = self.pick(*(usual,) * 8, 2.0 ** self.rng.uniform(-2, 3), 2.0**-40)
        scales = [float(np.float32(factor * 2.0 ** self.rng.uniform(-2, 0.5))) for _ in range(count)]
        data = self.bytes_of(shape, low)
        weights = self.tensor(shape, scale=scales, zero_point=[0] * count, axis=axis, data=data)
        reach = self.pick(*(3000,) * 6, 10, 2**31 - 1)
        bias = self.rng.integers(-reach, reach, outputs, np.int32, endpoint=True)
        products = [float(np.float32(0.05 * scale)) for scale in scales]
        return weights, self.tensor((outputs,), "int32", scale=products, zero_point=[0] * count, data=bias)

    def conv(self, x: int, window: Window, outputs: int) -> int:
        """CONV_2D."""
        weights, bias = self.weights((outputs, *window.kernel, window.image[2]), 0)
        return self._weighted("CONV_2D", x, (weights, bias), window, outputs)

    def depthwise(self, x: int, window: Window, multiplier: int = 1) -> int:
        """DEPTHWISE_CONV_2D."""
        outputs = window.image[2] * multiplier
        low = -128 if self.rng.random() < 0.1 else -127
        weights, bias = self.weights((1, *window.kernel, outputs), 3, low)
        return self._weighted(
            "DEPTHWISE_CONV_2D", x, (weights, bias), window, outputs, depth_multiplier=multiplier
        )

    def _weighted(
        self, name: str, x: int, constants: tuple[int, int], window: Window, outputs: int, **options: Any
    ) -> int:
        y = self.image((window.batch, *window.result, outputs))
        dilation = {"dilation_h": window.dilation[0], "dilation_w": window.dilation[1]}
        options = options | dilation | window.options | {"activation": self.pick(*ACTIVATIONS)}
        self.model.op(name, [x, *constants], [y], **options)
        return y

    def fully_connected(self, x: int, rows: int, inputs: int, outputs: int) -> int:
        """FULLY_CONNECTED."""
        constants = self.weights((outputs, inputs), 0)
        y = self.image((rows, outputs))
        self.model.op("FULLY_CONNECTED", [x, *constants], [y], activation=self.pick(*ACTIVATIONS))
        return y

    def pool(self, name: str, x: int, zero_point: int, window: Window) -> int:
        """AVERAGE_POOL_2D or MAX_POOL_2D."""
        y = self.image((window.batch, *window.result, window.image[2]), zero_point=zero_point)
        size = {"filter_height": window.kernel[0], "filter_width": window.kernel[1]}
        self.model.op(name, [x], [y], activation=self.pick(*ACTIVATIONS), **size, **window.options)
        return y

    def binary(self, name: str, x: int, other: int, shape: Sequence[int]) -> int:
        """ADD or SUB."""
        y = self.image(shape, scale=float(np.float32(0.05 * 2.0 ** self.rng.uniform(-1, 2))))
        self.model.op(name, [x, other], [y], activation=self.pick(*ACTIVATIONS))
        return y

    def finish(self, *outputs: int, images: int = 2) -> Model:
        """The file, with random images."""
        self.model.inputs(*(index for index, _ in self.inputs))
        self.model.outputs(*outputs)
        drawn = [tuple(self.bytes_of(shape) for _, shape in self.inputs) for _ in range(images)]
        return Model(data=self.model.build(), images=tuple(drawn))


def run_all(
    models: Iterable[Model],
    folder: Path,
    *,
    optimize: Optimize = "speed",
    sandbox: bool = False,
    sharing: SharingMode = "overlap",
    on: str = BOARD,
) -> list[Outcome]:
    """Build all into one program, run it, hold every output and peak against reference and plan."""
    files = [
        (model.data, [Case(name=f"m{n}.{i}", inputs=inputs) for i, inputs in enumerate(model.images)])
        for n, model in enumerate(models)
    ]
    options = Options(board=on, optimize=optimize, sandbox=sandbox, sharing=sharing)
    found = run_files(files, options, folder)
    return [_outcome(plan, measured.result.cases[0].instructions) for plan, measured in found]


def _outcome(plan: Planned, measured: int | None) -> Outcome:
    prims = plan.program.steps.prim_funcs
    predicted = [prim.instructions for prim in prims if prim.view is None]
    symbols: list[str] = []
    for prim in prims:
        stages = prim.block.stages if prim.block else ()
        symbols += [prim.symbol, *(stage.kernel.symbol for stage in stages if stage.kernel)]
    known = [count for count in predicted if count is not None]
    total = sum(known) if len(known) == len(predicted) else None
    return Outcome(symbols=tuple(symbols), predicted=total, measured=measured)


def random_window(rng: Generator, channels: int, *, dilated: bool = True, largest: int = 5) -> Window:
    """A window that fits its image, any stride and dilation."""
    kernel = (int(rng.integers(1, largest + 1)), int(rng.integers(1, largest + 1)))
    dilation = (1, 1)
    if dilated and rng.random() < 0.2:
        dilation = (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    span = [(kernel[axis] - 1) * dilation[axis] + 1 for axis in (0, 1)]
    strides = (1, 1) if max(dilation) > 1 else (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    return Window(
        image=(span[0] + int(rng.integers(0, 6)), span[1] + int(rng.integers(0, 9)), channels),
        kernel=kernel,
        stride=strides if rng.random() < 0.6 else (1, 1),
        dilation=dilation,
        padding="SAME" if rng.random() < 0.6 else "VALID",
        batch=2 if rng.random() < 0.1 else 1,
    )
