"""Stated distances: against the access model, and compiled kernels at the distance and one nearer.
Distances of the FPU kernels against a simulation of what they read and write, element by element.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.ir import ConstRef, DType, ops
from codegen.ir.ops.base.operands import narrow
from codegen.kernels.base.weighted import window_of
from codegen.kernels.base.window import WindowShape
from codegen.kernels.contract import Sharing
from codegen.kernels.fpu.tiles import depthwise_below, product_below, spans, taps_inside
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rows import Axis
from tests.kernels.access import above_bytes, below_bytes, events
from tests.kernels.builders import CASES, random_layer
from tests.kernels.calling import RUNTIME, Library, bind, check_result
from tests.kernels.fpu.test_on_target import float_layer
from tests.kernels.layers import Layer
from tests.tensor_types import per_tensor

LAYERS = 60
SHARING = [
    case
    for case in CASES
    if case[0]
    in {
        "CONV_2D",
        "DEPTHWISE_CONV_2D",
        "FULLY_CONNECTED",
        "AVERAGE_POOL_2D",
        "MAX_POOL_2D",
        "ADD",
        "SUB",
        "MUL",
        "SOFTMAX",
        *(op.name for op in ops.POINTWISE),
    }
]
VARIANTS = 40
"""Images tried until a lost byte shows."""
EITHER_WAY = ("CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D")
POOLS = ("AVERAGE_POOL_2D", "MAX_POOL_2D")
EXACT = (*EITHER_WAY, "FULLY_CONNECTED", "DEQUANTIZE")
"""Operators whose distance is the least there is; the others say `in place` and leave it at that."""


def sizes(layer: Layer, argument: int) -> tuple[int, int]:
    """Bytes of the argument and of the result."""
    arg = layer.let.call.args[argument]
    assert arg is not None
    return arg.type.size_bytes, layer.let.var.type.size_bytes


def clamped(distance: int | None, mover: int, other: int) -> int | None:
    """A distance as `Sharing` states it: not beyond the last byte, none where lying apart is no worse."""
    least = 1 - other
    found = least if distance is None else max(distance, least)
    return found if found < mover else None


@pytest.mark.parametrize(("op", "dtype"), SHARING)
@pytest.mark.sampled()
def test_distances_are_those_of_the_access_model(op: str, dtype: DType) -> None:
    checked = 0
    for seed in range(LAYERS):
        layer = random_layer(op, dtype, seed)
        for rule in bind(layer).sharing:
            checked += 1
            argument, result = sizes(layer, rule.argument)
            below = below_bytes(layer, rule.argument, events(layer, rule.argument, reverse=False))
            if op in EXACT:
                assert rule.below == clamped(below, result, argument), seed
            else:
                assert rule.below is not None
                assert below is None or rule.below >= below, seed
            if rule.above is not None:
                above = above_bytes(layer, rule.argument, events(layer, rule.argument, reverse=True))
                assert rule.above == clamped(above, argument, result), seed
    assert checked >= LAYERS // 4


def test_kernels_that_go_either_way_say_so() -> None:
    for op in EITHER_WAY:
        dtypes = (DType.INT8, DType.INT16)
        functions = [bind(random_layer(op, dtypes[seed % 2], seed)) for seed in range(LAYERS)]
        assert sum(function.reverse is not None for function in functions) > LAYERS // 2
        for function in functions:
            assert (function.reverse is not None) == any(rule.above is not None for rule in function.sharing)
        assert all(bind(random_layer(op, DType.FLOAT32, seed)).reverse is None for seed in range(5))


def backwards(function: PrimFunc) -> PrimFunc:
    """The same call from the last pixel to the first."""
    assert function.reverse is not None
    return replace(function, symbol=function.reverse.symbol)


def forwards(function: PrimFunc) -> PrimFunc:
    return function


WAYS: dict[str, tuple[Callable[[PrimFunc], PrimFunc], Callable[[Sharing], int | None], int]] = {
    "below": (forwards, lambda rule: rule.below, -1),
    "above": (backwards, lambda rule: None if rule.above is None else -rule.above, 1),
}
"""By side: the call, how far below the argument the result starts at the stated distance, one nearer."""


@pytest.fixture(scope="module")
def fastest(compiled: Callable[..., Path]) -> Library:
    """The kernels of `EXACT` as the compiler moves loads and stores about most freely."""
    layers = [
        random_layer(op, dtype, seed)
        for op in EXACT
        for dtype in (DType.INT8, DType.INT16)
        for seed in range(6)
        if (op, dtype) in CASES
    ]
    functions = [bind(layer) for layer in layers]
    named = {source for each in functions for source in (*each.sources, *reversing(each))}
    return Library(compiled("fastest", "-O3", only={Path(source).name for source in named}))


def reversing(function: PrimFunc) -> tuple[str, ...]:
    """Sources of the kernel that goes back to front."""
    return () if function.reverse is None else function.reverse.sources


@pytest.mark.parametrize("dtype", [DType.INT8, DType.INT16])
@pytest.mark.parametrize("op", EITHER_WAY)
def test_reverse_alone_equals_the_reference(library: Library, op: str, dtype: DType) -> None:
    for seed in range(LAYERS):
        layer = random_layer(op, dtype, seed)
        function = bind(layer)
        if function.reverse is not None:
            check_result(layer, library.run(backwards(function), layer, paint=0x5A).result)


@pytest.mark.parametrize("dtype", [DType.INT8, DType.INT16])
@pytest.mark.parametrize("side", WAYS)
@pytest.mark.parametrize("op", EXACT[:-1])
@pytest.mark.sampled()
def test_the_distance_is_safe_and_one_element_nearer_is_not(
    fastest: Library, op: str, side: str, dtype: DType
) -> None:
    """Compiled at -O3: equal to the reference at exactly the distance, wrong for some input one nearer."""
    if side == "above" and op not in EITHER_WAY:
        pytest.skip("this kernel goes front to back only")
    call, distance_of, nearer = WAYS[side]
    step = dtype.size_bytes
    tight = wrong = 0
    for seed in range(LAYERS):
        layer = _plain(random_layer(op, dtype, seed))
        for rule in bind(layer).sharing:
            distance = distance_of(rule)
            # Past the last byte there is no nearer; there the rule is cut off.
            if distance is None or not sizes(layer, 0)[1] - step > distance > step - sizes(layer, 0)[0]:
                continue
            assert distance % step == 0
            tight += 1
            for variant in range(VARIANTS):
                varied = _varied(layer, variant)
                expected = varied.expected.tobytes()
                function = call(bind(layer))
                exact, spoilt = (
                    fastest.run(function, varied, paint=0xA5, overlap=(0, at)).result
                    for at in (distance, distance + nearer * step)
                )
                assert exact == expected, seed
                if spoilt != expected:
                    wrong += 1
                    break
    assert tight >= 10
    # A pool may overwrite a byte by one that changes nothing, in all images: by an equal largest one.
    assert wrong == tight or (op in POOLS and wrong >= 0.9 * tight)


def _plain(layer: Layer) -> Layer:
    """The same shapes as sums of the image and 3, or (int16) doubled: weights of one, no bias, no clamp; so
    no byte is lost without a trace. (Pools keep the image's zero point, they want both alike.)"""
    one = per_tensor(1.0)
    constants = {id_: np.full_like(data, data.dtype.itemsize == 1) for id_, data in layer.constants.items()}
    args = tuple(
        None if arg is None else replace(arg, type=replace(arg.type, quantization=one))
        for arg in layer.let.call.args
    )
    values = tuple(
        constants[arg.id] if isinstance(arg, ConstRef) else value
        for arg, value in zip(args, layer.values, strict=True)
    )
    attrs = layer.let.call.attrs
    assert isinstance(attrs, ops.ConvAttrs | ops.DepthwiseConvAttrs | ops.PoolAttrs | ops.FullyConnectedAttrs)
    call = replace(layer.let.call, args=args, attrs=replace(attrs, activation=ops.Activation.NONE))
    changed = replace(one, scales=(0.5,)) if layer.let.var.type.dtype is DType.INT16 else None
    shifted = one if isinstance(attrs, ops.PoolAttrs) else changed or replace(one, zero_points=(3,))
    result = replace(layer.let.var, type=replace(layer.let.var.type, quantization=shifted))
    return Layer(let=replace(layer.let, var=result, call=call), constants=constants, values=values)


def _varied(layer: Layer, variant: int) -> Layer:
    """The same layer on another image of small numbers."""
    image = np.random.default_rng([variant, 77]).integers(-2, 3, layer.values[0].shape)  # pyright: ignore[reportOptionalMemberAccess]
    return replace(layer, values=(image.astype(layer.let.var.type.dtype.numpy), *layer.values[1:]))


def test_quantise_in_place_at_exactly_its_distance(fastest: Library) -> None:
    for seed in range(20):
        layer = random_layer("DEQUANTIZE", DType.INT8, seed)
        function = bind(layer)
        for rule in function.sharing:
            assert rule.below is not None
            nearest = -(-rule.below // 4) * 4
            check_result(layer, fastest.run(function, layer, paint=0xA5, overlap=(0, nearest)).result)


def test_every_source_is_shipped() -> None:
    for op in EITHER_WAY:
        reverse = next(r for s in range(LAYERS) if (r := bind(random_layer(op, DType.INT8, s)).reverse))
        assert all((RUNTIME / source).is_file() for source in reverse.sources)


Access = tuple[set[int], set[int]]
"""Elements of the image that are read, then elements of the result that are written."""


def windows() -> Iterator[WindowShape]:
    for seed in range(240):
        let = float_layer(seed).let
        if let.call.op.name == "CONV_2D":
            window = window_of(let, narrow(let.call.attrs, ops.ConvAttrs))
        elif let.call.op.name == "DEPTHWISE_CONV_2D":
            window = window_of(let, narrow(let.call.attrs, ops.DepthwiseConvAttrs))
        else:
            continue
        if window.result[1] * window.result[2] * window.result[3] < 600:
            yield window


def tiles_of(window: WindowShape) -> Iterator[list[tuple[int, int, int]]]:
    """Pixels (batch, row, column) computed together, from the contract in cg_kernels_fpu.h."""
    batch, rows, columns, _ = window.result
    axis = window.axes[1]
    is_whole = [taps == axis.window for taps in taps_inside(axis)]
    one_row = window.window == (1, 1) == window.stride and not window.is_padded
    one_row = one_row and window.image[:3] == window.result[:3]
    pixels = [(b, y, x) for b in range(batch) for y in range(rows) for x in range(columns)]
    width = len(pixels) if one_row else columns
    for start in range(0, len(pixels), width):
        row = pixels[start : start + width]
        while row:
            together = row[:4]
            alike = len(together) == 4 and (one_row or all(is_whole[x] for _, _, x in together))
            count = 4 if alike else 1
            yield row[:count]
            row = row[count:]


def reads(window: WindowShape, pixel: tuple[int, int, int], channels: range) -> set[int]:
    _, height, width, depth = window.image
    batch, y, x = pixel
    found: set[int] = set()
    for ky in range(window.window[0]):
        for kx in range(window.window[1]):
            row = y * window.stride[0] - window.padding.top + ky * window.dilation[0]
            column = x * window.stride[1] - window.padding.left + kx * window.dilation[1]
            if 0 <= row < height and 0 <= column < width:
                start = ((batch * height + row) * width + column) * depth
                found |= {start + channel for channel in channels}
    return found


def accesses(window: WindowShape, groups: list[range], *, is_depthwise: bool) -> Iterator[Access]:
    _, rows, columns, channels = window.result
    for tile in tiles_of(window):
        for group in groups:
            inputs = group if is_depthwise else range(window.image[3])
            read = set[int]().union(*(reads(window, pixel, inputs) for pixel in tile))
            places = [((b * rows + y) * columns + x) * channels for b, y, x in tile]
            yield read, {place + channel for place in places for channel in group}


def least(events: list[Access]) -> int | None:
    """The largest of (element written + 1 - lowest element still to be read)."""
    worst: int | None = None
    lowest: int | None = None
    for read, written in reversed(events):
        if lowest is not None:
            bound = max(written) + 1 - lowest
            worst = bound if worst is None else max(worst, bound)
        low = min(read, default=None)
        if low is not None:
            lowest = low if lowest is None else min(lowest, low)
    return worst


def test_products() -> None:
    seen = 0
    for window in windows():
        channels = window.result[3]
        whole = channels // 4 * 4
        fours = [range(start, start + 4) for start in range(0, whole, 4)]
        groups = [*fours, *(range(c, c + 1) for c in range(whole, channels))]
        assert product_below(window) == least(list(accesses(window, groups, is_depthwise=False)))
        seen += 1
    assert seen > 60


def test_depthwise() -> None:
    seen = 0
    for window in windows():
        channels = window.result[3]
        if channels == window.image[3] and channels >= 4:
            starts = [min(start, channels - 4) for start in range(0, channels, 4)]
            groups = [range(start, start + 4) for start in starts]
            assert depthwise_below(window) == least(list(accesses(window, groups, is_depthwise=True)))
            seen += 1
    assert seen > 25


@pytest.mark.parametrize(
    ("pad", "stride", "dilation", "expected"),
    [
        (0, 1, 1, [4, 4, 1, 1]),
        (1, 1, 1, [1, 4, 4, 1, 1, 1]),
        (2, 2, 1, [1, 4, 1, 1]),
        (2, 1, 2, [1, 1, 4, 4, 1, 1]),
    ],
)
def test_spans(pad: int, stride: int, dilation: int, expected: list[int]) -> None:
    """An image of 12 columns, a window of 3: pixels without padding in fours."""
    count = (12 + 2 * pad - 2 * dilation - 1) // stride + 1
    axis = Axis(count=count, extent=12, window=3, stride=stride, dilation=dilation, pad=pad)
    window = next(w for w in windows() if w.window == (3, 3))
    shaped = WindowShape(
        image=(1, 3, 12, 1),
        result=(1, 1, count, 1),
        window=(1, 3),
        stride=(1, stride),
        dilation=(1, dilation),
        padding=type(window.padding)(left=pad, right=pad),
    )
    assert shaped.axes[1] == axis
    found = spans(shaped)
    assert [span.stop - span.start for span in found] == expected
    assert all(span.columns == 3 for span in found if span.stop - span.start == 4)
    assert np.diff([span.start for span in found]).tolist() == expected[:-1]
