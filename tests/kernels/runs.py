"""Many small networks in one firmware on QEMU: results equal the NumPy reference, peaks the plan.

In the same run guards hold and two paints agree.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest

from codegen import board as boards
from codegen import emit, toolchain
from codegen.driver.build import Planned, Share, plan_model
from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from codegen.driver.run import Measured, complaints, measure, request
from codegen.errors import CodegenError
from codegen.ir import DType, Let, Module
from codegen.joint import together
from codegen.kernels import kernels_of_step
from codegen.kernels.base.registry import Kernel
from codegen.kernels.rows import Grid
from codegen.search import Choices, Segment, search
from codegen.search.blocks.row_blocks import row_steps
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.selection import select
from codegen.toolchain import Optimize
from tests.joining import joined
from tests.kernels.dsp.conv_layers import conv_layer, module_of, shaped_layer
from tests.search.chains import random_chain, segments

CHOICES = Choices(planner="greedy_by_size")

SHAPES = (
    shaped_layer(image=(12, 12, 64), kernel=(1, 1), outputs=64),
    shaped_layer(image=(12, 12, 32), kernel=(1, 1), outputs=19),
    shaped_layer(image=(24, 24, 8), kernel=(1, 1), outputs=16),
    shaped_layer(image=(12, 12, 30), kernel=(1, 1), outputs=27),
    shaped_layer(image=(16, 16, 16), kernel=(3, 3), outputs=16, pad=1),
    shaped_layer(image=(32, 32, 3), kernel=(3, 3), outputs=16, pad=1),
    shaped_layer(image=(33, 33, 3), kernel=(3, 3), outputs=8, stride=2),
    shaped_layer(image=(49, 10, 1), kernel=(10, 4), outputs=64, stride=2),
)
"""Layers that count."""


def planned_alone(
    module: Module,
    board_name: str,
    name: str,
    blocks: Sequence[Segment] | None = None,
    choices: Choices = CHOICES,
) -> Planned:
    """`module` planned for the board, in these blocks."""
    program = search(module, boards.load_board(board_name), choices, name=name, blocks=blocks)
    return Planned(module=module, program=program, macs=0)


def run_cases(
    made: Sequence[Planned],
    cases: Sequence[Sequence[Case]],
    board_name: str,
    folder: Path,
    optimize: Optimize = "speed",
    *,
    sequence: bool = False,
) -> list[Measured]:
    """All networks in one program, each on its cases; of a sequence state is kept from case to case."""
    board = boards.load_board(board_name)
    sources = joined(emit.render(together([planned.program for planned in made])))
    emit.write(sources, folder / "build")
    image = toolchain.build(sources, folder / "build", board, optimize=optimize)
    found: list[Measured] = []
    wrong: list[str] = []
    with boards.session(image, board) as target:
        for number, (planned, own) in enumerate(zip(made, cases, strict=True)):
            asked = request(planned.program, own, model=number, sequence=sequence)
            found.append(measure(planned, own, target.run(asked)))
            wrong += [str(m) for m in complaints(planned, own, found[-1], image.sizes.stack_bound_bytes)]
    assert not wrong, "\n".join(wrong[:20])
    return found


def run_planned(made: Sequence[Planned], board_name: str, folder: Path) -> list[Measured]:
    """All networks, each on two images, one of them of extremes."""
    cases: list[list[Case]] = []
    for number, planned in enumerate(made):
        rng = np.random.default_rng(number)
        image = planned.program.signature.inputs[0].type
        kind = np.int16 if image.dtype is DType.INT16 else np.int8
        low, high = np.iinfo(kind).min, np.iinfo(kind).max
        drawn = (
            rng.integers(low, high + 1, image.shape, kind),
            rng.choice(np.array([low, high], kind), image.shape),
        )
        name = planned.program.name
        cases.append([Case(name=f"{name} {index}", inputs=(x,)) for index, x in enumerate(drawn)])
    return run_cases(made, cases, board_name, folder)


def run_files(
    files: Iterable[tuple[bytes, Sequence[Case]]], options: Options, folder: Path
) -> list[tuple[Planned, Measured]]:
    """All `.tflite` files in one program, each on its cases."""
    board = boards.load_board(options.board)
    made: list[Planned] = []
    given: list[Sequence[Case]] = []
    for number, (data, cases) in enumerate(files):
        path = folder / f"m{number}.tflite"
        path.write_bytes(data)
        made.append(plan_model(path, board, options, share=Share(name=f"m{number}"), emulated=True))
        given.append(cases)
    return list(zip(made, run_cases(made, given, options.board, folder, options.optimize), strict=True))


def only_kernels(monkeypatch: pytest.MonkeyPatch, *wanted: str) -> None:
    """Selection sees the kernels whose names end so, and those of operators that have none."""

    def some(let: Let) -> Sequence[Kernel]:
        every = kernels_of_step(let)
        return [kernel for kernel in every if kernel.name.endswith(wanted)] or every

    monkeypatch.setattr("codegen.search.kernels.binding.kernels_of_step", some)


def planned_layers(board_name: str, seeds: Iterable[int]) -> list[Planned]:
    """Random convolutions, those that the kernels to be seen take."""
    made: list[Planned] = []
    for seed in seeds:
        try:
            made.append(planned_alone(module_of(conv_layer(seed)), board_name, f"layer{seed}"))
        except CodegenError as error:  # groups and dilated columns, which only the portable kernels have
            assert "is for one group" in str(error) or "without dilation" in str(error)
    return made


def planned_chain(
    module: Module, board_name: str, seed: int, *, least: int = 1, choices: Choices = CHOICES
) -> Planned | None:
    """The network with as long a block as can be, some of them in stripes; None: none is longer than
    `least`."""
    data = {id_: constant.data for id_, constant in module.constants.items()}
    binder = Binder(data, boards.load_board(board_name).target)
    steps = row_steps(select(module.main, binder), binder)
    start, stop = max(segments(module.main, steps), key=lambda pair: pair[1] - pair[0], default=(0, 0))
    if stop - start <= least:
        return None
    stripes = min(1 + seed % 3, module.main.body[stop - 1].var.type.shape[2])
    block = Segment(start=start, stop=stop, grid=Grid(stripes=stripes))
    return planned_alone(module, board_name, f"chain{seed}", [block], choices)


def planned_chains(board_name: str, count: int) -> list[Planned]:
    """Random networks, each in as long blocks as can be."""
    made = [planned_chain(random_chain(seed, 2 + seed % 7), board_name, seed) for seed in range(count)]
    return [planned for planned in made if planned]


def check_predictions(made: Sequence[Planned], measured: Sequence[Measured], *, percent: int = 5) -> None:
    """Instructions of layers that count are within `percent` of what is measured."""
    for planned, found in zip(made, measured, strict=True):
        instructions = found.result.cases[0].instructions
        predicted = sum(prim.instructions or 0 for prim in planned.program.steps.prim_funcs)
        assert instructions
        assert predicted
        assert abs(predicted / instructions - 1) * 100 < percent, (
            planned.program.name,
            predicted,
            instructions,
        )
