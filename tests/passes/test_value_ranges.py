"""Value ranges of `passes/reduce` hold for every operator, every input and every window."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.ir.evaluate import evaluate, steps
from codegen.ir.operator import Op
from codegen.ir.ops import OPS, Activation, Padding2D
from codegen.passes import FoldConstants, RemoveDead, run_passes
from codegen.passes.reduce import reduce
from codegen.passes.reduce.value_ranges import ranges
from tests.passes.layers import SAME, Layers, int8, same_values
from tests.passes.networks import inputs_of, random_network
from tests.sampling import examples

_NEVER_INT8 = """
ARG_MAX ARG_MIN DETECTION_POST_PROCESS EQUAL FLOOR_DIV FLOOR_MOD LESS LESS_EQUAL LOGICAL_NOT NOT_EQUAL
SIGNAL_ENERGY SIGNAL_FILTER_BANK SIGNAL_IRFFT SIGNAL_LOG SIGNAL_PCAN SIGNAL_RFFT SIGNAL_SCALE_BITS
SIGNAL_SQUARE_ROOT SIGNAL_WINDOW
"""
_BY_TYPE = """
ADD_N BATCH_MATMUL CAST CUMSUM DIV DYNAMIC_UPDATE_SLICE GATHER GATHER_ND L2_NORMALIZATION LOG_SOFTMAX PRELU
RESIZE_BILINEAR SELECT_V2 SOFTMAX SQUARED_DIFFERENCE SUM
"""
"""Neither monotone nor a table of one argument, or seldom in front of weights."""


def test_an_operator_has_a_rule_or_is_said_to_have_none() -> None:
    """One without a rule is bounded by its type, which is never wrong; that it is so is not forgotten."""
    others = {
        name for name, op in OPS.items() if not op.is_monotone and type(op).value_range is Op.value_range
    }
    assert others == {*_NEVER_INT8.split(), *_BY_TYPE.split()}


def test_the_range_of_one_element_is_exact() -> None:
    """Against every one of the 256 inputs."""
    layers = Layers()
    image = layers.param("image", int8(1, 1, 1, 1, zero_point=-7))
    a = layers.conv(image, np.array([1, -3, 0, 2]).reshape(4, 1, 1, 1), [0, 90, 9, -300], zero_point=11)
    module = layers.build([a])
    found = ranges(module, module.main)[a.name]
    every = [evaluate(module, module.main, [np.full((1, 1, 1, 1), x, np.int8)])[0] for x in range(-128, 128)]
    assert np.array_equal(found.low, np.min(every, axis=0))
    assert np.array_equal(found.high, np.max(every, axis=0))


def _bounds(
    low: np.ndarray, high: np.ndarray, weights: np.ndarray, at: tuple[int, int], origin: tuple[int, int]
) -> tuple[int, int]:
    """The least and largest sum of a depthwise window, tap by tap; `low`, `high` [H, W], `weights` [h, w]."""
    least = most = 0
    for (row, column), weight in np.ndenumerate(weights):
        y, x = at[0] + row - origin[0], at[1] + column - origin[1]
        if 0 <= y < low.shape[0] and 0 <= x < low.shape[1]:
            ends = sorted((int(low[y, x]) * int(weight), int(high[y, x]) * int(weight)))
            least, most = least + ends[0], most + ends[1]
    return least, most


def test_bounds_of_wide_padded_images_are_those_of_every_window() -> None:
    """Ranges took 2 s of a large network's plan. Windows that read the same are now counted once: on an image
    as wide as this most do, at the border none."""
    layers, random = Layers(), np.random.default_rng(7)
    image = layers.param("image", int8(1, 14, 19, 2, zero_point=0, scale=1.0))
    small = layers.conv(image, np.array([[0, 0], [0, 0]]).reshape(2, 1, 1, 2), [3, -2])
    clamped = layers.conv(
        image, random.integers(-9, 9, (2, 3, 3, 2)), [1, 2], padding=SAME, activation=Activation.RELU6
    )
    both = layers.add(clamped, small)
    first = random.integers(-2, 3, (3, 4, 2))
    second = random.integers(-2, 3, (2, 3, 2))
    one = layers.depthwise(both, first, [0, 0], padding=Padding2D(top=1, bottom=2, left=0, right=3))
    two = layers.depthwise(one, second, [0, 0], padding=Padding2D(top=1, bottom=1, left=2, right=0))
    module = layers.build([two])
    found = ranges(module, module.main)
    for before, after, weights, origin in ((both, one, first, (1, 0)), (one, two, second, (1, 2))):
        given, result = found[before.name], found[after.name]
        for (_, row, column, channel), low in np.ndenumerate(result.low):
            sums = _bounds(
                given.low[0, :, :, channel],
                given.high[0, :, :, channel],
                weights[..., channel],
                (row, column),
                origin,
            )
            assert (low, result.high[0, row, column, channel]) == tuple(np.clip(sums, -128, 127))


@settings(max_examples=examples(150))
@given(st.integers(0, 10**6))
def test_random_networks_compute_the_same(seed: int) -> None:
    module = run_passes(random_network(seed), (FoldConstants(), RemoveDead()))
    reduction = reduce(module)
    known = ranges(module, module.main)
    for inputs in inputs_of(module, seed):
        same_values(reduction, inputs)
        for let, value in steps(module, module.main, inputs):
            bounds = known.get(let.var.name)
            assert bounds is None or ((bounds.low <= value) & (value <= bounds.high)).all(), let.where
    assert not reduce(run_passes(reduction.module, (RemoveDead(),))).removed
    assert [param.type for param in reduction.module.main.params] == [p.type for p in module.main.params]
    assert [result.type for result in reduction.module.main.results] == [
        result.type for result in module.main.results
    ]
