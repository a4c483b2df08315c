"""Networks on boards: which pairs the suite runs, and what every run has to show."""

from collections.abc import Collection, Sequence
from pathlib import Path

import pytest

from codegen.driver.build import Built
from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from codegen.driver.run import complaints, execute
from codegen.errors import CodegenError
from tests.e2e.models import build_file, int8_cases

MAIN_BOARDS = ("host", "mps2-an386")
"""Both hold every model."""
RISCV_BOARDS = ("qemu-virt-rv32", "qemu-virt-rv32b", "qemu-virt-rv32f", "qemu-virt-rv32v", "hifive1")
OTHER_BOARDS = (
    "netduinoplus2",
    "stm32vldiscovery",
    "mps2-an385",
    "mps2-an500",
    "mps2-an505",
    "mps3-an547",
    "microbit",
    "lm3s6965evb",
    *RISCV_BOARDS,
)
FEW = 4
"""Cases an emulated board runs in the default suite; the host and `--long` run all of them."""


def pairs(models: Sequence[str], small: Sequence[str], often: Collection[str] | None = None) -> list[object]:
    """Parameters (model, board): all pairs with `--long`, else main boards, and every board with the `small`
    models, which fit the smallest one. Those that are not `often` are run only where a run is thorough."""
    marked: list[object] = []
    for board in (*MAIN_BOARDS, *OTHER_BOARDS):
        for key in models:
            marks = [] if board == "host" else [pytest.mark.qemu]
            if board not in MAIN_BOARDS and key not in small:
                marks.append(pytest.mark.long)
            elif often is not None and key not in often:
                marks.append(pytest.mark.thorough)
            name = key.rpartition("/")[2]
            marked.append(pytest.param(key, board, marks=marks, id=f"{name}-{board}"))
    return marked


def check(path: Path, cases: tuple[Case, ...], options: Options, folder: Path, *, every_case: bool) -> None:
    """Build and run a model: outputs, peaks, guards and stack as they have to be. Skips what does not fit."""
    try:
        built: Built = build_file(path, options, folder / "build")
        if options.io_types == "int8":
            cases = int8_cases(path.stem, cases, built)
        chosen = cases if every_case else _few(cases)
        measured = execute(built, chosen)
    except CodegenError as error:
        # Too large for this board: the message must say which pool or region lacks how many bytes.
        assert error.exit_code == 4, error
        assert all("lacks" in message.text and "bytes" in message.text for message in error.messages), error
        first = error.messages[0]
        pytest.skip(f"does not fit {options.board}: {first.where} {first.text.splitlines()[0]}")
    assert complaints(built.models[0], chosen, measured, built.image.sizes.stack_bound_bytes) == []


def _few(cases: tuple[Case, ...]) -> tuple[Case, ...]:
    """Cases a, b, c and real ones, thinned where a golden holds hundreds of rows."""
    if len(cases) <= 2 * FEW:
        return cases
    return (*cases[:3], *cases[3 :: max(1, (len(cases) - 3) // FEW)])
