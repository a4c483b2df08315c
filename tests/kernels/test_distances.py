"""Stated distances: against the access model, and compiled kernels at the distance and one nearer."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.ir import ConstRef, DType, Quantization
from codegen.ir.ops import (
    POINTWISE,
    Activation,
    ConvAttrs,
    DepthwiseConvAttrs,
    FullyConnectedAttrs,
    PoolAttrs,
)
from codegen.kernels.contract import Sharing
from codegen.kernels.primfunc import PrimFunc
from tests.kernels.access import above_bytes, below_bytes, events
from tests.kernels.builders import CASES, random_layer
from tests.kernels.calling import RUNTIME, Library, bind, check_result
from tests.kernels.layers import Layer

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
        *(op.name for op in POINTWISE),
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
    """The kernels as the compiler moves loads and stores about most freely."""
    return Library(compiled("fastest", "-O3"))


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
    one = Quantization(scales=(1.0,), zero_points=(0,))
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
    assert isinstance(attrs, ConvAttrs | DepthwiseConvAttrs | PoolAttrs | FullyConnectedAttrs)
    call = replace(layer.let.call, args=args, attrs=replace(attrs, activation=Activation.NONE))
    changed = replace(one, scales=(0.5,)) if layer.let.var.type.dtype is DType.INT16 else None
    shifted = one if isinstance(attrs, PoolAttrs) else changed or replace(one, zero_points=(3,))
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
