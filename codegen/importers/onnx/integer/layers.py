"""Integer steps of layers, of QDQ groups and of QLinear nodes alike."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from codegen.importers.onnx.held_types import looked_up
from codegen.importers.onnx.integer.halves import note_average, note_sixteen_bits
from codegen.importers.onnx.integer.scales import (
    BYTES,
    IntegerTarget,
    LeftInFloat,
    computed,
    every_real,
    rounded,
)
from codegen.importers.onnx.layouts import CHANNELS_LAST, Computed, Known, Stored, StoredAs, Value
from codegen.importers.onnx.matrices import in_order_of_memory
from codegen.importers.onnx.node_site import Site
from codegen.importers.onnx.spatial import conv_layer, mean_pool
from codegen.importers.reporting import Refused
from codegen.ir import Arg, DType, Quantization, TensorType
from codegen.ir.ops import (
    ONNX,
    OPS,
    Activation,
    BatchMatMulAttrs,
    BinaryAttrs,
    FullyConnectedAttrs,
    OnnxRounding,
    Padding2D,
    PoolAttrs,
)

Translators = Mapping[str, Callable[[Site], Value | tuple[Value, ...]]]

_SYMMETRIC = "quantise them with weight_type=QInt8, whose zero point is 0, for integer kernels"
_MOST_ONES = 4096
"""Bytes of weights of 1 that an average may take."""


def _factors(image: Stored, weights: Stored, target: IntegerTarget, channels: int) -> tuple[float, ...]:
    """onnxruntime's scale of a sum: (image * weights) / result, in float32 and in that order."""
    with np.errstate(all="ignore"):
        scales = np.float32(image.scale) * weights.scale.astype(np.float32) / np.float32(target.scale)
    spread = np.broadcast_to(scales.astype(np.float32), (channels,))
    if not np.all(np.isfinite(spread) & (spread > 0)):
        raise LeftInFloat("the quotient of its scales leaves float32")
    return tuple(float(scale) for scale in spread)


def alike(image: Stored, target: IntegerTarget) -> Computed:
    """The image, which has to be held in the result's type; raises LeftInFloat for another."""
    value = computed(image)
    if value.var.type.dtype is not target.dtype:
        text = (
            f"it takes {value.var.type.dtype.value} to {target.dtype.value}, supported are integers as wide"
        )
        raise LeftInFloat(text)
    return value


def _weights(weights: Stored, axis: int, target: IntegerTarget) -> np.ndarray:
    """Weights less their zero point, which int8 has to hold, or int16 where images are; scales may be along
    `axis` alone."""
    assert isinstance(weights.value, Known), "asked for constants"
    if (weights.scale.ndim or weights.zero.ndim) and weights.axis != axis:
        raise LeftInFloat(f"the weights are quantised along axis {weights.axis}, supported is {axis}")
    shape = [1] * weights.value.data.ndim
    if weights.zero.ndim:
        shape[axis] = weights.zero.size
    centred = weights.value.data - weights.zero.reshape(shape)
    for dtype in (DType.INT8, DType.INT16):
        low, high = dtype.limits
        if (
            dtype.size_bytes <= target.dtype.size_bytes
            and low <= centred.min(initial=0) <= centred.max(initial=0) <= high
        ):
            return centred.astype(dtype.numpy)
    bits = 8 * target.dtype.size_bytes
    raise LeftInFloat(
        f"the weights less their zero point need more than {bits} bits (asymmetric weights); {_SYMMETRIC}"
    )


def _int32_bias(bias: Stored | None, image: Stored, weights: Stored, channels: int) -> np.ndarray | None:
    """The bias, which is added to the sums as it is."""
    if bias is None:
        return None
    if not isinstance(bias.value, Known) or bias.value.data.size not in (1, channels):
        raise LeftInFloat("the bias is not one number a channel")
    product = np.float32(image.scale) * weights.scale.astype(np.float32)
    if not np.allclose(bias.scale, product, rtol=1e-6, atol=0) or np.any(bias.zero):
        raise LeftInFloat("the bias is not quantised as the products are")
    data = bias.value.data
    if data.size and (data.min() < -(2**31) or data.max() >= 2**31):
        raise LeftInFloat("the bias needs more than 32 bits")
    return np.broadcast_to(data.reshape(-1), (channels,)).astype(np.int32)


