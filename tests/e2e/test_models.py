"""Networks, whole path: file to C to machine code, outputs equal to an independent engine's goldens.

In the same run: the measured peak of each pool equals the plan, guards are untouched, both paints give the
same outputs, the stack stays within its static bound.
"""

from pathlib import Path

import pytest

from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from codegen.driver.run import complaints, execute
from codegen.errors import CodegenError
from codegen.program.interface import IoMode
from codegen.toolchain import Optimize
from tests.e2e.models import ALL_MODELS, EDGED_MODELS, build_model, golden_cases, int8_cases

MAIN_BOARDS = ("host", "mps2-an386")
"""Both hold every model, so `make test` runs every model on two boards."""
SMALL_MODELS = ("dense_chain", "speech")
"""Two models that fit the smallest board, so every board runs two."""
OTHER_BOARDS = (
    "netduinoplus2",
    "stm32vldiscovery",
    "mps2-an385",
    "mps2-an500",
    "mps2-an505",
    "mps3-an547",
    "microbit",
    "lm3s6965evb",
)
FEW = 4
"""Cases an emulated board runs in the default suite; the host and `--long` run all of them."""


def _pairs() -> list[object]:
    marks = {"host": ()}
    pairs: list[object] = []
    for board in (*MAIN_BOARDS, *OTHER_BOARDS):
        for key in ALL_MODELS:
            own = list(marks.get(board, (pytest.mark.qemu,)))
            if board not in MAIN_BOARDS and key not in SMALL_MODELS:
                own.append(pytest.mark.long)
            pairs.append(pytest.param(key, board, marks=own, id=f"{key}-{board}"))
    return pairs


def _check(key: str, options: Options, folder: Path, *, every_case: bool) -> None:
    try:
        built = build_model(key, options, folder / "build")
        cases = golden_cases(key)
        if options.io_types == "int8":
            cases = int8_cases(key, cases, built)
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


@pytest.mark.parametrize(("key", "board"), _pairs())
def test_model_on_board(key: str, board: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    every = board == "host" or bool(request.config.getoption("--long"))
    _check(key, Options(board=board), tmp_path, every_case=every)


@pytest.mark.parametrize("board", MAIN_BOARDS)
@pytest.mark.parametrize("key", EDGED_MODELS)
def test_int8_edges(key: str, board: str, tmp_path: Path) -> None:
    _check(key, Options(board=board, io_types="int8"), tmp_path, every_case=True)


@pytest.mark.parametrize("io", [IoMode.CALLER, IoMode.POOL])
@pytest.mark.parametrize("optimize", ["size", "speed"])
def test_other_options_give_the_same_outputs(io: IoMode, optimize: Optimize, tmp_path: Path) -> None:
    options = Options(board="host", io=io, optimize=optimize, keep_inputs=io is IoMode.POOL)
    _check("ds_cnn", options, tmp_path, every_case=True)


@pytest.mark.covering
@pytest.mark.parametrize("optimize", ["size", "speed"])
@pytest.mark.parametrize("key", ["resnet8", "mobilenet_v2", "mobilenet_v1_float"])
def test_arm_code_is_free_of_warnings_at_every_level(key: str, optimize: Optimize, tmp_path: Path) -> None:
    """gcc runs with -Werror and the whole warning set; -O2 is what the other tests build with."""
    built = build_model(key, Options(board="mps2-an386", optimize=optimize), tmp_path / "build")
    assert built.image.sizes.stack_bound_bytes


@pytest.mark.parametrize("planner", ["greedy_by_size", "greedy_by_conflicts", "hill_climb"])
def test_every_planner(planner: str, tmp_path: Path) -> None:
    _check(
        "resnet8",
        Options(board="host", planner=planner),
        tmp_path,
        every_case=True,
    )
