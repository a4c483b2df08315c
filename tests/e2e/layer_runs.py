"""Many small networks in one firmware on QEMU: outputs, peaks and predictions are checked."""

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
from codegen.ir import Module
from codegen.kernels import kernels_for
from codegen.kernels.base.registry import Kernel
from codegen.plan.models.bundling import together
from codegen.search import Choices, Segment, search
from codegen.search.blocks.row_blocks import row_steps
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.selection import select
from tests.joining import joined
from tests.kernels.dsp.conv_layers import module_of, shaped_layer
from tests.search.chains import random_chain, segments

CHOICES = Choices(planner="greedy_by_size")


def run_layers(board_name: str, made: Sequence[Planned], folder: Path) -> list[Measured]:
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


def planned_alone(
    module: Module, board_name: str, name: str, blocks: Sequence[Segment] | None = None
) -> Planned:
    board = boards.load_board(board_name)
    program = search(module, board, CHOICES, name=name, blocks=blocks)
    return Planned(module=module, program=program, macs=0)


def only_kernels(monkeypatch: pytest.MonkeyPatch, *wanted: str) -> None:
    """Selection sees the kernels whose names end so, and those of operators that have none."""

    def some(op: str) -> Sequence[Kernel]:
        every = kernels_for(op)
        return [kernel for kernel in every if kernel.name.endswith(wanted)] or every

    monkeypatch.setattr("codegen.search.kernels.selection.kernels_for", some)


def planned_chains(board_name: str, count: int) -> list[Planned]:
    """Random networks, each in as long blocks as can be, some of them in stripes."""
    board = boards.load_board(board_name)
    made: list[Planned] = []
    for seed in range(count):
        module = random_chain(seed, 2 + seed % 7)
        data = {id_: constant.data for id_, constant in module.constants.items()}
        binder = Binder(data, board.target)
        steps = row_steps(select(module.main, binder), binder)
        possible = sorted(segments(module.main, steps), key=lambda pair: pair[0] - pair[1])
        if possible and possible[0][1] - possible[0][0] > 1:
            start, stop = possible[0]
            stripes = min(1 + seed % 3, module.main.body[stop - 1].var.type.shape[2])
            block = Segment(start=start, stop=stop, stripes=stripes)
            made.append(planned_alone(module, board_name, f"chain{seed}", [block]))
    return made


def check_predictions(board_name: str, folder: Path) -> None:
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
    made = [planned_alone(module_of(drawn), board_name, f"shape{n}") for n, drawn in enumerate(layers)]
    for planned, measured in zip(made, run_layers(board_name, made, folder), strict=True):
        instructions = measured.result.cases[0].instructions
        predicted = planned.program.prim_funcs[0].instructions
        assert instructions
        assert predicted
        assert abs(predicted / instructions - 1) < 0.05, planned.program.name