def _need_room(image: Stored, rows: np.ndarray, bias: np.ndarray | None, target: IntegerTarget) -> None:
    """Raise LeftInFloat where a sum of `rows` [O, K] could leave 32 bits, or, of int16, the 53 that the
    reference has."""
    bits = 31 if target.dtype is DType.INT8 else 53
    reach = max(abs(limit - int(image.zero)) for limit in target.dtype.limits)
    most = np.abs(rows.astype(np.float64)).sum(axis=1) * reach
    if bias is not None:
        most = most + np.abs(bias.astype(np.float64))
    if most.max(initial=0) >= 2.0**bits:
        raise LeftInFloat(f"its sums can need more than {bits + 1} bits")


def conv(
    site: Site,
    image: Stored,
    weights: Stored,
    bias: Stored | None,
    target: IntegerTarget,
    activation: Activation = Activation.NONE,
) -> Value:
    """Conv of integers."""
    value, steps = alike(image, target), site.steps
    data = _weights(weights, 0, target)
    layer = conv_layer(site, value, data)
    biases = _int32_bias(bias, image, weights, data.shape[0])
    _need_room(image, data.reshape(data.shape[0], -1), biases, target)
    scales = _factors(image, weights, target, data.shape[0])
    args: list[Arg | None] = [
        steps.stored(value, CHANNELS_LAST),
        steps.constant(layer.weights, is_int4=weights.is_int4 and layer.op == "CONV_2D"),
        None if biases is None else steps.constant(biases),
    ]
    attrs = replace(layer.attrs, activation=activation, rounding=OnnxRounding(scales=scales))
    note_sixteen_bits(steps, target)
    return steps.step(
        layer.op, args, attrs, axes=CHANNELS_LAST, stored=StoredAs(quantization=target.quantization)
    )


def gemm(
    site: Site,
    image: Stored,
    weights: Stored,
    bias: Stored | None,
    target: IntegerTarget,
    activation: Activation = Activation.NONE,
) -> Value:
    """Gemm, or MatMul by constant weights, of integers."""
    value, steps = alike(image, target), site.steps
    if len(weights.value.shape) != 2 or not value.shape:
        raise LeftInFloat(f"the weights have shape {list(weights.value.shape)}, supported are matrices")
    turned = False
    if site.node.op in ("Gemm", "QGemm"):
        turned = bool(site.integer("transB", 0))
        if site.integer("transA", 0) or site.real("alpha", 1.0) != 1.0 or site.real("beta", 1.0) != 1.0:
            raise LeftInFloat("transA, alpha and beta other than 0, 1 and 1 are not supported")
    data = _weights(weights, 0 if turned else 1, target)
    rows = data if turned else data.T
    if value.shape[-1] != rows.shape[1]:
        raise Refused("E303", f"multiplies {list(value.shape)} by {list(data.shape)}")
    biases = _int32_bias(bias, image, weights, rows.shape[0])
    _need_room(image, rows, biases, target)
    scales = _factors(image, weights, target, rows.shape[0])
    attrs = FullyConnectedAttrs(
        keep_num_dims=True, activation=activation, rounding=OnnxRounding(scales=scales)
    )
    note_sixteen_bits(steps, target)
    matrix = steps.constant(rows, is_int4=weights.is_int4)
    args = [steps.dense(value), matrix, None if biases is None else steps.constant(biases)]
    return steps.step("FULLY_CONNECTED", args, attrs, stored=StoredAs(quantization=target.quantization))


def is_layer(image: Stored, weights: Stored) -> bool:
    """True for a product by one matrix of constants."""
    is_matrix = isinstance(weights.value, Known) and len(weights.value.shape) == 2
    return is_matrix and isinstance(image.value, Computed)


