"""State on targets: sequences of inferences as an application runs them, against NumPy, bit by bit.
`run --sequence`: inferences one after another, state kept, each compared; on the host and on targets.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from codegen.cli.main import main
from tests.public.testdata import golden, model_path


@pytest.mark.parametrize("board", ["host", pytest.param("mps2-an386", marks=pytest.mark.qemu)])
def test_the_sequences_of_the_test_data(
    board: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """`seq_x0` and `seq_y0` of a model, as another engine recorded them without a reset in between."""
    given, step = tmp_path / "given.npz", 1 if board == "host" else 16  # some of them, through the link
    arrays = golden("tflm/hello_world_int8")
    np.savez(given, seq_x0=arrays["seq_x0"][::step], seq_y0=arrays["seq_y0"][::step])
    words = ["run", str(model_path("tflm/hello_world_int8")), "--board", board, "--sequence", "--json"]
    with pytest.raises(SystemExit) as left:
        main([*words, "--input", f"{given}:seq", "--expect", f"{given}:seq"])
    assert left.value.code in (0, None)
    run = json.loads(capsys.readouterr().out)["run"]
    assert run["sequence"] and run["cases"] == 256 // step
    assert run["outputs"][0]["matches"]
