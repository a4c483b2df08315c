"""The same model gives the same bytes: from two folders, two hash seeds, two users."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tests.testdata import model_path


def _build(folder: Path, board: str, seed: str, user: str) -> dict[str, bytes]:
    folder.mkdir(parents=True)
    environment = {
        **os.environ,
        "PYTHONHASHSEED": seed,
        "PYTHONPATH": str(ROOT),
        "HOME": str(folder),
        "USER": user,
        "LOGNAME": user,
        "TZ": "Asia/Tokyo" if user == "alice" else "UTC",
    }
    words = ["build", str(model_path("mlperf_tiny/kws_ref_model")), "--board", board, "-o", "made", "--quiet"]
    subprocess.run([sys.executable, "-m", "codegen", *words], cwd=folder, env=environment, check=True)
    made = folder / "made"
    return {
        str(path.relative_to(made)): path.read_bytes() for path in sorted(made.rglob("*")) if path.is_file()
    }


@pytest.mark.usefixtures("uncached")
@pytest.mark.parametrize("board", ["host", pytest.param("netduinoplus2", marks=pytest.mark.qemu)])
def test_two_builds_are_equal(board: str, tmp_path: Path) -> None:
    first = _build(tmp_path / "a", board, "1", "alice")
    second = _build(tmp_path / "some" / "other" / "place", board, "2", "bob")
    assert list(first) == list(second)
    # The report too: the planner's time was in it, and two builds differed.
    different = [name for name in first if first[name] != second[name]]
    assert different == []
    assert not [name for name, data in first.items() if str(tmp_path).encode() in data]
