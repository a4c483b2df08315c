"""A float network under construction: seeded weights, normalised over a few calibration inputs.

Each weighted layer is scaled and shifted as a folded batch normalisation does it: every channel varies from
input to input and none is dead. The calibration values are kept: quantisation reads their ranges.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.opgen.dice import Dice

Shape = tuple[int, ...]
SAMPLES = 8
"""Calibration inputs of a network."""
_SMALLEST_DEVIATION = 1e-3


@dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """An operator by its TFLite name; `weights` and `bias` are real numbers in TFLite's layout."""

    name: str
    inputs: tuple[int, ...]
    result: int
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    constants: tuple[np.ndarray, ...] = ()
    weights: np.ndarray | None = None
    bias: np.ndarray | None = None


class Network:
    """Layers in order and, for each value, what the calibration inputs give; a value is its number."""

    def __init__(self, *stream: int) -> None:
        """`stream`: the numbers that seed the weights."""
        self._dice = Dice(*stream)
        self.layers: list[Layer] = []
        self.values: list[np.ndarray] = []
        self.inputs: list[int] = []
        self.outputs: list[int] = []

    def shape(self, value: int) -> Shape:
        """Shape of one sample of `value`, with a batch of 1."""
        return (1, *self.values[value].shape[1:])

    def input(self, *shape: int, low: float = -1.0, high: float = 1.0) -> int:
        """A graph input of one sample's `shape`; calibration inputs are waves with some noise."""
        self.inputs.append(self._value(patterns(self._dice, SAMPLES, shape, low, high)))
        return self.inputs[-1]

    def conv(
        self, value: int, channels: int, window: Sequence[int] = (1, 1), dead: int = 0, **options: Any
    ) -> int:
        """CONV_2D with a bias; `options` are its own: stride (height, width), padding, activation.

        `dead`: so many channels have a bias that no sum reaches, so that a ReLU leaves nothing of them.
        """
        weights = self._drawn_weights((channels, *window, self.shape(value)[3]))
        return self._weighted("CONV_2D", value, weights, 0, dead=dead, **_windowed(options))

    def depthwise(
        self, value: int, window: Sequence[int] = (3, 3), multiplier: int = 1, **options: Any
    ) -> int:
        """DEPTHWISE_CONV_2D with a bias."""
        weights = self._drawn_weights((1, *window, self.shape(value)[3] * multiplier))
        return self._weighted(
            "DEPTHWISE_CONV_2D", value, weights, 3, depth_multiplier=multiplier, **_windowed(options)
        )

    def dense(
        self, value: int, units: int, activation: str = "none", *, gain: float = 1.0, dead: int = 0
    ) -> int:
        """FULLY_CONNECTED with a bias, over all elements of a sample; `dead` units never open."""
        weights = self._drawn_weights((units, math.prod(self.shape(value)[1:])))
        return self._weighted(
            "FULLY_CONNECTED", value, weights, 0, gain=gain, dead=dead, activation=activation
        )

    def add(self, left: int, right: int, activation: str = "none") -> int:
        """ADD of two values."""
        return self._computed("ADD", (left, right), activation=activation)

    def average(self, value: int) -> int:
        """AVERAGE_POOL_2D over the whole image."""
        return self.pool("AVERAGE_POOL_2D", value, self.shape(value)[1:3])

    def pool(self, name: str, value: int, window: Sequence[int], **options: Any) -> int:
        """A pooling by its TFLite name."""
        sizes = {"filter_height": window[0], "filter_width": window[1]}
        return self._computed(name, (value,), **sizes, **_windowed({"padding": "VALID"} | options))

    def reshape(self, value: int, *shape: int) -> int:
        """RESHAPE of a sample."""
        return self._computed("RESHAPE", (value,), (np.array((-1, *shape), np.int32),))

    def pad(self, value: int, top: int, bottom: int) -> int:
        """PAD of both image axes."""
        sides = np.array([[0, 0], [top, bottom], [top, bottom], [0, 0]], np.int32)
        return self._computed("PAD", (value,), (sides,))

    def softmax(self, value: int) -> int:
        """SOFTMAX along the last axis."""
        return self._computed("SOFTMAX", (value,), beta=1.0)

    def logistic(self, value: int) -> int:
        """LOGISTIC of each element."""
        return self._computed("LOGISTIC", (value,))

    def output(self, *values: int) -> "Network":
        """Set the graph outputs; returns the network."""
        self.outputs = list(values)
        return self

    def _drawn_weights(self, shape: Shape) -> np.ndarray:
        """Most near zero, few large, as training leaves weights: they compress."""
        bell = sum(self._reals(shape) for _ in range(4)) / 4
        return bell * np.abs(bell)

    def _reals(self, shape: Shape) -> np.ndarray:
        return self._dice.reals(shape).astype(np.float64)

    def _value(self, data: np.ndarray) -> int:
        self.values.append(data)
        return len(self.values) - 1

    def _computed(
        self, name: str, inputs: tuple[int, ...], constants: tuple[np.ndarray, ...] = (), **options: Any
    ) -> int:
        data = _FUNCTIONS[name]([self.values[value] for value in inputs], constants, options)
        result = self._value(_activated(data, options.get("activation", "none")))
        self.layers.append(
            Layer(name=name, inputs=inputs, result=result, options=options, constants=constants)
        )
        return result

    def _weighted(
        self,
        name: str,
        value: int,
        weights: np.ndarray,
        axis: int,
        *,
        gain: float = 1.0,
        dead: int = 0,
        **options: Any,
    ) -> int:
        """A layer whose sums have, channel by channel, a drawn mean and deviation over the calibration."""
        sums = WEIGHTED[name](self.values[value], weights, options)
        channels = sums.shape[-1]
        flat = sums.reshape(-1, channels)
        deviation = np.maximum(flat.std(axis=0), _SMALLEST_DEVIATION)
        wide = gain * np.exp2(self._reals((channels,)) / 8) / deviation
        bias = self._reals((channels,)) / 8 - flat.mean(axis=0) * wide
        along = [1] * weights.ndim
        along[axis] = channels
        weights = weights * wide.reshape(along)
        others = tuple(at for at in range(weights.ndim) if at != axis)
        reach = np.abs(weights).sum(axis=others) * np.abs(self.values[value]).max()
        bias[:dead] = -1.1 * reach[:dead]
        result = self._value(_activated(sums * wide + bias, options["activation"]))
        self.layers.append(
            Layer(name=name, inputs=(value,), result=result, options=options, weights=weights, bias=bias)
        )
        return result


