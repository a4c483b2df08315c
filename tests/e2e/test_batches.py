"""Hundreds of generated single-operator models, compiled and run, bit-equal to TFLite's reference kernels.

Many models share one program: a batch is rendered, compiled and run at once.
"""

import functools
from collections.abc import Sequence
from pathlib import Path

import pytest

from codegen import board as boards
from codegen import emit, toolchain
from codegen.driver.build import Planned, Share, plan_model
from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from codegen.driver.run import complaints, measure, request
from codegen.joint import together
from tests.joining import joined
from tests.opgen import OpCase, cases

BATCH = 40


@functools.cache
def _batches() -> list[tuple[OpCase, ...]]:
    every = tuple(case for case in cases() if case.on_targets)
    return [every[start : start + BATCH] for start in range(0, len(every), BATCH)]


def run_batch(batch: Sequence[OpCase], board_name: str, folder: Path) -> None:
    """One program of all these models on a board: outputs, peaks and stack as planned."""
    board = boards.load_board(board_name)
    options = Options(board=board_name, optimize="size")
    planned: list[Planned] = []
    for case in batch:
        path = folder / f"{case.name}.tflite"
        path.write_bytes(case.model)
        planned.append(plan_model(path, board, options, share=Share(name=case.name), emulated=True))
    sources = joined(emit.render(together([model.program for model in planned])))
    emit.write(sources, folder / "build")
    image = toolchain.build(sources, folder / "build", board, optimize="size")
    given = [_cases(case) for case in batch]
    with boards.session(image, board) as target:
        results = [
            target.run(request(plan.program, inputs, model=model))
            for model, (plan, inputs) in enumerate(zip(planned, given, strict=True))
        ]
    wrong: list[str] = []
    for plan, inputs, result in zip(planned, given, results, strict=True):
        measured = measure(plan, inputs, result)
        wrong += [str(m) for m in complaints(plan, inputs, measured, image.sizes.stack_bound_bytes)]
    assert not wrong, "\n".join(wrong[:20])


def _cases(case: OpCase) -> list[Case]:
    return [
        Case(name=f"{case.name} {i}", inputs=tuple(x), expected=tuple(y))
        for i, (x, y) in enumerate(zip(case.inputs, case.expected, strict=True))
    ]


def _shares(share: int) -> list[object]:
    """Of every batch one part of `share` (all operators occur in each), together in programs of `BATCH`; all
    of them: --long."""
    batches = _batches()
    every = tuple(case for number, batch in enumerate(batches) for case in batch[number % share :: share])
    named = [(f"share{start}", every[start : start + BATCH], ()) for start in range(0, len(every), BATCH)]
    named += [(str(number), batch, (pytest.mark.long,)) for number, batch in enumerate(batches)]
    return [pytest.param(batch, id=name, marks=marks) for name, batch, marks in named]


@pytest.mark.parametrize("batch", _shares(5))
@pytest.mark.sampled(1)
def test_batch_on_host(batch: Sequence[OpCase], tmp_path: Path) -> None:
    run_batch(batch, "host", tmp_path)


@pytest.mark.qemu
@pytest.mark.parametrize("batch", _shares(15))
@pytest.mark.sampled(1)
def test_batch_on_qemu(batch: Sequence[OpCase], tmp_path: Path) -> None:
    run_batch(batch, "mps2-an386", tmp_path)


def test_there_are_enough_of_them() -> None:
    every = [case for batch in _batches() for case in batch]
    assert len(every) >= 500
    assert len({case.operator for case in every}) >= 21
