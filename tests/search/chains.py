"""Random networks of layers that blocks can run: strides, paddings, dilations, groups, joins."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from codegen.ir import DType, Function, Module, TensorType, Var, ops
from codegen.ir.builder import Builder
from codegen.kernels.primfunc import PrimFunc
from codegen.search.blocks.row_blocks import BlockRuns
from tests.tensor_types import REAL, per_channel, per_tensor, tensor_type

METADATA = {"sha256": "0" * 64, "format": "made up", "file": "chain"}


def _type(rng: Generator) -> TensorType:
    quantization = per_tensor(float(np.float32(rng.uniform(0.02, 0.2))), int(rng.integers(-20, 20)))
    return tensor_type((), quantization=quantization)


def _integer(rng: Generator, low: int, high: int) -> int:
    return int(rng.integers(low, high, endpoint=True))


class Chain:
    """Adds one random layer after the other; every value stays in reach of later joins."""

    def __init__(self, rng: Generator, *, joins: bool = False, dtype: DType = DType.INT8) -> None:
        """`joins`: a thin image becomes a wide one, which keeps its shape; many layers add an earlier one."""
        self.rng = rng
        self.joins = joins
        self.is_float = dtype is DType.FLOAT32
        self.builder = Builder()
        shape = (1, _integer(rng, 4, 14), _integer(rng, 4, 14), 1 if joins else _integer(rng, 1, 4))
        self.values = [self.builder.param("image", replace(self._type(), shape=shape))]

    def _type(self) -> TensorType:
        return REAL if self.is_float else _type(self.rng)

    def module(self, layers: int) -> Module:
        """The network of `layers` layers; its result is the last value."""
        makers = [
            self._conv,
            self._conv,
            self._depthwise,
            self._depthwise,
            self._pool,
            self._unary,
            self._add,
            *([self._add] * 6 if self.joins else []),
        ]
        while len(self.values) <= layers:
            widen = self.joins and len(self.values) == 1
            made = (self._conv if widen else makers[_integer(self.rng, 0, len(makers) - 1)])(self.values[-1])
            if made is not None:
                self.values.append(made)
        return self.builder.build([self.values[-1]], METADATA)

    def _call(self, op: str, args: list[object], attrs: ops.Attrs, type_: TensorType) -> Var | None:
        declared = ops.OPS[op]
        types = [getattr(arg, "type", None) for arg in args]
        try:
            shape = declared.result_shape(attrs, types)
        except ValueError:
            return None
        if min(shape) < 1:
            return None
        return self.builder.call(declared, args, attrs, replace(type_, shape=shape))  # pyright: ignore[reportArgumentType]

    def _window(self) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int], ops.Padding2D]:
        rng = self.rng
        kernel = (_integer(rng, 1, 4), _integer(rng, 1, 4))
        stride = (1, 1) if self.joins or rng.random() < 0.6 else (_integer(rng, 1, 3), _integer(rng, 1, 3))
        dilation = (_integer(rng, 1, 2), _integer(rng, 1, 2)) if rng.random() < 0.3 else (1, 1)
        reach = [(kernel[axis] - 1) * dilation[axis] for axis in (0, 1)]
        sides = [_integer(rng, 0, reach[side // 2]) for side in range(4)]
        if (
            self.joins or rng.random() < 0.6
        ):  # as SAME without a stride: the image keeps its size, so that joins are common
            sides = [reach[0] // 2, reach[0] - reach[0] // 2, reach[1] // 2, reach[1] - reach[1] // 2]
        padding = ops.Padding2D(top=sides[0], bottom=sides[1], left=sides[2], right=sides[3])
        return kernel, stride, dilation, padding

    def _weights(self, shape: tuple[int, ...], axis: int) -> list[object]:
        rng = self.rng
        channels = shape[axis]
        if self.is_float:
            drawn = (rng.normal(0, 0.4, extents).astype(np.float32) for extents in (shape, (channels,)))
            return [self.builder.constant(data) for data in drawn]
        scales = tuple(float(np.float32(scale)) for scale in rng.uniform(0.005, 0.02, channels))
        quantization = per_channel(scales, axis)
        weights = self.builder.constant(rng.integers(-127, 128, shape, np.int8), quantization=quantization)
        bias = self.builder.constant(rng.integers(-3000, 3000, channels, np.int32))
        return [weights, bias]

    def _conv(self, image: Var) -> Var | None:
        kernel, stride, dilation, padding = self._window()
        inputs = image.type.shape[3]
        groups = 2 if inputs % 2 == 0 and self.rng.random() < 0.2 else 1
        outputs = inputs if self.rng.random() < 0.5 else groups * _integer(self.rng, 1, 3)
        if self.joins:
            outputs = max(inputs, 4)
        attrs = ops.ConvAttrs(stride=stride, dilation=dilation, padding=padding)
        constants = self._weights((outputs, *kernel, inputs // groups), 0)
        return self._call("CONV_2D", [image, *constants], attrs, self._type())

    def _depthwise(self, image: Var) -> Var | None:
        kernel, stride, dilation, padding = self._window()
        multiplier = 2 if self.rng.random() < 0.2 and not self.joins else 1
        attrs = ops.DepthwiseConvAttrs(
            multiplier=multiplier, stride=stride, dilation=dilation, padding=padding
        )
        constants = self._weights((1, *kernel, image.type.shape[3] * multiplier), 3)
        return self._call("DEPTHWISE_CONV_2D", [image, *constants], attrs, self._type())

    def _pool(self, image: Var) -> Var | None:
        kernel, stride, _, _ = self._window()
        reach = [(size - 1) // 2 for size in kernel]
        padding = ops.Padding2D(top=reach[0], bottom=reach[0], left=reach[1], right=reach[1])
        op = "MAX_POOL_2D" if self.rng.random() < 0.5 else "AVERAGE_POOL_2D"
        return self._call(
            op, [image], ops.PoolAttrs(window=kernel, stride=stride, padding=padding), image.type
        )

    def _unary(self, image: Var) -> Var | None:
        if not self.is_float:
            return self._call("RELU", [image], ops.Attrs(), image.type)
        op = str(self.rng.choice(["RELU", "RELU6", "LEAKY_RELU"]))
        attrs = ops.LeakyReluAttrs(alpha=0.25) if op == "LEAKY_RELU" else ops.Attrs()
        return self._call(op, [image], attrs, image.type)

    def _add(self, image: Var) -> Var | None:
        others = [value for value in self.values[:-1] if value.type.shape == image.type.shape]
        if not others:
            return None
        other = others[_integer(self.rng, 0, len(others) - 1)]
        args: list[object] = [other, image] if self.rng.random() < 0.5 else [image, other]
        op = str(self.rng.choice(["ADD", "SUB", "MUL"])) if self.is_float else "ADD"
        return self._call(op, args, ops.BinaryAttrs(), self._type())


def random_chain(seed: int, layers: int, *, joins: bool = False, dtype: DType = DType.INT8) -> Module:
    """The network of `seed`, of `layers` layers; see `Chain`."""
    return Chain(np.random.default_rng(seed), joins=joins, dtype=dtype).module(layers)


def segments(function: Function, steps: Sequence[PrimFunc | None]) -> list[tuple[int, int]]:
    """Every [start, stop) that may become a block, in order."""
    runs = BlockRuns(function, steps)
    return sorted((start, stop) for stop in range(1, len(runs) + 1) for start in runs.starts(stop))


def random_image(module: Module, rng: Generator) -> np.ndarray:
    """An input of a random network: any bytes, or normal numbers."""
    image = module.main.params[0].type
    if image.dtype is DType.FLOAT32:
        return rng.normal(size=image.shape).astype(np.float32)
    return rng.integers(-128, 128, image.shape, np.int8)
