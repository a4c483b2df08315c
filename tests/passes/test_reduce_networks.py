"""Ranges against all inputs; random networks reduced: nothing may change but what is left out."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.ir.evaluate import evaluate, steps
from codegen.passes import FoldConstants, RemoveDead, run_passes
from codegen.passes.reduce import reduce
from codegen.passes.reduce.ranges import ranges
from tests.passes.layers import Layers, int8, same_values
from tests.passes.networks import inputs_of, random_network


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


@settings(max_examples=150)
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
