"""Many layers, each a model of its own, in one image on a Cortex-M3."""

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
from codegen.toolchain import Optimize
from tests.joining import joined

BOARD = "mps2-an385"
CHOICES = Choices(planner="greedy_by_size")


def planned(module: Module, name: str, blocks: Sequence[Segment] | None = None) -> Planned:
    """`module` planned for the board, in these blocks."""
    program = search(module, boards.load_board(BOARD), CHOICES, name=name, blocks=blocks)
    return Planned(module=module, program=program, macs=0)


def run(made: Sequence[Planned], folder: Path, optimize: Optimize = "speed") -> list[Measured]:
    """Every model on two images, one of them of extremes: results equal the NumPy reference, peaks the plan,
    two paints agree, guards hold."""
    board = boards.load_board(BOARD)
    sources = joined(emit.render(together([one.program for one in made])))
    emit.write(sources, folder / "build")
    image = toolchain.build(sources, folder / "build", board, optimize=optimize)
    bound = image.sizes.stack_bound_bytes
    found: list[Measured] = []
    wrong: list[str] = []
    with boards.session(image, board) as target:
        for number, one in enumerate(made):
            rng = np.random.default_rng(number)
            shape = one.program.inputs[0].type.shape
            drawn = rng.integers(-128, 128, shape, np.int8), rng.choice(np.array([-128, 127], np.int8), shape)
            name = one.program.name
            cases = [Case(name=f"{name} {index}", inputs=(x,)) for index, x in enumerate(drawn)]
            request = driver_run.request(one.program, cases, model=number)
            found.append(measure(one, cases, target.run(request)))
            wrong += [str(m) for m in complaints(one, cases, found[-1], bound)]
    assert not wrong, "\n".join(wrong[:20])
    return found


def only(monkeypatch: pytest.MonkeyPatch, *wanted: str) -> None:
    """Selection sees the kernels whose names end so, and those of operators that have none."""

    def some(op: str) -> Sequence[Kernel]:
        every = kernels_for(op)
        return [kernel for kernel in every if kernel.name.endswith(wanted)] or every

    monkeypatch.setattr("codegen.search.kernels.selection.kernels_for", some)
