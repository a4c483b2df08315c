"""Constants as the Helium kernels want them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let
from codegen.ir.ops.base.fixed_point import wrap_int32
from codegen.kernels.base.result_limits import limits_of
from codegen.kernels.base.weighted import Scaling, WeightedLayer, WeightedOperator
from codegen.kernels.call import ConstantPointer, CStruct
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.mve.pixel_groups import CHUNK

LANES = 16
"""Bytes of a vector."""
PAIR = 2
CLAMPED, NARROW, WIDE, EVEN = range(4)
"""Ways to round sums; `EVEN` rounds as ONNX does, by kernels of its own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Channels:
    """Weights, biases and requantization of the O output channels of a matrix product, K values each."""

    weights: NDArray[np.int8]
    """[O, K], in the order in which the kernel reads the values of an image."""
    bias: NDArray[np.int64]
    """[O]: biases minus the image's zero point times the sum of the channel's weights."""
    multipliers: NDArray[np.int32]
    """[O], or [1] for all channels: fractions of 2^31; bits of float32 scales if `rounds_even`."""
    shifts: NDArray[np.int32]
    """One for each multiplier: powers of two, negative ones shift to the right."""
    rounds_even: bool = False
    """True if sums are rounded as ONNX does: by a float32 scale, halves to even."""

    @property
    def rounded(self) -> tuple[int, int] | None:
        """Channels rounded as ONNX does: (0 by a fixed point, all by float32). None: TFLite's rounding."""
        return (0, len(self.weights)) if self.rounds_even else None

    def every(self) -> Scaling:
        """Multipliers and shifts as two arrays of [O], repeated where one stands for all channels."""
        count = len(self.weights)
        return np.broadcast_to(self.multipliers, count), np.broadcast_to(self.shifts, count)


def scaling_of(numbers: Scaling) -> Scaling:
    """Multipliers and shifts, with a right shift for each multiplier of 0: any shift is right for that."""
    multipliers, shifts = numbers
    return multipliers, np.where(multipliers == 0, -1, shifts).astype(np.int32)


def rounding_of(shifts: NDArray[np.int32], out_zero: int, act_min: int) -> int:
    """The cheapest exact way to requantize: `CG_CLAMPED_MVE`, `CG_NARROW_MVE` or `CG_WIDE_MVE`.

    Halves below zero may round either way where everything below zero is clamped.
    """
    if act_min >= out_zero and bool((shifts <= 0).all()):
        return CLAMPED
    return NARROW if bool((shifts < 0).all()) else WIDE


def rounding_in(let: Let, operator: WeightedOperator) -> int:
    """Requantization of a call, as `rounding_of` numbers it."""
    if operator.rounds_even:
        return EVEN
    low, _ = limits_of(let)
    return rounding_of(scaling_of(operator.scaling(let))[1], let.var.type.zero_point, low)


def channels_of(layer: WeightedLayer) -> Channels:
    """The numbers of a layer's output channels."""
    multipliers, shifts = scaling_of(layer.scaling)
    return Channels(
        weights=layer.weights,
        bias=layer.folded_bias,
        multipliers=multipliers,
        shifts=shifts,
        rounds_even=layer.rounds_even,
    )


def product_groups(count: int, group: int) -> list[tuple[int, ...]]:
    """Channels whose weights lie together, in order.

    In pairs, four channels from c on become (c, c + 2) and (c + 1, c + 3). Two channels left over are a pair.
    Of three left over the middle one comes last, alone.
    """
    whole = count // 4 * 4
    if group == PAIR:
        pairs = [pair for c in range(0, whole, 4) for pair in ((c, c + 2), (c + 1, c + 3))]
        rest = ((), ((0,),), ((0, 1),), ((0, 2), (1,)))[count - whole]
        return [*pairs, *(tuple(whole + member for member in members) for members in rest)]
    return [*((c, c + 1, c + 2, c + 3) for c in range(0, whole, 4)), *((c,) for c in range(whole, count))]


