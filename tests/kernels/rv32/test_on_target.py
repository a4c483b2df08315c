"""RV32 kernels in models on QEMU: chosen, rows in blocks, in place, predicted instructions.

Results are compared with the NumPy reference; in the same run measured peaks equal plans, guards hold, and
two paints agree.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from codegen.toolchain import Optimize
from tests.kernels import runs
from tests.kernels.dsp.conv_layers import module_of, shaped_layer
from tests.kernels.dsp.depthwise_models import DepthwiseModel, Shape, run_all
from tests.kernels.dsp.test_depthwise_on_target import kernels_used, random_models
from tests.sampling import examples

BOARD = "qemu-virt-rv32"
LAYERS = 12
CHAINS = examples(16, 2)

pytestmark = pytest.mark.qemu


def test_layers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest of ours for each: no Winograd, which takes 3x3 layers from it."""
    runs.only_kernels(monkeypatch, "conv2d_s8_rv32", "conv2d_1_s8_rv32", "rows_s8_rv32", "_s8_portable")
    made = runs.planned_layers(BOARD, range(LAYERS))
    used = [prim.symbol for planned in made for prim in planned.program.steps.prim_funcs]
    assert sum("rv32" in symbol for symbol in used) >= LAYERS // 2, used
    runs.run_planned(made, BOARD, tmp_path)


def test_depthwise_layers_whole_and_in_place(tmp_path: Path) -> None:
    three = {"kernel": (3, 3), "dilation": (1, 1), "multiplier": 1}
    models = [replace(model, shape=replace(model.shape, **three)) for model in random_models(11, LAYERS)]
    models += [DepthwiseModel(shape=Shape(image=(6, 24, 33))), DepthwiseModel(shape=Shape(image=(25, 5, 64)))]
    outcomes = run_all(models, BOARD, tmp_path, "balanced", images=1)
    used = kernels_used([name for outcome in outcomes for name in outcome.kernels])
    assert sum(count for name, count in used.items() if "depthwise3x3" in name) >= 4, used


def test_rows_of_depthwise_layers(tmp_path: Path) -> None:
    three = {"kernel": (3, 3), "dilation": (1, 1), "multiplier": 1, "batch": 1, "padding": "SAME"}
    models = [
        replace(model, shape=replace(model.shape, **three), narrow=2) for model in random_models(13, LAYERS)
    ]
    outcomes = run_all(models, BOARD, tmp_path, "balanced", images=1)
    used = kernels_used([name for outcome in outcomes for name in outcome.kernels])
    assert sum(count for name, count in used.items() if "depthwise3x3" in name and "_row" in name) >= 2, used


def test_rows_in_blocks(tmp_path: Path) -> None:
    """Random networks, each in as long blocks as can be, some of them in stripes."""
    made = runs.planned_chains(BOARD, CHAINS)
    blocks = [prim for each in made for prim in each.program.steps.prim_funcs if prim.block]
    assert len(blocks) > CHAINS // 2
    assert sum("_rv32" in str(prim.block) for prim in blocks) > CHAINS // 4
    runs.run_planned(made, BOARD, tmp_path)


def test_predictions_hold(tmp_path: Path) -> None:
    """Of layers that count, within 3 % of what is measured."""
    layers = [*runs.SHAPES, shaped_layer(image=(3, 3, 96), kernel=(1, 1), outputs=40)]
    every = [runs.planned_alone(module_of(drawn), BOARD, f"shape{n}") for n, drawn in enumerate(layers)]
    # Biases of some layers are so large that sums do not fit: those are the portable kernel's.
    made = [each for each in every if all("rv32" in prim.symbol for prim in each.program.steps.prim_funcs)]
    used = {prim.kernel for planned in made for prim in planned.program.steps.prim_funcs}
    assert len(made) >= 6 and used == {"conv2d_s8_rv32", "winograd_s8_rv32"}
    runs.check_predictions(made, runs.run_planned(made, BOARD, tmp_path), percent=3)


DEPTHWISE = (
    Shape(image=(24, 24, 16)),
    Shape(image=(25, 5, 64)),
    Shape(image=(6, 6, 128)),
    Shape(image=(48, 48, 8), stride=2),
    Shape(image=(12, 12, 32), stride=2),
)


@pytest.mark.parametrize("optimize", ["speed", "balanced"])
@pytest.mark.sampled(1)
def test_predictions_of_depthwise_layers_hold(tmp_path: Path, optimize: Optimize) -> None:
    """As whole tensors, and in place."""
    models = [DepthwiseModel(shape=shape) for shape in DEPTHWISE if optimize == "speed" or shape.stride == 1]
    for outcome in run_all(models, BOARD, tmp_path, optimize, images=1):
        assert outcome.measured is not None
        assert outcome.predicted is not None
        assert abs(outcome.predicted / outcome.measured - 1) < 0.03, outcome
