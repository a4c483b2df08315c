"""Winograd's kernels in blocks: random networks row by row on QEMU, results as NumPy's, peaks as planned.

Rings and distances of stages that compute several rows together, by brute force: tests/kernels/test_rows.py.
"""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from numpy.random import Generator, default_rng

from codegen.driver.build import Planned
from codegen.ir import Var, ops
from codegen.ir.builder import Builder
from codegen.kernels.block import BlockStage
from codegen.kernels.dsp.winograd.kernel import WinogradConv
from codegen.kernels.dsp.winograd.tiles import F2, F4
from codegen.kernels.fused import can_fuse
from codegen.kernels.rows import Grid
from codegen.search import Choices
from codegen.search.blocks.row_blocks import Segment
from tests.kernels import runs
from tests.kernels.dsp.conv_layers import module_of, shaped_layer
from tests.search.chains import Chain

BOARD = "mps2-an386"
CHOICES = Choices(planner="greedy_by_size", optimize="speed")
NAMES = ("winograd4_s8_dsp", "winograd_s8_dsp", "winograd_narrow_s8_dsp")
CHAINS, LONG_CHAINS = 14, 60


class _WideChain(Chain):
    """Most convolutions are those of Winograd, of any height, width, padding and number of channels."""

    def __init__(self, rng: Generator) -> None:
        self.rng, self.joins, self.is_float = rng, False, False
        self.builder = Builder()
        height, width, channels = rng.integers((3, 3, 1), (17, 21, 13)).tolist()
        shape = (1 + int(rng.random() < 0.2), height, width, channels)
        self.values = [self.builder.param("image", replace(self._type(), shape=shape))]

    def _window(self) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int], ops.Padding2D]:
        if self.rng.random() < 0.3:
            return super()._window()
        top, bottom, left, right = self.rng.choice([1, 1, 0], 4).tolist()
        return (3, 3), (1, 1), (1, 1), ops.Padding2D(top=top, bottom=bottom, left=left, right=right)

    def _conv(self, image: Var) -> Var | None:
        kernel, stride, dilation, padding = self._window()
        same = self.rng.random() < 0.5
        outputs = image.type.shape[3] if same else int(self.rng.integers(1, 13))
        attrs = ops.ConvAttrs(stride=stride, dilation=dilation, padding=padding)
        constants = self._weights((outputs, *kernel, image.type.shape[3]), 0)
        return self._call("CONV_2D", [image, *constants], attrs, self._type())


def _stages(made: list[Planned], name: str) -> list[tuple[Planned, BlockStage]]:
    return [
        (planned, stage)
        for planned in made
        for prim in planned.program.steps.prim_funcs
        if prim.block is not None
        for stage in prim.block.stages
        if stage.binding == name
    ]


@pytest.mark.qemu
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sampled(1)
def test_random_blocks(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Guards and two paints too. Tails, stripes and several images are among them."""
    runs.only_kernels(monkeypatch, name, "conv2d_s8_portable")
    chains = LONG_CHAINS if request.config.getoption("--long") else CHAINS
    modules = [_WideChain(default_rng(1900 + seed)).module(2 + seed % 5) for seed in range(chains)]
    found = [runs.planned_chain(module, BOARD, seed, choices=CHOICES) for seed, module in enumerate(modules)]
    made = [planned for planned in found if planned]
    stages = _stages(made, name)
    rows = 4 if "4" in name else 2
    seen = Counter(stage.rows % rows != 0 if isinstance(stage.rows, int) else None for _, stage in stages)
    assert min(seen[True], seen[False]) >= 5, seen
    blocks = [prim.block for each in made for prim in each.program.steps.prim_funcs if prim.block]
    assert any(len(block.stripes) > 1 for block in blocks) and any(block.images == 2 for block in blocks)
    runs.run_planned(made, BOARD, tmp_path)


def _block(name: str, image: tuple[int, int, int], outputs: int, pad: int) -> Planned:
    """One layer as a block, in two stripes where it is wide."""
    module = module_of(shaped_layer(image=image, kernel=(3, 3), outputs=outputs, pad=pad))
    block = Segment(start=0, stop=1, grid=Grid(stripes=2 if image[1] > 20 else 1))
    return runs.planned_alone(module, BOARD, name, [block], CHOICES)


def test_a_turn_is_counted_in_sixteen_bits() -> None:
    """`done` of a block would be 32768 behind the last turn of four rows, and -32768 then."""
    drawn = shaped_layer(image=(32765, 3, 1), kernel=(3, 3), outputs=1, pad=1)
    for kernel in (WinogradConv(F2), WinogradConv(F4, "4")):
        bound = kernel.bind(drawn.let, drawn.constants, "layer")
        assert bound.rows is not None and bound.kernel == kernel.name
        assert can_fuse(bound) == (bound.rows.turn_rows == 2)


SHAPES = (
    ((16, 16, 16), 16, 1),
    ((8, 8, 64), 28, 1),
    ((15, 13, 20), 24, 1),
    ((16, 32, 32), 12, 0),
    ((14, 14, 7), 11, 1),
    ((10, 21, 16), 30, 0),
)


@pytest.mark.qemu
def test_predictions_hold_within_three_percent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Planned] = []
    for name in NAMES:
        with monkeypatch.context() as only:
            runs.only_kernels(only, name, "conv2d_s8_portable")
            found = [_block(f"{name}_{number}", *shape) for number, shape in enumerate(SHAPES)]
        assert len(_stages(found, name)) == len(SHAPES)
        made += found
    runs.check_predictions(made, runs.run_planned(made, BOARD, tmp_path), percent=3)
