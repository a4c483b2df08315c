"""DSP convolutions in models on QEMU: chosen, rows in blocks, predicted instructions.

Results are compared with the NumPy reference; in the same run measured peaks equal plans, guards hold, and
two paints agree. Words off alignment trap. Hundreds of random layers on every core: tests/fuzz.
"""

from collections.abc import Sequence
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
from codegen.search import Choices, Segment, search
from codegen.search.blocks.row_blocks import row_steps
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.selection import select
from tests.joining import joined
from tests.kernels.dsp.conv_layers import conv_layer, module_of, shaped_layer
from tests.search.chains import random_chain, segments

LAYERS = 10
CHAINS = 16
CHOICES = Choices(planner="greedy_by_size")

pytestmark = pytest.mark.qemu


def _run(board_name: str, made: Sequence[Planned], folder: Path) -> list[Measured]:
    board = boards.load_board(board_name)
    sources = joined(emit.render(together([planned.program for planned in made])))
    emit.write(sources, folder / "build")
    image = toolchain.build(sources, folder / "build", board, optimize="speed")
    bound = image.sizes.stack_bound_bytes
    found: list[Measured] = []
    wrong: list[str] = []
    with boards.session(image, board) as target:
        for number, planned in enumerate(made):
            rng = np.random.default_rng(number)
            shape = planned.program.inputs[0].type.shape
            drawn = rng.integers(-128, 128, shape, np.int8), rng.choice(np.array([-128, 127], np.int8), shape)
            name = planned.program.name
            cases = [Case(name=f"{name} {index}", inputs=(x,)) for index, x in enumerate(drawn)]
            found.append(
                measure(planned, cases, target.run(driver_run.request(planned.program, cases, model=number)))
            )
            wrong += [str(m) for m in complaints(planned, cases, found[-1], bound)]
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


@pytest.mark.parametrize(("most", "board_name"), [(4, "mps2-an386"), (2, "mps2-an505")])
def test_layers(most: int, board_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _only(monkeypatch, *(("_dsp",) if most == 4 else ("_dsp_2", "_narrow_s8_dsp", "_s8_portable")))
    offset = 1000 * (most + len(board_name))
    made: list[Planned] = []
    for seed in range(offset, offset + LAYERS):
        try:
            made.append(_planned(module_of(conv_layer(seed)), board_name, f"layer{seed}"))
        except CodegenError as error:  # groups, which only the portable kernel has
            assert "is for one group" in str(error)
    assert len(made) > LAYERS // 2
    _run(board_name, made, tmp_path)


def test_rows_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random networks, each in as long blocks as can be, some of them in stripes."""
    board = boards.load_board("mps2-an386")
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
            made.append(_planned(module, "mps2-an386", f"chain{seed}", [block]))
    blocks = [prim for each in made for prim in each.program.prim_funcs if prim.block]
    assert len(blocks) > CHAINS // 2
    assert sum("cg_conv2d_s8_dsp" in str(prim.block) for prim in blocks) > CHAINS // 4
    _run("mps2-an386", made, tmp_path)


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
    made = [_planned(module_of(drawn), "mps2-an386", f"shape{n}") for n, drawn in enumerate(layers)]
    for planned, measured in zip(made, _run("mps2-an386", made, tmp_path), strict=True):
        instructions = measured.result.cases[0].instructions
        predicted = planned.program.prim_funcs[0].instructions
        assert instructions
        assert predicted
        assert abs(predicted / instructions - 1) < 0.05, planned.program.name
