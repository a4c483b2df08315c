"""ARMv7-M kernels in models on QEMU: chosen, rows in blocks, in place, predicted instructions.

Results are compared with the NumPy reference; in the same run measured peaks equal plans, guards hold, and
two paints agree. Words off alignment trap where LDM and LDRD meet them. Hundreds of random layers of each
kernel, beside closed memory: tests/fuzz.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from codegen import board as boards
from codegen.driver.build import Planned
from codegen.errors import CodegenError
from codegen.search import Segment
from codegen.search.blocks.row_blocks import row_steps
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.selection import select
from tests.kernels.dsp.conv_layers import conv_layer, module_of, shaped_layer
from tests.kernels.dsp.depthwise_models import DepthwiseModel, Shape, run_all
from tests.kernels.dsp.test_depthwise_on_target import kernels_used, random_models
from tests.kernels.v7m.running import BOARD, only, planned, run
from tests.search.chains import random_chain, segments

LAYERS = 8
CHAINS = 16

pytestmark = pytest.mark.qemu


@pytest.mark.parametrize("most", [4, 2])
def test_layers(most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, *(("_v7m",) if most == 4 else ("_v7m_2", "fully_connected_s8_v7m", "_s8_portable")))
    made: list[Planned] = []
    for seed in range(1000 * most, 1000 * most + LAYERS):
        try:
            made.append(planned(module_of(conv_layer(seed)), f"layer{seed}"))
        except CodegenError as error:  # groups, which only the portable kernel has
            assert "is for one group" in str(error)
    assert len(made) > LAYERS // 2
    run(made, tmp_path)


def test_whole_depthwise_tensors(tmp_path: Path) -> None:
    outcomes = run_all(random_models(11, LAYERS), BOARD, tmp_path, "speed", images=1)
    used = kernels_used([name for outcome in outcomes for name in outcome.kernels])
    assert used["cg_depthwise_s8_v7m"] >= LAYERS // 2, used


def test_in_place(tmp_path: Path) -> None:
    same_size = {"stride": 1, "padding": "SAME", "multiplier": 1}
    models: list[DepthwiseModel] = []
    for model in random_models(12, 8):
        # With few channels the result may overlap the image as well.
        height, width, channels = model.shape.image
        shape = replace(model.shape, image=(height, width, 4 * channels + 1), **same_size)
        models.append(replace(model, shape=shape))
    models += [DepthwiseModel(shape=Shape(image=(6, 24, 33))), DepthwiseModel(shape=Shape(image=(5, 40, 19)))]
    outcomes = run_all(models, BOARD, tmp_path, "balanced", images=1)
    used = kernels_used([name for outcome in outcomes for name in outcome.kernels])
    assert used["cg_depthwise_in_place_s8_v7m"] >= 4, used


def test_rows_of_depthwise_layers(tmp_path: Path) -> None:
    models = [
        replace(model, shape=replace(model.shape, batch=1, padding="SAME"), narrow=2)
        for model in random_models(13, 14)
    ]
    outcomes = run_all(models, BOARD, tmp_path, "balanced", images=1)
    used = kernels_used([name for outcome in outcomes for name in outcome.kernels])
    assert used["cg_depthwise_s8_v7m_row"] >= 2, used


def test_rows_in_blocks(tmp_path: Path) -> None:
    """Random networks, each in as long blocks as can be, some of them in stripes."""
    board = boards.load_board(BOARD)
    made: list[Planned] = []
    for seed in range(CHAINS):
        module = random_chain(seed, 2 + seed % 7)
        data = {id_: constant.data for id_, constant in module.constants.items()}
        binder = Binder(data, board.target)
        steps = row_steps(select(module.main, binder), binder)
        possible = sorted(segments(module.main, steps), key=lambda pair: pair[0] - pair[1])
        if possible and possible[0][1] - possible[0][0] > 1:
            start, stop = possible[0]
            stripes = min(1 + seed % 3, module.main.body[stop - 1].var.type.shape[2])
            made.append(planned(module, f"chain{seed}", [Segment(start=start, stop=stop, stripes=stripes)]))
    blocks = [prim for each in made for prim in each.program.prim_funcs if prim.block]
    assert len(blocks) > CHAINS // 2
    assert sum("cg_conv2d_s8_v7m" in str(prim.block) for prim in blocks) > CHAINS // 4
    run(made, tmp_path)


def test_predictions_hold(tmp_path: Path) -> None:
    """Of layers that count, within 5 % of what is measured."""
    layers = [
        shaped_layer(image=(12, 12, 64), kernel=(1, 1), outputs=64),
        shaped_layer(image=(12, 12, 32), kernel=(1, 1), outputs=19),
        shaped_layer(image=(24, 24, 8), kernel=(1, 1), outputs=16),
        shaped_layer(image=(12, 12, 30), kernel=(1, 1), outputs=27),
        shaped_layer(image=(3, 3, 96), kernel=(1, 1), outputs=40),
        shaped_layer(image=(16, 16, 16), kernel=(3, 3), outputs=16, pad=1),
        shaped_layer(image=(32, 32, 3), kernel=(3, 3), outputs=16, pad=1),
        shaped_layer(image=(33, 33, 3), kernel=(3, 3), outputs=8, stride=2),
        shaped_layer(image=(49, 10, 1), kernel=(10, 4), outputs=64, stride=2),
    ]
    made = [planned(module_of(drawn), f"shape{n}") for n, drawn in enumerate(layers)]
    for one, measured in zip(made, run(made, tmp_path), strict=True):
        instructions = measured.result.cases[0].instructions
        predicted = one.program.prim_funcs[0].instructions
        assert instructions
        assert predicted
        assert abs(predicted / instructions - 1) < 0.05, (one.program.name, predicted, instructions)


DEPTHWISE = (
    Shape(image=(24, 24, 16)),
    Shape(image=(12, 12, 32)),
    Shape(image=(25, 5, 64)),
    Shape(image=(6, 6, 128)),
    Shape(image=(48, 48, 8), stride=2),
    Shape(image=(12, 12, 32), stride=2),
    Shape(image=(10, 10, 24), kernel=(7, 7), stride=2),
    Shape(image=(14, 14, 18), kernel=(5, 1)),
)


@pytest.mark.parametrize("optimize", ["speed", "balanced"])
def test_predictions_of_depthwise_layers_hold(tmp_path: Path, optimize: str) -> None:
    """As whole tensors, and in place."""
    models = [DepthwiseModel(shape=shape) for shape in DEPTHWISE if optimize == "speed" or shape.stride == 1]
    level = "speed" if optimize == "speed" else "balanced"
    for outcome in run_all(models, BOARD, tmp_path, level, images=1):
        assert outcome.measured is not None
        assert outcome.predicted is not None
        assert abs(outcome.predicted / outcome.measured - 1) < 0.05, outcome
