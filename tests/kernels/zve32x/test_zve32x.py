"""Zve32x kernels: what they leave to others, what they are handed, predicted instructions on QEMU."""

from pathlib import Path

import numpy as np
import pytest

from codegen.kernels.zve32x.depthwise import pairs_fit
from codegen.toolchain import Optimize
from tests.kernels import runs
from tests.kernels.dsp.conv_layers import module_of, shaped_layer
from tests.kernels.dsp.depthwise_models import DepthwiseModel, Shape, run_all

BOARD = "qemu-virt-rv32v"


def test_products_of_two_taps_have_16_bits() -> None:
    """-128 times -128, twice, is 32,768: such neighbours are the portable kernel's."""
    weights = np.full((2, 9), 127, np.int8)
    assert pairs_fit(weights)
    weights[1, 1:3] = -128
    assert pairs_fit(weights), "they are added to different ones"
    weights[1, 3] = -128
    assert not pairs_fit(weights)


@pytest.mark.qemu
def test_rows_in_blocks(tmp_path: Path) -> None:
    """Layers of a block point to weights of their own: those of two had one name where the pointers lie in a
    struct inside the parameters, and a person detector of 96 x 96 differed from its second step on."""
    made = runs.planned_chains(BOARD, 6)
    blocks = [prim.block for each in made for prim in each.program.steps.prim_funcs if prim.block]
    assert any(str(block).count("_zve32x_row") >= 2 for block in blocks)
    runs.run_planned(made, BOARD, tmp_path)


@pytest.mark.qemu
def test_predictions_hold(tmp_path: Path) -> None:
    """Vectors of 128 bits: few channels, many, rows of taps that are short."""
    layers = [
        shaped_layer(image=(9, 9, 16), kernel=(3, 3), outputs=16),
        shaped_layer(image=(12, 12, 24), kernel=(1, 1), outputs=40),
        shaped_layer(image=(16, 16, 8), kernel=(3, 3), outputs=48),
    ]
    made = [runs.planned_alone(module_of(drawn), BOARD, f"shape{n}") for n, drawn in enumerate(layers)]
    used = {prim.kernel for planned in made for prim in planned.program.steps.prim_funcs}
    assert used == {"conv2d_s8_zve32x"}
    runs.check_predictions(made, runs.run_planned(made, BOARD, tmp_path), percent=3)


@pytest.mark.qemu
@pytest.mark.parametrize("optimize", ["speed", "balanced"])
@pytest.mark.sampled(1)
def test_predictions_of_depthwise_layers_hold(tmp_path: Path, optimize: Optimize) -> None:
    """As whole tensors, and in place, some channels at a time."""
    shapes = (Shape(image=(24, 24, 16)), Shape(image=(25, 5, 64)), Shape(image=(12, 12, 32), stride=2))
    models = [DepthwiseModel(shape=shape) for shape in shapes if optimize == "speed" or shape.stride == 1]
    outcomes = run_all(models, BOARD, tmp_path, optimize, images=1)
    for outcome in outcomes:
        assert outcome.kernels and all("zve32x" in name for name in outcome.kernels)
        assert outcome.measured is not None and outcome.predicted is not None
        assert abs(outcome.predicted / outcome.measured - 1) < 0.03, outcome