def product_weights(channels: Channels, group: int) -> LinkedConstant:
    """The linked weights of a matrix product, by `product_groups`.

    A group has its biases, its weights channel after channel, and zeros up to a word. The weights of a pair
    alternate every 16, if K is a multiple of 16.
    """
    parts: list[NDArray[np.int8]] = []
    for members in product_groups(len(channels.weights), group):
        parts.append(wrap_int32(channels.bias[list(members)]).astype("<i4").view(np.int8))
        weights = channels.weights[list(members)]
        if group == PAIR and weights.shape[1] % LANES == 0:
            weights = weights.reshape(len(weights), -1, LANES).swapaxes(0, 1)
        parts.append(weights.reshape(-1))
        parts.append(np.zeros(-parts[-1].size % 4, np.int8))
    return LinkedConstant(
        role="weight",
        data=np.concatenate(parts),
        alignment=4,
        layout="by groups of channels: biases (32 bits), then their weights, zeros up to a word",
    )


SCALE_BYTES = 20
"""Bytes for four channels: int32 multipliers, byte shifts."""


def product_scales(channels: Channels) -> LinkedConstant:
    """The linked multipliers and shifts, by four channels and filled with zeros.

    One pair of them for all channels is repeated for `CHUNK` channels.
    """
    multipliers, shifts = channels.multipliers, channels.shifts
    if len(multipliers) == 1:
        multipliers, shifts = np.repeat(multipliers, CHUNK), np.repeat(shifts, CHUNK)
    missing = (0, -len(multipliers) % 4)
    scales = np.pad(multipliers, missing).reshape(-1, 4).astype("<i4").view(np.int8)
    places = np.pad(shifts, missing).reshape(-1, 4).astype(np.int8)
    data = np.concatenate((scales, places), axis=1).reshape(-1)
    layout = "by four channels: multipliers (32 bits), then shifts"
    return LinkedConstant(role="scale", data=data, alignment=4, layout=layout, rounded=channels.rounded)


