"""ARMv6-M kernels in models on QEMU: chosen, rows in blocks, predicted instructions.

Results are compared with the NumPy reference; in the same run measured peaks equal plans, guards hold, and
two paints agree. A Cortex-M0 with 16 KiB runs a few layers at a time; code for it on a machine with more
memory runs many. Hundreds of random layers of each kernel on a Cortex-M0, beside painted memory: tests/fuzz.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen import board as boards
from codegen import emit, toolchain
from codegen.driver import run as driver_run
from codegen.driver.build import Planned
from codegen.driver.inputs.cases import Case
from codegen.driver.run import Measured, complaints, measure
from codegen.errors import CodegenError
from codegen.ir import Module
from codegen.kernels import kernels_for
from codegen.kernels.base.registry import Kernel
from codegen.plan.models.bundling import together
from codegen.program.problem import peak_bytes
from codegen.search import Choices, Segment, search
from codegen.search.blocks.row_blocks import row_steps
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.selection import select
from codegen.toolchain import Optimize
from tests.checkout import ROOT
from tests.joining import joined
from tests.kernels.dsp.conv_layers import conv_layer, module_of, shaped_layer
from tests.kernels.dsp.depthwise_models import DepthwiseModel, Shape, run_all
from tests.kernels.dsp.test_depthwise_on_target import random_models
from tests.search.chains import random_chain, segments

LAYERS = 10
CHAINS = 16
CHOICES = Choices(planner="greedy_by_size")
MANY = str(ROOT / "benchmarks" / "boards" / "mps2-an385-v6m.toml")
"""Code for Cortex-M0 on a machine with 4 MiB."""
ROOM_BYTES = 10_000
"""For the pools of all layers in one image for the microbit."""

pytestmark = pytest.mark.qemu


def _run(board_name: str, made: Sequence[Planned], folder: Path) -> list[Measured]:
    board = boards.load_board(board_name)
    sources = joined(emit.render(together([planned.program for planned in made])))
    emit.write(sources, folder / "build")
    image = toolchain.build(sources, folder / "build", board, optimize="speed")
    found: list[Measured] = []
    wrong: list[str] = []
    with boards.session(image, board) as target:
        for number, planned in enumerate(made):
            rng = np.random.default_rng(number)
            shape = planned.program.inputs[0].type.shape
            drawn = rng.integers(-128, 128, shape, np.int8), rng.choice(np.array([-128, 127], np.int8), shape)
            name = planned.program.name
            cases = [Case(name=f"{name} {index}", inputs=(x,)) for index, x in enumerate(drawn)]
            outcome = target.run(driver_run.request(planned.program, cases, model=number))
            found.append(measure(planned, cases, outcome))
            wrong += [str(m) for m in complaints(planned, cases, found[-1], image.sizes.stack_bound_bytes)]
    assert not wrong, "\n".join(wrong[:20])
    return found


def _planned(module: Module, board_name: str, name: str, blocks: Sequence[Segment] | None = None) -> Planned:
    board = boards.load_board(board_name)
    program = search(module, board, CHOICES, name=name, blocks=blocks)
    return Planned(module=module, program=program, macs=0)


def _only(monkeypatch: pytest.MonkeyPatch, *wanted: str) -> None:
    """Selection sees the kernels whose names end so, and those of operators that have none."""

    def some(op: str) -> Sequence[Kernel]:
        every = kernels_for(op)
        return [kernel for kernel in every if kernel.name.endswith(wanted)] or every

    monkeypatch.setattr("codegen.search.kernels.selection.kernels_for", some)


def _layers(board_name: str, seeds: Iterator[int] | range) -> list[Planned]:
    made: list[Planned] = []
    for seed in seeds:
        try:
            made.append(_planned(module_of(conv_layer(seed)), board_name, f"layer{seed}"))
        except CodegenError as error:  # groups and dilated columns, which only the portable kernels have
            assert "is for one group" in str(error) or "without dilation" in str(error)
    assert len(made) > 0.8 * len(list(seeds))
    return made


@pytest.mark.parametrize("most", [4, 2])
def test_layers(most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _only(monkeypatch, *(("_v6m",) if most == 4 else ("_v6m_2", "fully_connected_s8_v6m")))
    made = _layers(MANY, range(1000 * most, 1000 * most + LAYERS))
    _run(MANY, made, tmp_path)
    used = Counter(prim.kernel for planned in made for prim in planned.program.prim_funcs)
    assert used["conv2d_s8_v6m" if most == 4 else "conv2d_s8_v6m_2"] > LAYERS // 5, used


def test_layers_on_a_cortex_m0(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _only(monkeypatch, "_v6m")
    made: list[Planned] = []
    used = 0
    for planned in _layers("microbit", range(5000, 5040)):
        program = planned.program
        needed = sum(peak_bytes(program.problem, program.plan, p.name) for p in program.problem.pools)
        if used + needed <= ROOM_BYTES:
            made.append(planned)
            used += needed
    assert len(made) > 8
    _run("microbit", made, tmp_path)


def test_depthwise_layers(tmp_path: Path) -> None:
    outcomes = run_all(random_models(11, LAYERS), MANY, tmp_path, "speed", images=1)
    used = Counter(name for outcome in outcomes for name in outcome.kernels)
    assert used["cg_depthwise_s8_v6m"] > LAYERS // 2, used


def test_rows_in_blocks(tmp_path: Path) -> None:
    """Random networks, each in as long blocks as can be, some of them in stripes."""
    board = boards.load_board(MANY)
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
            block = Segment(start=start, stop=stop, stripes=stripes)
            made.append(_planned(module, MANY, f"chain{seed}", [block]))
    blocks = [prim for each in made for prim in each.program.prim_funcs if prim.block]
    assert len(blocks) > CHAINS // 2
    for row in ("cg_conv2d_s8_v6m_row", "cg_depthwise_s8_v6m_row"):
        assert sum(row in str(prim.block) for prim in blocks) > CHAINS // 8, row
    _run(MANY, made, tmp_path)


def test_predictions_hold(tmp_path: Path) -> None:
    """Of layers that count, within 5 % of what is measured."""
    layers = [
        shaped_layer(image=(12, 12, 64), kernel=(1, 1), outputs=64),
        shaped_layer(image=(12, 12, 32), kernel=(1, 1), outputs=19),
        shaped_layer(image=(24, 24, 8), kernel=(1, 1), outputs=16),
        shaped_layer(image=(12, 12, 30), kernel=(1, 1), outputs=27),
        shaped_layer(image=(16, 16, 16), kernel=(3, 3), outputs=16, pad=1),
        shaped_layer(image=(32, 32, 3), kernel=(3, 3), outputs=16, pad=1),
        shaped_layer(image=(33, 33, 3), kernel=(3, 3), outputs=8, stride=2),
        shaped_layer(image=(49, 10, 1), kernel=(10, 4), outputs=64, stride=2),
    ]
    made = [_planned(module_of(drawn), MANY, f"shape{n}") for n, drawn in enumerate(layers)]
    for planned, measured in zip(made, _run(MANY, made, tmp_path), strict=True):
        instructions = measured.result.cases[0].instructions
        predicted = planned.program.prim_funcs[0].instructions
        assert instructions
        assert predicted
        assert abs(predicted / instructions - 1) < 0.05, planned.program.name


@pytest.mark.parametrize("optimize", ["speed", "balanced"])
def test_depthwise_predictions_hold(optimize: Optimize, tmp_path: Path) -> None:
    """`balanced` replaces images where strides permit: within 3 %, as C is a small part of the instructions.

    With gcc 14 one was 5.5 % away: of each image's first two rows all rows of taps are found and paired, and
    the prediction took them for the rows below. Of flat images and high windows 9 % were missing.
    """
    shapes = [
        Shape(image=(3, 3, 64)),
        Shape(image=(8, 8, 40), kernel=(7, 3)),
        Shape(image=(24, 24, 16)),
        Shape(image=(6, 6, 128)),
        Shape(image=(25, 5, 64)),
        Shape(image=(12, 12, 57)),
        Shape(image=(24, 24, 8), stride=2),
        Shape(image=(14, 14, 16), kernel=(5, 5)),
        Shape(image=(14, 14, 18), stride=2, kernel=(5, 1)),
    ]
    models = [DepthwiseModel(shape=shape) for shape in shapes]
    outcomes = run_all(models, MANY, tmp_path, optimize, images=1)
    in_place = [outcome for outcome in outcomes if outcome.kernels == ("cg_depthwise_in_place_s8_v6m",)]
    assert len(in_place) == (7 if optimize == "balanced" else 0)
    bound = 0.03 if in_place else 0.05
    for outcome in in_place or outcomes:
        assert outcome.measured is not None
        assert outcome.predicted is not None
        assert abs(outcome.measured - outcome.predicted) < bound * outcome.measured, outcome


def test_depthwise_in_place(tmp_path: Path) -> None:
    same_size = {"stride": 1, "dilation": (1, 1), "padding": "SAME", "multiplier": 1}
    models = [replace(model, shape=replace(model.shape, **same_size)) for model in random_models(12, LAYERS)]
    outcomes = run_all(models, MANY, tmp_path, "balanced", images=1)
    used = Counter(name for outcome in outcomes for name in outcome.kernels)
    assert used["cg_depthwise_in_place_s8_v6m"] > LAYERS // 2, used
