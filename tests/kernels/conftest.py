from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernels.calling import Library, compile_library


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The kernels with undefined behaviour reported; `no_reports` turns a report into a failure."""
    folder: Path = tmp_path_factory.mktemp("kernels")
    return Library(compile_library(folder / "kernels.so", "-fsanitize=undefined"))


@pytest.fixture
def no_reports(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Fails a test in which a kernel did something undefined."""
    yield
    assert "runtime error" not in capfd.readouterr().err
