"""`run --port`: a board with the firmware of this build, or of another one."""

import shutil
from collections.abc import Callable, Generator
from pathlib import Path

import numpy as np
import pytest

from codegen.board.qemu import running
from codegen.cli.main import main
from codegen.driver.build import build
from codegen.driver.example import example_model
from codegen.driver.options import Options
from codegen.errors import ExitCode
from tests.board.test_target import forwarding

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


def test_the_build_that_is_on_the_board(
    call: Call, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    np.savez(tmp_path / "x.npz", x0=np.zeros((1, 8, 8, 1), np.int8))
    assert call("run", "--input", str(tmp_path / "x.npz")) == ExitCode.OK
    said = capsys.readouterr()
    assert "outputs   1 of 1 cases equal to the NumPy reference" in said.out
