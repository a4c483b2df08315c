import fcntl
import os
from collections.abc import Callable, Collection, Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.kernels.calling import Library, compile_library, sources

Compiled = Callable[..., Path]


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Compiled:
    """(name, *flags, only=names of files) -> the kernels, or some of them, as a shared object, compiled once
    for all processes of a run."""
    chosen = [file for file in sources() if fnmatch(file.name, str(pytestconfig.getoption("--kernels")))]
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "kernel-libraries"
    folder.mkdir(exist_ok=True)

    def compile_once(name: str, *flags: str, only: Collection[str] | None = None) -> Path:
        files = [file for file in chosen if only is None or file.name in only]
        library = folder / f"{name}.so"
        with (folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not library.exists():
                compile_library(folder / f"{name}.new", *flags, files=files).replace(library)
        return library

    return compile_once


@pytest.fixture(scope="session")
def library(compiled: Compiled) -> Library:
    """The kernels with undefined behaviour reported; `no_reports` turns a report into a failure."""
    return Library(compiled("undefined", "-fsanitize=undefined"))


@pytest.fixture
def no_reports(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Fails a test in which a kernel did something undefined."""
    yield
    assert "runtime error" not in capfd.readouterr().err
