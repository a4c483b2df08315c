"""Windows that slide on Cortex-M: 50 calls of a random stream against each window computed whole.

A core each, as kernels, alignment and the shifting of state are its own.
"""

from pathlib import Path

import numpy as np
import pytest

from tests.commands import codegen
from tests.networks import model_path

CALLS = 50


@pytest.mark.qemu
@pytest.mark.parametrize("board", ["mps2-an385", "mps2-an386", "mps3-an547"])
def test_a_stream_on_a_core(board: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = np.random.default_rng(5).integers(-128, 128, (CALLS, 1, 1, 40), dtype=np.int8)
    np.savez(tmp_path / "stream.npz", x0=rows)
    words = ["--board", board, "--sequence", "--window", "input_1=1", "--input", tmp_path / "stream.npz"]
    assert codegen("run", model_path("separable_1d"), *words) == 0
    assert f"{CALLS} of {CALLS} inferences of one sequence equal" in capsys.readouterr().out
