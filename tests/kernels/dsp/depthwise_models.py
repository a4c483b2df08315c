"""Depthwise layers as small models, random or of a given shape, run many in one boot."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.random import Generator

from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.kernels.primfunc import PrimFunc
from codegen.toolchain import Optimize
from tests.kernels.runs import run_files


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """A layer: image (height, width, channels), window, stride and the rest as TFLite states it."""

    image: tuple[int, int, int]
    kernel: tuple[int, int] = (3, 3)
    stride: int = 1
    dilation: tuple[int, int] = (1, 1)
    padding: str = "SAME"
    multiplier: int = 1
    batch: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Numbers:
    """Quantisation: zero points, scale of the image, factor from accumulator to result, bias' reach."""

    image_zero: int = -128
    result_zero: int = -128
    factor: float = 0.004
    per_channel: bool = True
    bias_reach: int = 2000
    extreme: bool = False
    """All weights and pixels at the ends of their ranges."""
    activation: str = "none"


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What was run for a layer: kernels by step, instructions predicted and measured."""

    kernels: tuple[str, ...]
    predicted: int | None
    measured: int | None
    macs: int


@dataclass(kw_only=True, slots=True)
class DepthwiseModel:
    """`layers` depthwise layers, one after the other; the first has `shape`. With `narrow` they stand between
    two 1x1 convolutions, from and to so many channels."""

    shape: Shape
    numbers: Numbers = field(default_factory=Numbers)
    layers: int = 1
    narrow: int = 0
    seed: int = 0

    def build(self) -> bytes:
        """The `.tflite` file."""
        rng = np.random.default_rng(self.seed)
        model = ModelBuilder()
        shape = self.shape
        height, width, channels = shape.image
        scale = 0.05
        x = model.tensor(
            "x",
            (shape.batch, height, width, self.narrow or channels),
            scale=scale,
            zero_point=self.numbers.image_zero,
        )
        value = x
        if self.narrow:
            value = self._pointwise(model, rng, x, (height, width, self.narrow), channels)
        for layer in range(self.layers):
            stride = shape.stride if layer == 0 else 1
            padding = shape.padding if layer == 0 else "SAME"
            height = _results(height, shape.kernel[0], stride, shape.dilation[0], padding)
            width = _results(width, shape.kernel[1], stride, shape.dilation[1], padding)
            outputs = channels * shape.multiplier
            weights, bias = self._weights(model, rng, layer, outputs)
            y = model.tensor(
                f"y{layer}",
                (shape.batch, height, width, outputs),
                scale=scale,
                zero_point=self.numbers.result_zero,
            )
            model.op(
                "DEPTHWISE_CONV_2D",
                [value, weights, bias],
                [y],
                stride_h=stride,
                stride_w=stride,
                dilation_h=shape.dilation[0],
                dilation_w=shape.dilation[1],
                padding=padding,
                depth_multiplier=shape.multiplier,
                activation=self.numbers.activation,
            )
            value, channels = y, outputs
        if self.narrow:
            value = self._pointwise(model, rng, value, (height, width, channels), self.narrow)
        model.inputs(x)
        model.outputs(value)
        return model.build()

    def _weights(self, model: ModelBuilder, rng: Generator, layer: int, outputs: int) -> tuple[int, int]:
        numbers = self.numbers
        dims = (1, *self.shape.kernel, outputs)
        data = rng.integers(-127, 128, dims).astype(np.int8)
        if numbers.extreme:
            data = rng.choice(np.array([-128, 127], np.int8), dims)
        count = outputs if numbers.per_channel else 1
        scales = [float(np.float32(numbers.factor * 2.0 ** rng.uniform(-1, 0.5))) for _ in range(count)]
        weights = model.tensor(f"w{layer}", dims, scale=scales, zero_point=[0] * count, axis=3, data=data)
        reach = numbers.bias_reach
        bias = model.tensor(
            f"b{layer}",
            (outputs,),
            "int32",
            scale=[float(np.float32(0.05 * s)) for s in scales],
            zero_point=[0] * count,
            data=rng.integers(-reach, reach + 1, outputs).astype(np.int32),
        )
        return weights, bias

    def _pointwise(
        self, model: ModelBuilder, rng: Generator, value: int, image: tuple[int, int, int], outputs: int
    ) -> int:
        height, width, channels = image
        dims, name = (outputs, 1, 1, channels), f"p{outputs}_{channels}"
        data = rng.integers(-127, 128, dims).astype(np.int8)
        weights = model.tensor(f"w{name}", dims, scale=0.01, data=data)
        result = (self.shape.batch, height, width, outputs)
        y = model.tensor(f"y{name}", result, scale=0.05, zero_point=self.numbers.image_zero)
        model.op("CONV_2D", [value, weights], [y], stride_h=1, stride_w=1, padding="SAME")
        return y

    def cases(self, count: int) -> list[Case]:
        """Random images."""
        rng = np.random.default_rng([self.seed, 1])
        dims = (self.shape.batch, *self.shape.image[:2], self.narrow or self.shape.image[2])
        found: list[Case] = []
        for number in range(count):
            image = rng.integers(-128, 128, dims).astype(np.int8)
            if self.numbers.extreme:
                image = rng.choice(np.array([-128, 127], np.int8), dims)
            found.append(Case(name=f"{self} {number}", inputs=(image,)))
        return found


def _results(extent: int, kernel: int, stride: int, dilation: int, padding: str) -> int:
    if padding == "SAME":
        return -(-extent // stride)
    return (extent - (kernel - 1) * dilation - 1) // stride + 1


def run_all(
    models: Sequence[DepthwiseModel],
    board_name: str,
    folder: Path,
    optimize: Optimize,
    *,
    images: int = 2,
    sandbox: bool = False,
) -> list[Outcome]:
    """Build all into one program, run it, hold every output against the NumPy reference."""
    options = Options(board=board_name, optimize=optimize, sandbox=sandbox)
    found: list[Outcome] = []
    for plan, measured in run_files([(m.build(), m.cases(images)) for m in models], options, folder):
        prims = plan.program.steps.prim_funcs
        predicted = [prim.instructions for prim in prims]
        found.append(
            Outcome(
                kernels=tuple(_kernel(prim) for prim in prims),
                predicted=None if None in predicted else sum(p for p in predicted if p is not None),
                measured=measured.result.cases[0].instructions,
                macs=sum(prim.macs for prim in prims),
            )
        )
    return found


def _kernel(prim: PrimFunc) -> str:
    if prim.block is None:
        return prim.symbol
    return "+".join(stage.kernel.symbol for stage in prim.block.stages if stage.kernel is not None)