def patterns(dice: Dice, count: int, shape: Shape, low: float, high: float) -> np.ndarray:
    """`count` samples within [low, high]: a wave along all axes, one fifth noise. Spectra of real inputs fall
    likewise; white noise alone would leave nothing after an average."""
    samples: list[np.ndarray] = []
    for _ in range(count):
        angle = np.full(shape, dice.integer(0, 628) / 100)
        for axis, extent in enumerate(shape):
            turns = dice.integer(-300, 300) / 100
            along = np.arange(extent) * (2 * math.pi * turns / max(extent, 2))
            angle = angle + along.reshape([-1 if at == axis else 1 for at in range(len(shape))])
        noise = dice.reals(shape).astype(np.float64) / 4
        samples.append(dice.integer(30, 80) / 100 * np.cos(angle) + 0.2 * noise)
    return low + (high - low) * (np.stack(samples) + 1) / 2


def _windowed(options: Mapping[str, Any]) -> dict[str, Any]:
    chosen = {"stride": (1, 1), "padding": "SAME", "activation": "none"} | dict(options)
    height, width = chosen.pop("stride")
    return chosen | {"stride_h": height, "stride_w": width}


def _windows(data: np.ndarray, window: Sequence[int], options: Mapping[str, Any], fill: float) -> np.ndarray:
    """All windows of N, H, W, C: of shape N, H', W', C, height, width."""
    strides = (options["stride_h"], options["stride_w"])
    sides = [(0, 0), (0, 0)]
    if options["padding"] == "SAME":
        for axis in range(2):
            extent = data.shape[1 + axis]
            missing = (math.ceil(extent / strides[axis]) - 1) * strides[axis] + window[axis] - extent
            sides[axis] = (max(missing, 0) // 2, max(missing, 0) - max(missing, 0) // 2)
    padded = np.pad(data, [(0, 0), *sides, (0, 0)], constant_values=fill)
    views = np.lib.stride_tricks.sliding_window_view(padded, tuple(window), axis=(1, 2))
    return views[:, :: strides[0], :: strides[1]]


def _conv(data: np.ndarray, weights: np.ndarray, options: Mapping[str, Any]) -> np.ndarray:
    views = _windows(data, weights.shape[1:3], options, 0.0)
    return np.tensordot(views, weights, axes=([3, 4, 5], [3, 1, 2]))


def _depthwise(data: np.ndarray, weights: np.ndarray, options: Mapping[str, Any]) -> np.ndarray:
    views = _windows(np.repeat(data, options["depth_multiplier"], 3), weights.shape[1:3], options, 0.0)
    return np.einsum("nyxchw,hwc->nyxc", views, weights[0])


def _dense(data: np.ndarray, weights: np.ndarray, options: Mapping[str, Any]) -> np.ndarray:
    return data.reshape(len(data), -1) @ weights.T


WEIGHTED: Mapping[str, Any] = {"CONV_2D": _conv, "DEPTHWISE_CONV_2D": _depthwise, "FULLY_CONNECTED": _dense}


def _average_pool(inputs: Sequence[np.ndarray], _: object, options: Mapping[str, Any]) -> np.ndarray:
    window = (options["filter_height"], options["filter_width"])
    return np.nanmean(_windows(inputs[0], window, options, math.nan), axis=(4, 5))


def _max_pool(inputs: Sequence[np.ndarray], _: object, options: Mapping[str, Any]) -> np.ndarray:
    window = (options["filter_height"], options["filter_width"])
    return _windows(inputs[0], window, options, -math.inf).max(axis=(4, 5))


def _softmax(inputs: Sequence[np.ndarray], *_: object) -> np.ndarray:
    powers = np.exp(inputs[0] - inputs[0].max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _add(inputs: Sequence[np.ndarray], *_: object) -> np.ndarray:
    return inputs[0] + inputs[1]


def _logistic(inputs: Sequence[np.ndarray], *_: object) -> np.ndarray:
    return 1 / (1 + np.exp(-inputs[0]))


def _pad(inputs: Sequence[np.ndarray], constants: Sequence[np.ndarray], _: object) -> np.ndarray:
    return np.pad(inputs[0], constants[0])


def _reshape(inputs: Sequence[np.ndarray], constants: Sequence[np.ndarray], _: object) -> np.ndarray:
    return inputs[0].reshape(len(inputs[0]), *constants[0][1:])


_FUNCTIONS: Mapping[str, Any] = {
    "ADD": _add,
    "AVERAGE_POOL_2D": _average_pool,
    "LOGISTIC": _logistic,
    "MAX_POOL_2D": _max_pool,
    "PAD": _pad,
    "RESHAPE": _reshape,
    "SOFTMAX": _softmax,
}


def _activated(data: np.ndarray, activation: str) -> np.ndarray:
    if activation == "none":
        return data
    return np.clip(data, 0.0, 6.0 if activation == "relu6" else None)
