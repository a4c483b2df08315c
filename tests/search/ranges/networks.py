"""Networks with open sizes, written as `.tflite` files at one size each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir.formulas import Symbol

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor while a network is drawn; extents in `open_axes` are -1 in its signature."""

    index: int
    shape: Shape
    open_axes: frozenset[int]


class Net:
    """Draws one network. Quantised values have one scale, so that every operator accepts every other."""

    def __init__(self, seed: int, *, quantised: bool = True, largest: int = 127) -> None:
        """`largest`: of int8 weights; small ones can be stored compressed."""
        self._largest = largest
        self._model = ModelBuilder()
        self._random = np.random.default_rng(seed)
        self.quantised = quantised
        self._count = 0

    def tensor(self, shape: Shape, open_axes: frozenset[int], name: str = "") -> Value:
        self._count += 1
        signature = [-1 if axis in open_axes else extent for axis, extent in enumerate(shape)]
        index = self._model.tensor(
            name or f"v{self._count}",
            shape,
            "int8" if self.quantised else "float32",
            scale=0.05 if self.quantised else None,
            zero_point=-3 if self.quantised else 0,
            shape_signature=signature,
        )
        return Value(index, shape, open_axes)

    def _weights(self, shape: Shape, axis: int, outputs: int, taps: int) -> list[int]:
        self._count += 1
        name, scale = f"w{self._count}", 0.04 / np.sqrt(taps)
        if not self.quantised:
            data = self._random.normal(0, 1 / np.sqrt(taps), shape).astype(np.float32)
            bias = self._random.normal(0, 0.1, outputs).astype(np.float32)
            return [
                self._model.tensor(name, shape, "float32", data=data),
                self._model.tensor(f"{name}_bias", (outputs,), "float32", data=bias),
            ]
        data = self._random.integers(-self._largest, self._largest + 1, shape).astype(np.int8)
        bias = self._random.integers(-300, 300, outputs).astype(np.int32)
        scales = [float(np.float32(scale * (1 + i % 3 / 4))) for i in range(outputs)]
        biases = [float(np.float32(np.float32(0.05) * np.float32(each))) for each in scales]
        zeros = [0] * outputs
        return [
            self._model.tensor(name, shape, "int8", scale=scales, zero_point=zeros, axis=axis, data=data),
            self._model.tensor(
                f"{name}_bias", (outputs,), "int32", scale=biases, zero_point=zeros, axis=0, data=bias
            ),
        ]

    def _windowed(self, x: Value, window: Shape, stride: Shape, padding: str, channels: int) -> Value:
        shape = list(x.shape)
        for axis in (0, 1):
            size = x.shape[1 + axis] if padding == "SAME" else x.shape[1 + axis] - window[axis] + 1
            shape[1 + axis] = -(-size // stride[axis])
        shape[3] = channels
        return self.tensor(tuple(shape), x.open_axes)

    def conv(
        self,
        x: Value,
        channels: int,
        window: Shape,
        stride: Shape = (1, 1),
        padding: str = "SAME",
        activation: str = "relu",
    ) -> Value:
        """CONV_2D."""
        taps = window[0] * window[1] * x.shape[3]
        weights = self._weights((channels, *window, x.shape[3]), 0, channels, taps)
        result = self._windowed(x, window, stride, padding, channels)
        self._model.op(
            "CONV_2D",
            [x.index, *weights],
            [result.index],
            padding=padding,
            stride_h=stride[0],
            stride_w=stride[1],
            activation=activation,
        )
        return result

    def depthwise(self, x: Value, window: Shape, stride: Shape = (1, 1), padding: str = "SAME") -> Value:
        """DEPTHWISE_CONV_2D."""
        channels = x.shape[3]
        weights = self._weights((1, *window, channels), 3, channels, window[0] * window[1])
        result = self._windowed(x, window, stride, padding, channels)
        self._model.op(
            "DEPTHWISE_CONV_2D",
            [x.index, *weights],
            [result.index],
            padding=padding,
            stride_h=stride[0],
            stride_w=stride[1],
            depth_multiplier=1,
            activation="relu",
        )
        return result

    def max_pool(self, x: Value, window: Shape, stride: Shape) -> Value:
        """MAX_POOL_2D, VALID."""
        result = self._windowed(x, window, stride, "VALID", x.shape[3])
        self._model.op(
            "MAX_POOL_2D",
            [x.index],
            [result.index],
            padding="VALID",
            filter_height=window[0],
            filter_width=window[1],
            stride_h=stride[0],
            stride_w=stride[1],
        )
        return result

    def concat(self, values: Sequence[Value], axis: int) -> Value:
        """CONCATENATION."""
        shape = list(values[0].shape)
        shape[axis] = sum(value.shape[axis] for value in values)
        result = self.tensor(tuple(shape), values[0].open_axes)
        self._model.op("CONCATENATION", [value.index for value in values], [result.index], axis=axis)
        return result

    def add(self, x: Value, y: Value) -> Value:
        """ADD."""
        result = self.tensor(x.shape, x.open_axes)
        self._model.op("ADD", [x.index, y.index], [result.index])
        return result

    def leaky(self, x: Value) -> Value:
        """LEAKY_RELU."""
        result = self.tensor(x.shape, x.open_axes)
        self._model.op("LEAKY_RELU", [x.index], [result.index], alpha=0.125)
        return result

    def mean(self, x: Value) -> Value:
        """MEAN over rows and columns."""
        axes = self._model.tensor(f"axes{self._count}", (2,), "int32", data=[1, 2])
        result = self.tensor((x.shape[0], x.shape[3]), frozenset())
        self._model.op("MEAN", [x.index, axes], [result.index], keep_dims=False)
        return result

    def dense(self, x: Value, outputs: int) -> Value:
        """FULLY_CONNECTED, per tensor."""
        inputs = x.shape[-1]
        result = self.tensor((*x.shape[:-1], outputs), x.open_axes)
        self._count += 1
        if self.quantised:
            scale = float(np.float32(0.04 / np.sqrt(inputs)))
            data = self._random.integers(-self._largest, self._largest + 1, (outputs, inputs)).astype(np.int8)
            weights = self._model.tensor(f"w{self._count}", (outputs, inputs), "int8", scale=scale, data=data)
        else:
            data = self._random.normal(0, 1 / np.sqrt(inputs), (outputs, inputs)).astype(np.float32)
            weights = self._model.tensor(f"w{self._count}", (outputs, inputs), "float32", data=data)
        self._model.op("FULLY_CONNECTED", [x.index, weights, None], [result.index])
        return result

    def finish(self, inputs: Sequence[Value], outputs: Sequence[Value]) -> bytes:
        """The file."""
        self._model.inputs(*(value.index for value in inputs))
        self._model.outputs(*(value.index for value in outputs))
        return self._model.build()


@dataclass(frozen=True, slots=True)
class Network:
    """A file, its symbols, and which axes of which inputs they are."""

    name: str
    data: bytes
    symbols: tuple[Symbol, ...]
    axes: Mapping[tuple[int, int], str]

    @property
    def dims(self) -> tuple[str, ...]:
        """The words of `--dim` that say it."""
        of = {symbol.name: symbol for symbol in self.symbols}
        return tuple(
            f"x{which}.{axis}={of[name].low}..{of[name].high}" for (which, axis), name in self.axes.items()
        )


def narrow(network: Network) -> tuple[str, ...]:
    """The words of `--dim`, of a range of some sizes only."""
    most = 30 if len(network.symbols) == 1 else 6
    found: list[str] = []
    for dim, symbol in zip(network.dims, network.symbols, strict=True):
        found.append(f"{dim.split('=')[0]}={symbol.low}..{min(symbol.high, symbol.low + most)}")
    return tuple(found)


def audio() -> Network:
    """A 1-D convolutional net: depthwise layers, strides, a mean over all frames."""
    net = Net(1)
    image = x = net.tensor((1, 50, 1, 8), frozenset({1}), "x0")
    x = net.conv(x, 16, (5, 1), (2, 1))
    x = net.depthwise(x, (3, 1))
    x = net.conv(x, 24, (1, 1))
    x = net.depthwise(x, (5, 1), (4, 1))
    x = net.conv(x, 16, (1, 1))
    x = net.mean(x)
    return Network(
        "audio", net.finish([image], [net.dense(x, 6)]), (Symbol(name="T", low=16, high=400),), {(0, 1): "T"}
    )


def detector() -> Network:
    """A fully convolutional 2-D detector, rows and columns two symbols."""
    net = Net(2)
    image = x = net.tensor((1, 16, 16, 3), frozenset({1, 2}), "x0")
    x = net.conv(x, 8, (3, 3), (2, 2))
    x = net.depthwise(x, (3, 3))
    x = net.conv(x, 12, (1, 1))
    x = net.max_pool(x, (2, 2), (2, 2))
    boxes = net.conv(x, 4, (3, 3), activation="none")
    symbols = (Symbol(name="H", low=8, high=24), Symbol(name="W", low=8, high=24))
    return Network("detector", net.finish([image], [boxes]), symbols, {(0, 1): "H", (0, 2): "W"})


def residual() -> Network:
    """Two branches of open length, joined, added to a third."""
    net = Net(3)
    image = x = net.tensor((1, 40, 1, 8), frozenset({1}), "x0")
    left = net.conv(x, 8, (3, 1), (2, 1))
    right = net.depthwise(net.conv(x, 8, (1, 1)), (4, 1), (2, 1))
    both = net.concat([left, right], 3)
    x = net.add(both, net.conv(x, 16, (2, 1), (2, 1)))
    return Network(
        "residual",
        net.finish([image], [net.conv(x, 4, (1, 1))]),
        (Symbol(name="T", low=10, high=200),),
        {(0, 1): "T"},
    )


def overlapping() -> Network:
    """Layers in place and results over their arguments."""
    net = Net(4)
    image = x = net.tensor((1, 32, 4, 4), frozenset({1}), "x0")
    x = net.conv(x, 12, (1, 1))
    x = net.leaky(x)
    x = net.depthwise(x, (3, 3))
    x = net.leaky(net.conv(x, 12, (3, 3), (2, 1), "VALID"))
    y = net.depthwise(x, (3, 3))
    x = net.concat([net.add(x, y), y], 1)
    return Network(
        "overlapping",
        net.finish([image], [net.max_pool(x, (2, 2), (2, 2))]),
        (Symbol(name="T", low=9, high=120),),
        {(0, 1): "T"},
    )


def rows() -> Network:
    """A stack that a block runs row by row along its open length."""
    net = Net(5)
    image = x = net.tensor((1, 64, 8, 2), frozenset({1}), "x0")
    x = net.conv(x, 24, (3, 3))
    x = net.depthwise(x, (3, 3))
    x = net.conv(x, 4, (1, 1), (2, 2))
    return Network(
        "rows", net.finish([image], [net.mean(x)]), (Symbol(name="T", low=8, high=160),), {(0, 1): "T"}
    )


def floats() -> Network:
    """A float32 net."""
    net = Net(6, quantised=False)
    image = x = net.tensor((1, 30, 1, 6), frozenset({1}), "x0")
    x = net.conv(x, 10, (4, 1), (2, 1))
    x = net.depthwise(x, (3, 1))
    x = net.conv(x, 8, (1, 1))
    return Network(
        "floats",
        net.finish([image], [net.dense(net.mean(x), 5)]),
        (Symbol(name="T", low=5, high=90),),
        {(0, 1): "T"},
    )


NETWORKS: tuple[Callable[[], Network], ...] = (audio, detector, residual, overlapping, rows, floats)
