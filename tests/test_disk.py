"""Temporary folders: commands that SIGTERM or SIGHUP ended left theirs, and nothing swept the old ones."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from codegen.disk import LOCK, sweep, temporary_folder
from tests.checkout import ROOT

_OLD_SECONDS = 3600


def _abandoned(folder: Path, name: str, *, age_seconds: int = _OLD_SECONDS) -> Path:
    left = folder / name
    (left / "files").mkdir(parents=True)
    (left / "files" / "model.c").write_text("int x;\n")
    (left / LOCK).touch()
    then = time.time() - age_seconds
    os.utime(left / LOCK, (then, then))
    return left


def test_a_folder_is_gone_after_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with temporary_folder("build") as folder:
        assert folder.is_dir() and not list(folder.iterdir())
        assert folder.parent.name.startswith("codegen-build-")
    assert not list(tmp_path.iterdir())


def test_what_a_killed_process_left_is_swept(tmp_path: Path) -> None:
    left = _abandoned(tmp_path, "codegen-build-abc")
    sweep(tmp_path)
    assert not left.exists()


def test_nothing_else_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of others: a folder in use, a young one, one without our lock, one of another name, a link."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    elsewhere = _abandoned(tmp_path / "else", "codegen-x")
    kept = [_abandoned(tmp_path, "codegen-young", age_seconds=1), _abandoned(tmp_path, "other-build")]
    (tmp_path / "codegen-mine").mkdir()
    (tmp_path / "codegen-link").symlink_to(elsewhere)
    with temporary_folder("build") as used:
        lock = used.parent / LOCK
        os.utime(lock, (0, 0))
        sweep(tmp_path)
        assert used.is_dir()
    assert all(folder.is_dir() for folder in (*kept, elsewhere, tmp_path / "codegen-mine"))


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
@pytest.mark.sampled(1)
def test_a_signal_leaves_no_folder_behind(tmp_path: Path, name: str) -> None:
    """The folders of a build, of its objects and of what the compiler wrote stayed in TMPDIR."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    (tmp_path / "gcc").write_text("#!/bin/sh\nsleep 60\n")
    (tmp_path / "gcc").chmod(0o755)
    number = getattr(signal, name)
    child = subprocess.Popen(
        [sys.executable, "-m", "codegen", "run", "--board", "host"],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "TMPDIR": str(temporary),
            "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 60
    while not list(temporary.glob("codegen-build-*")) and time.monotonic() < end:
        time.sleep(0.05)
    assert list(temporary.glob("codegen-build-*"))
    child.send_signal(number)
    _, told = child.communicate(timeout=60)
    assert (child.returncode, told) == (128 + number, f"ended by {name}\n")
    assert not list(temporary.iterdir())