def product(site: Site, first: Stored, second: Stored, target: IntegerTarget) -> Value:
    """MatMul of integers that are computed both; one of them may be a constant of one scale."""
    both = [_one_number(operand, target.dtype) for operand in (first, second)]
    for operand, (value, _) in zip((first, second), both, strict=True):
        if len(value.shape) < 2:
            raise LeftInFloat(f"a factor has shape {list(value.shape)}, supported are matrices")
        if isinstance(value, Computed):
            alike(operand, target)
    if target.dtype is not DType.INT8:
        raise LeftInFloat("a product of two matrices has an integer form of 8 bits")
    with np.errstate(all="ignore"):
        scale = float(np.float32(first.scale) * np.float32(second.scale) / np.float32(target.scale))
    if not (np.isfinite(scale) and scale > 0):
        raise LeftInFloat("the quotient of its scales leaves float32")
    steps = site.steps
    (lhs, adj_x), (rhs, adj_y) = (in_order_of_memory(steps, value) for value, _ in both)
    depth = both[0][0].shape[-1]
    if depth * 255**2 >= 1 << 31:
        raise LeftInFloat("its sums can need more than 32 bits")
    attrs = BatchMatMulAttrs(adj_x=adj_x, adj_y=adj_y, rounding=OnnxRounding(scales=(scale,)))
    args = [steps.meaning(lhs, both[0][1]), steps.meaning(rhs, both[1][1])]
    return steps.step("BATCH_MATMUL", args, attrs, stored=StoredAs(quantization=target.quantization))


def pair(
    site: Site,
    op: str,
    operands: tuple[Stored, Stored],
    target: IntegerTarget,
    activation: Activation = Activation.NONE,
) -> Value:
    """Add, Sub or Mul of integers; one of them may be a constant."""
    for operand in operands:
        if isinstance(operand.value, Computed):
            alike(operand, target)
    both = [_one_number(operand, target.dtype) for operand in operands]
    computed_at = [place for place, (value, _) in enumerate(both) if isinstance(value, Computed)]
    sizes = [np.prod(value.shape) for value, _ in both if isinstance(value, Known)]
    if target.dtype is DType.INT8 and len(computed_at) == 1 and sizes == [1]:
        return _beside_a_number(site, op, both, computed_at[0], target, activation)
    args, axes = site.together([value for value, _ in both])
    typed = [site.steps.meaning(arg, quantization) for arg, (_, quantization) in zip(args, both, strict=True)]
    return site.steps.step(
        op,
        typed,
        BinaryAttrs(activation=activation, rounding=ONNX),
        axes=axes,
        stored=StoredAs(quantization=target.quantization),
    )


def _beside_a_number(
    site: Site,
    op: str,
    both: Sequence[tuple[Value, Quantization]],
    place: int,
    target: IntegerTarget,
    activation: Activation,
) -> Value:
    """A value beside one number: a table of the 256 results."""
    value, number = both[place][0], both[1 - place][0]
    assert isinstance(value, Computed) and isinstance(number, Known), "asked before"
    data = [BYTES, BYTES]
    data[1 - place] = number.data.reshape(1)
    types = tuple(
        TensorType(shape=numbers.shape, dtype=DType.INT8, quantization=meaning)
        for numbers, (_, meaning) in zip(data, both, strict=True)
    )
    result = TensorType(shape=BYTES.shape, dtype=DType.INT8, quantization=target.quantization)
    attrs = BinaryAttrs(activation=activation, rounding=ONNX)
    made = looked_up(site.steps, value, OPS[op].evaluate(attrs, data, types, result), target.quantization)
    rank = max(len(value.shape), len(number.shape))
    return site.steps.reshape(made, (1,) * (rank - len(value.shape)) + made.shape)


def _one_number(operand: Stored, dtype: DType) -> tuple[Value, Quantization]:
    """The value in a type, and what it means."""
    zero, value = int(operand.zero) if not operand.zero.ndim else 0, operand.value
    if operand.scale.ndim or operand.zero.ndim:
        raise LeftInFloat("a constant is quantised per channel")
    if isinstance(value, Known):
        low, high = dtype.limits
        less = high + 1 if zero > high or value.data.max(initial=0) > high else 0
        zero, data = zero - less, value.data - less
        if min(data.min(initial=0), zero) < low or max(data.max(initial=0), zero) > high:
            raise LeftInFloat(f"a constant needs more than {8 * dtype.size_bytes} bits")
        value = Known(data=data.astype(dtype.numpy))
    return value, Quantization(scales=(float(operand.scale),), zero_points=(zero,))