def product_struct(channels: Channels, out_zero: int, limits: tuple[int, int]) -> CStruct:
    """The `cg_product_mve` of these channels; `limits` of the activation."""
    count, depth = channels.weights.shape
    pair = -(-2 * depth // 4) * 4
    whole = count // 4 * 2 * (8 + pair)
    is_woven = depth % LANES == 0
    places = (whole if is_woven else 0, 0 if is_woven else whole, pair - depth - -(-depth // LANES) * LANES)
    return CStruct(
        suffix="product",
        c_type="cg_product_mve",
        fields=(
            ("weight", ConstantPointer(role="weight")),
            ("scale", ConstantPointer(role="scale")),
            ("channels", count),
            ("depth", depth),
            ("scale_step", 0 if len(channels.multipliers) == 1 else SCALE_BYTES),
            ("out_zero", out_zero),
            ("act_min", limits[0]),
            ("act_max", limits[1]),
            ("rounding", rounding_of(channels.shifts, out_zero, limits[0])),
            ("woven_bytes", places[0]),
            ("apart_bytes", places[1]),
            ("skip", places[2]),
        ),
    )


COLUMNS = 3
"""Columns of the windows that `cg_columns3_s8_mve` takes."""


def column_bytes(rows: int, channels: int) -> int:
    """Bytes of a column of an image under a window of `rows` rows, in whole vectors."""
    return -(-rows * channels // LANES) * LANES


def columns_stream(channels: Channels, rows: int) -> LinkedConstant:
    """Stream for windows of `rows` rows and three columns: multipliers and shifts, then by pairs of channels
    biases and, by 16 bytes of a column (zeros where it has fewer), those of the three columns of each
    channel."""
    count = len(channels.weights)
    cells = channels.weights.reshape(count, rows, COLUMNS, -1).swapaxes(1, 2).reshape(count, COLUMNS, -1)
    cells = np.pad(cells, ((0, 0), (0, 0), (0, -cells.shape[2] % LANES)))
    cells = cells.reshape(count, COLUMNS, -1, LANES).transpose(2, 0, 1, 3)
    biases = wrap_int32(channels.bias).astype("<i4")
    multipliers, shifts = (np.pad(numbers, (0, count % PAIR)) for numbers in channels.every())
    parts = [multipliers.astype("<i4").view(np.int8), shifts.astype(np.int8)]
    parts.append(np.zeros(-parts[-1].size % 4, np.int8))
    for start in range(0, count, PAIR):
        members = slice(start, start + PAIR)
        parts += [biases[members].view(np.int8), cells[:, members].reshape(-1)]
    return LinkedConstant(
        role="stream",
        data=np.concatenate(parts),
        alignment=4,
        layout="multipliers, shifts; by pairs of channels biases (32 bits), by 16 bytes three columns each",
        rounded=channels.rounded,
    )


def fits_pairs(weights: NDArray[np.int8]) -> bool:
    """True if the two products of every pair of taps stay within 16 bits together, whatever the image."""
    odd = weights.shape[1] % 2
    sizes = np.abs(weights[:, odd:].astype(np.int64))
    return bool((128 * (sizes[:, 0::2] + sizes[:, 1::2]) < 1 << 15).all())


_ORDERS = {16: (0, 4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15), 8: (0, 2, 4, 6, 1, 3, 5, 7)}
"""Channels of a block as the lanes of the kernel's sums hold them."""


def depthwise_stream(channels: Channels) -> LinkedConstant:
    """Stream of `cg_depthwise_mve`; channels that lack have weights and multipliers of 0."""
    count = len(channels.weights)
    blocks: list[NDArray[np.int8]] = []
    for start in range(0, count, CHUNK):
        rest = count - start
        blocks.append(_block(channels, start, min(rest, CHUNK), CHUNK if rest > CHUNK // 2 else CHUNK // 2))
    return LinkedConstant(
        role="stream",
        data=np.concatenate(blocks),
        alignment=4,
        layout="by 16 or 8 channels: biases, weights by pairs of taps, multipliers, shifts",
        rounded=channels.rounded,
    )


def _block(channels: Channels, start: int, count: int, size: int) -> NDArray[np.int8]:
    """The stream of channels [start, start + count), filled up to `size`."""
    part = slice(start, start + count)
    missing = (0, size - count)
    multipliers, shifts = channels.every()
    order = np.array(_ORDERS[size])
    bias = np.pad(wrap_int32(channels.bias[part]), missing)[order]
    weights = np.pad(channels.weights[part], (missing, (0, 0))).T
    scales = np.pad(multipliers[part], missing)[order].reshape(-1, 4)
    places = np.pad(shifts[part], missing)[order].reshape(-1, 4)
    numbers = np.concatenate((scales.astype("<i4").view(np.int8), places.astype(np.int8)), axis=1)
    return np.concatenate((bias.astype("<i4").view(np.int8), weights.reshape(-1), numbers.reshape(-1)))


def depthwise_struct(channels: Channels, out_zero: int, limits: tuple[int, int]) -> CStruct:
    """The `cg_depthwise_mve` of these channels; `limits` of the activation."""
    count, taps = channels.weights.shape
    return CStruct(
        suffix="layer",
        c_type="cg_depthwise_mve",
        fields=(
            ("stream", ConstantPointer(role="stream")),
            ("channels", count),
            ("pairs", taps // 2),
            ("odd", taps % 2),
            ("out_zero", out_zero),
            ("act_min", limits[0]),
            ("act_max", limits[1]),
            ("rounding", rounding_of(channels.shifts, out_zero, limits[0])),
        ),
    )


SMALL_ROWS, SMALL_COLUMNS = 3, 3
"""Rows and columns of windows that `cg_depthwise_small_s8_mve` takes, at most."""
_QUAD, _EIGHT = 4, 8
_WOVEN = (0, 2, 4, 6, 1, 3, 5, 7)
"""Channels of eight whose results are narrowed into one vector."""


def small_stream(channels: Channels, window: tuple[int, int], first: int = 0) -> LinkedConstant:
    """Stream of `cg_depthwise_small_mve` for a `window` (rows, columns); the weights of each column from byte
    `first` of its four on."""
    count = len(channels.weights)
    missing = (0, -count % _QUAD)
    multipliers, shifts = channels.every()
    cells = np.zeros((count + missing[1], SMALL_COLUMNS, 4), np.int8)
    weights = channels.weights.reshape(-1, *window).swapaxes(1, 2)
    cells[:count, : window[1], first : first + window[0]] = weights
    numbers = [np.pad(wrap_int32(channels.bias), missing), np.pad(multipliers, missing)]
    bias, scales = (array.astype("<i4") for array in numbers)
    places = np.pad(shifts, missing).astype(np.int8)
    parts: list[NDArray[np.int8]] = []
    for members in small_groups(count):
        for start in range(0, len(members), _QUAD):
            four = list(members[start : start + _QUAD])
            parts += [bias[four].view(np.int8), cells[four].reshape(-1)]
        every = list(members)
        parts += [scales[every].view(np.int8), places[every]]
    return LinkedConstant(
        role="stream",
        data=np.concatenate(parts),
        alignment=4,
        layout="by eight or four channels: biases, weights column by column, multipliers, shifts",
        rounded=channels.rounded,
    )


def small_groups(count: int) -> list[tuple[int, ...]]:
    """Channels whose constants lie together, in order: of each 16 eights, then fours, the last filled up."""
    groups: list[tuple[int, ...]] = []
    for start in range(0, count, CHUNK):
        rest = min(count - start, CHUNK)
        eights = rest // _EIGHT
        groups += [tuple(start + _EIGHT * eight + place for place in _WOVEN) for eight in range(eights)]
        groups += [
            tuple(range(start + four, start + four + _QUAD)) for four in range(_EIGHT * eights, rest, _QUAD)
        ]
    return groups


def narrow_stream(channels: Channels) -> LinkedConstant:
    """Stream of `cg_quads_mve` for pixels of at most 16 bytes."""
    cells = np.pad(channels.weights, ((0, 0), (0, LANES - channels.weights.shape[1])))
    return _quads(channels, np.pad(cells, ((0, -len(cells) % _QUAD), (0, 0))), "16 weights each")


def dense_stream(channels: Channels) -> LinkedConstant:
    """Stream of `cg_quads_mve` for pixels of whole 32 bytes."""
    pairs = channels.weights.reshape(-1, 2, 2, channels.weights.shape[1] // LANES, LANES)
    return _quads(channels, pairs.transpose(0, 2, 3, 1, 4), "weights of channels 0 and 2, 1 and 3 by 16")


def _quads(channels: Channels, weights: NDArray[np.int8], order: str) -> LinkedConstant:
    """Constant by four channels, the last ones filled up with 0; `weights` in their order."""
    missing = (0, -len(channels.weights) % _QUAD)
    multipliers, shifts = channels.every()
    parts = (
        weights,
        np.pad(wrap_int32(channels.bias), missing).astype("<i4").view(np.int8),
        np.pad(multipliers, missing).astype("<i4").view(np.int8),
        np.pad(shifts, missing).astype(np.int8),
    )
    quads = (len(channels.weights) + missing[1]) // _QUAD
    return LinkedConstant(
        role="stream",
        data=np.concatenate([part.reshape(quads, -1) for part in parts], axis=1).reshape(-1),
        alignment=4,
        layout=f"by four channels: {order}, biases (32 bits), multipliers, shifts",
        rounded=channels.rounded,
    )


def quads_struct(channels: Channels, depth: int, out_zero: int, limits: tuple[int, int]) -> CStruct:
    """The `cg_quads_mve` of these channels; `depth` in bytes, `limits` of the activation."""
    return CStruct(
        suffix="layer",
        c_type="cg_quads_mve",
        fields=(
            ("stream", ConstantPointer(role="stream")),
            ("channels", len(channels.weights)),
            ("depth", depth),
            ("out_zero", out_zero),
            ("act_min", limits[0]),
            ("act_max", limits[1]),
            ("rounding", rounding_of(channels.shifts, out_zero, limits[0])),
        ),
    )


def small_struct(channels: Channels, out_zero: int, limits: tuple[int, int], stripe: int) -> CStruct:
    """The `cg_depthwise_small_mve` of these channels; `limits` of the activation, pixels of a stripe."""
    return CStruct(
        suffix="layer",
        c_type="cg_depthwise_small_mve",
        fields=(
            ("stream", ConstantPointer(role="stream")),
            ("channels", len(channels.weights)),
            ("out_zero", out_zero),
            ("act_min", limits[0]),
            ("act_max", limits[1]),
            ("rounding", rounding_of(channels.shifts, out_zero, limits[0])),
            ("stripe", stripe),
        ),
    )
