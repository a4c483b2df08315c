"""Two models built once for the Cortex-M4 of QEMU, what packages of them print, and a start-up for these."""

from pathlib import Path

import pytest

from codegen.driver.build import build
from codegen.driver.options import Options
from tests.checkout import ROOT
from tests.tools.packages.bare import BOARD, Bare, expected

MODELS = {
    "digits": (ROOT / "examples" / "digits" / "digits.tflite", "odds"),
    "tone": (ROOT / "examples" / "two_models" / "tone.tflite", "scores"),
}


@pytest.fixture(scope="session")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a build of both."""
    folder = tmp_path_factory.mktemp("packages") / "two"
    build([path for path, _ in MODELS.values()], Options(board=BOARD, optimize="size"), folder, emulated=True)
    return folder


@pytest.fixture(scope="session")
def lines() -> list[str]:
    """What every example of both prints."""
    return [expected(path, name, output) for name, (path, output) in MODELS.items()]


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Bare:
    return Bare(tmp_path_factory.mktemp("bare"))
