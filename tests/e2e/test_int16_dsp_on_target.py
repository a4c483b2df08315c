"""DSP kernels on int16 images in models on QEMU: chosen where they can, predicted instructions.

Hundreds of random layers of each kernel on every core, at their distances too: tests/fuzz."""

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
from codegen.plan.models.bundling import together
from codegen.search import Choices, search
from tests.joining import joined
from tests.kernels.dsp.conv_layers import module_of
from tests.kernels.dsp.int16_layers import int16_layer, shaped, shaped_rows
from tests.kernels.layers import Layer

LAYERS = 18

pytestmark = pytest.mark.qemu


def run_layers(layers: Sequence[Layer], board_name: str, folder: Path) -> list[tuple[Planned, Measured]]:
    """One program of all layers: outputs as the reference's, peaks and stack as planned."""
    board = boards.load_board(board_name)
    made: list[Planned] = []
    for number, drawn in enumerate(layers):
        module = module_of(drawn)
        program = search(module, board, Choices(planner="greedy_by_size"), name=f"layer{number}")
        made.append(Planned(module=module, program=program, macs=0))
    sources = joined(emit.render(together([planned.program for planned in made])))
    emit.write(sources, folder / "build")
    image = toolchain.build(sources, folder / "build", board, optimize="speed")
    found: list[tuple[Planned, Measured]] = []
    wrong: list[str] = []
    with boards.session(image, board) as target:
        for number, planned in enumerate(made):
            rng = np.random.default_rng(number)
            shape = planned.program.inputs[0].type.shape
            ends = np.array([-32768, 32767], np.int16)
            drawn = rng.integers(-32768, 32768, shape, np.int16), rng.choice(ends, shape)
            name = planned.program.name
            cases = [Case(name=f"{name} {index}", inputs=(x,)) for index, x in enumerate(drawn)]
            answer = target.run(driver_run.request(planned.program, cases, model=number))
            found.append((planned, measure(planned, cases, answer)))
            bound = image.sizes.stack_bound_bytes
            wrong += [str(m) for m in complaints(planned, cases, found[-1][1], bound)]
    assert not wrong, "\n".join(wrong[:20])
    return found


def test_layers(tmp_path: Path) -> None:
    start = 10_000
    found = run_layers([int16_layer(seed) for seed in range(start, start + LAYERS)], "mps2-an386", tmp_path)
    kernels = [planned.program.prim_funcs[0].kernel for planned, _ in found]
    fast = [kernel for kernel in kernels if kernel.endswith("_dsp")]
    assert len(set(fast)) == 3
    assert 0.5 * LAYERS < len(fast) < LAYERS  # the others' sums or scales are too large, or they have groups


def test_predictions_hold(tmp_path: Path) -> None:
    """Of layers that count, within 5 % of what is measured."""
    layers = [
        shaped((12, 12), 32, (1, 1), 32),
        shaped((12, 13), 16, (1, 1), 19),
        shaped((24, 24), 8, (1, 1), 16),
        shaped((12, 12), 15, (1, 1), 12),
        shaped((16, 16), 8, (3, 3), 16, pad=1),
        shaped((16, 18), 16, (3, 3), 8, pad=1),
        shaped((16, 16), 3, (3, 3), 16, pad=1),
        shaped((17, 17), 3, (3, 3), 8, stride=2),
        shaped((25, 10), 1, (10, 4), 16, stride=2),
        shaped((3, 22), 32, (3, 3), 32),
        shaped((8, 166), 2, (7, 7), 8, stride=1),
        shaped_rows(1, 256, 64),
        shaped_rows(1, 100, 33),
        shaped_rows(9, 64, 32),
        shaped_rows(2, 64, 32),
    ]
    wrong: list[str] = []
    for number, (planned, measured) in enumerate(run_layers(layers, "mps2-an386", tmp_path)):
        instructions = measured.result.cases[0].instructions
        predicted = planned.program.prim_funcs[0].instructions
        assert instructions
        assert predicted
        if abs(predicted / instructions - 1) >= 0.05:
            wrong.append(f"shape {number}: {predicted} predicted, {instructions} measured")
    assert not wrong, "\n".join(wrong)