def mean(site: Site, image: Stored, target: IntegerTarget, activation: Activation = Activation.NONE) -> Value:
    """An average of integers: a sum whose scale has the count in it."""
    value, steps = alike(image, target), site.steps
    if len(value.shape) != 4:
        raise LeftInFloat(f"it works on {list(value.shape)}, supported are images of 4 dimensions")
    channels, extents = value.shape[1], (value.shape[2], value.shape[3])
    whole = site.node.op.endswith("GlobalAveragePool")
    attrs = PoolAttrs(window=extents) if whole else mean_pool(site, value)
    count = attrs.window[0] * attrs.window[1]
    reads_columns = value.shape[0] == 1 and attrs.window == extents and attrs.padding == Padding2D()
    ones = count if reads_columns else count * channels
    if ones > _MOST_ONES and not reads_columns:
        raise LeftInFloat(f"its average takes {ones} weights of 1, at most {_MOST_ONES} are made")
    with np.errstate(all="ignore"):
        scale = float(np.float32(image.scale) / (np.float32(count) * np.float32(target.scale)))
    _need_room(image, np.ones((1, count), np.int8), None, target)
    note_average(steps, image, count, target)
    return steps.step(
        "AVERAGE_POOL_2D",
        [steps.stored(value, CHANNELS_LAST)],
        replace(attrs, activation=activation, rounding=OnnxRounding(scales=(scale,))),
        axes=CHANNELS_LAST,
        stored=StoredAs(quantization=target.quantization),
    )


def table(
    site: Site,
    value: Stored,
    target: IntegerTarget,
    function: Callable[[Site], Value | tuple[Value, ...]] | None,
) -> Value:
    """A function of one element: its results for all 256; of 16 bits a Relu alone, or no function."""
    where = alike(value, target)
    if where.var.type.dtype is not DType.INT8:
        if function is not None and site.node.op != "Relu":
            raise LeftInFloat("as a function of 16 bits it would be a table of 128 KiB")
        return _rescaled(site, value, target, Activation.NONE if function is None else Activation.RELU)
    real = every_real(value)
    if function is not None:
        outcome = function(site.reading({0: Known(data=real)}))
        if not isinstance(outcome, Known):
            raise LeftInFloat("it is no function of one element")
        real = outcome.data
    return looked_up(site.steps, where, rounded(real, target), target.quantization)


def _rescaled(site: Site, value: Stored, target: IntegerTarget, activation: Activation) -> Value:
    """Integers by another scale, as a sum with a constant that is 0."""
    nothing = Stored(
        value=Known(data=np.zeros((), np.int64)),
        scale=np.ones((), np.float32),
        zero=np.zeros((), np.int64),
        axis=0,
    )
    return pair(site, "ADD", (value, nothing), target, activation)


def move(site: Site, target: IntegerTarget, function: Callable[[Site], Value | tuple[Value, ...]]) -> Value:
    """A move of integers; parts that are quantised otherwise than the result are brought to it first, as is
    the number of a Pad."""
    integers: dict[int, Value] = {}
    for position in range(len(site.node.inputs) if site.node.op == "Concat" else 1):
        part = site.operand(position)
        if not isinstance(part, Stored):
            raise LeftInFloat("an argument is not quantised")
        integers[position] = brought_to(site, part, target)
    made = function(site.reading(integers, integers=lambda number: float(rounded(np.array(number), target))))
    assert not isinstance(made, tuple), "moves have one result"
    return made


def brought_to(site: Site, part: Stored, target: IntegerTarget) -> Value:
    """Integers as the result has them; those of a constant are rounded here."""
    if isinstance(part.value, Known):
        real = site.steps.real(part)
        assert isinstance(real, Known), "it is a constant"
        return Known(data=rounded(real.data, target))
    value = replace(alike(part, target), less=0)
    if value.var.type.quantization == target.quantization:
        return value
    if target.dtype is not DType.INT8:
        return _rescaled(site, part, target, Activation.NONE)
    return looked_up(site.steps, value, rounded(every_real(part), target), target.quantization)
