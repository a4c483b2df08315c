"""`run --port`: a board with the firmware of this build, or of another one."""

import json
import shutil
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.board.machines.qemu import running
from codegen.cli.main import main
from codegen.driver.build import build
from codegen.driver.example import example_model
from codegen.driver.options import Options
from codegen.errors import ExitCode
from tests.board.link.test_linked_board import forwarding

pytestmark = pytest.mark.qemu

Call = Callable[..., int]


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Generator[Call]:
    """`codegen` with a port behind which a board runs the example, built with the flags that are default."""
    folder = tmp_path_factory.mktemp("port") / "b"
    built = build([example_model()], Options(board="mps2-an386"), folder)
    with running(built.board, built.image.path) as emulator:

        def call(*words: str) -> int:
            with forwarding(emulator.port) as url, pytest.raises(SystemExit) as left:
                main([*words, "--board", "mps2-an386", "--port", url])
            return int(str(left.value.code))

        yield call


@pytest.mark.parametrize("flags", [("--optimize", "size"), ("--pool", "psram=0")], ids=["optimize", "pool"])
def test_another_build_of_the_same_model(
    flags: tuple[str, ...], call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    """Figures of the wrong binary were reported, the plan blamed (exit 8), or a ValueError shown."""
    assert call("run", *flags) == ExitCode.TARGET
    said = capsys.readouterr()
    assert said.out == "" and "error[E615] mps2-an386: another build is on the board: build " in said.err


def test_several_models_against_firmware_of_one(
    call: Call, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """It was a traceback: ValueError, the image has 1 models."""
    twin = tmp_path / "twin.tflite"
    shutil.copyfile(example_model(), twin)
    assert call("run", str(example_model()), str(twin)) == ExitCode.TARGET
    assert "error[E615] mps2-an386: another build is on the board" in capsys.readouterr().err


def _zeros(folder: Path) -> str:
    np.savez(folder / "x.npz", x0=np.zeros((1, 8, 8, 1), np.int8))
    return str(folder / "x.npz")


def _report(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "report.json").read_text())


def test_every_step_is_counted_on_the_board(
    call: Call, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A port gave neither a speed line nor any figure of a step. Behind this one is an emulator, so
    ticks of its counter are told as cycles, and each is so many instructions of QEMU's own run."""
    out, arrays = tmp_path / "out", _zeros(tmp_path)
    assert call("run", "--input", arrays, "--steps", "-o", str(out)) == ExitCode.OK
    shown, board = capsys.readouterr().out, _report(out)
    with pytest.raises(SystemExit) as left:
        main(["run", "--board", "mps2-an386", "--input", arrays, "--steps", "-o", str(tmp_path / "qemu")])
    assert left.value.code in (0, None)
    emulated, qemu_shown = _report(tmp_path / "qemu"), capsys.readouterr().out
    assert "outputs   1 of 1 cases equal to the NumPy reference" in shown
    cycles, instructions = board["run"]["cycles"], emulated["run"]["instructions"]
    tick = emulated["run"]["instructions_resolution"]
    assert abs(cycles * tick - instructions) <= 2 * tick and board["run"]["instructions"] is None
    assert f"speed     {cycles:,} cycles an inference (" in shown
    assert f"speed     {instructions:,} instructions an inference (" in qemu_shown
    for one, other in zip(board["steps"], emulated["steps"], strict=True):
        assert one["instructions"] is None and other["cycles"] is None
        if other["instructions"] is None:  # a view: no code
            assert one["cycles"] is None
            continue
        assert abs(one["cycles"] * tick - other["instructions"]) <= 2 * tick
        for text, count in ((shown, one["cycles"]), (qemu_shown, other["instructions"])):
            assert any(f" {count:,} " in row and f" {one['op']} " in row for row in text.splitlines())
    total = sum(step["cycles"] or 0 for step in board["steps"])
    assert abs(total - cycles) <= 4 * len(board["steps"]) and f" {total:,} " in shown


def test_an_alias_of_a_board_makes_no_other_build(tmp_path: Path) -> None:
    """`build --board stm32`, then `run --board netduinoplus2 --port`: that firmware is on the board."""
    asked = ("stm32", "netduinoplus2")
    built = [build([example_model()], Options(board=name), tmp_path / name) for name in asked]
    assert len({each.image.build_sha256 for each in built}) == 1


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            ("--board", "host"),
            "nothing counts instructions or cycles on board host\nhelp: leave --steps out",
        ),
        (
            ("--board", "mps2-an505", "--sandbox"),
            "nothing is counted with --sandbox\nhelp: leave --sandbox out, or take",
        ),
    ],
    ids=["host", "sandbox"],
)
def test_steps_where_nothing_counts(
    words: tuple[str, ...], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["run", *words, "--steps"])
    assert left.value.code == ExitCode.USAGE
    assert f"error[E229] --steps: {text}" in capsys.readouterr().err
