"""Nasty files in a child process with 512 MiB of address space: refused, never a crash or a traceback."""

import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.importers import limits
from codegen.importers.tflite.writing.writer import ModelBuilder
from tests.checkout import ROOT
from tests.importers.hostile import shared_tables
from tests.importers.samples import Patch, everything, one_op, written

CHILD = """
import resource, sys
from pathlib import Path
from typing import Any
resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))
from codegen.errors import CodegenError
from codegen.importers import load
try:
    load(Path(sys.argv[1]))
except CodegenError as error:
    print(error.messages[0])
    sys.exit(int(error.exit_code))
"""


def _run(path: Path) -> tuple[int, str]:
    """Exit code and output; the timeout is there to end a hang, it measures nothing."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", CHILD, str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout


def _huge_shapes() -> bytes:
    patch = Patch(everything())
    for name in ("q", "c", "d", "c/w"):
        for axis in range(4):
            patch.element(patch.tensor(name), 0, axis, "<i", 2**31 - 1)
    return patch.build()


def _huge_paddings() -> bytes:
    return one_op("PAD", (2, 2), (2, 2), ([[0, 2**31 - 1], [2**31 - 1, 0]],))


def _huge_strides() -> bytes:
    huge = 2**31 - 1
    sizes: dict[str, Any] = {"stride_w": huge, "stride_h": huge, "filter_width": huge, "filter_height": huge}
    return one_op("AVERAGE_POOL_2D", (1, 4, 4, 1), (1, 1, 1, 1), padding="SAME", activation="tanh", **sizes)


def _zeros_behind_the_magic() -> bytes:
    return struct.pack("<I", 8) + b"TFL3" + bytes(100 << 20)


FILES: dict[str, Callable[[], bytes]] = {
    "many_tensors": lambda: shared_tables(
        tensors=limits.MAX_TENSORS, buffers=limits.MAX_BUFFERS, name_bytes=2000
    ),
    "many_operators": lambda: shared_tables(
        tensors=2, operators=limits.MAX_OPERATORS, codes=limits.MAX_OPERATOR_CODES
    ),
    "many_operands": lambda: shared_tables(tensors=2, operators=4000, inputs=4000),
    "many_scales": lambda: shared_tables(tensors=8000, channels=100_000),
    "long_names": lambda: shared_tables(tensors=8000, name_bytes=60_000),
    "name_too_long": lambda: shared_tables(name_bytes=limits.MAX_NAME_BYTES + 1),
    "too_many_tensors": lambda: shared_tables(tensors=limits.MAX_TENSORS + 1),
    "too_many_subgraphs": lambda: shared_tables(subgraphs=limits.MAX_SUBGRAPHS + 1),
    "rank": lambda: shared_tables(tensors=2, rank=limits.MAX_RANK + 1),
    "large_buffers": lambda: shared_tables(tensors=2, buffers=limits.MAX_BUFFERS, buffer_bytes=100 << 20),
    "huge_shapes": _huge_shapes,
    "huge_paddings": _huge_paddings,
    "huge_strides": _huge_strides,
    "zeros": _zeros_behind_the_magic,
}
EXPECTED = {
    "many_operands": "E305",
    "many_scales": "E305",
    "name_too_long": "E305",
    "too_many_tensors": "E305",
    "too_many_subgraphs": "E305",
    "rank": "E305",
    "huge_shapes": "E305",
    "huge_strides": "E301",
}


@pytest.mark.parametrize("name", sorted(FILES))
def test_nasty_file(tmp_path: Path, name: str) -> None:
    code, text = _run(written(tmp_path, f"{name}.tflite", FILES[name]()))
    assert code == 3, text
    assert text.startswith(f"error[{EXPECTED.get(name, 'E3')}")


def test_large_honest_model_fits(tmp_path: Path) -> None:
    """Constants of nearly the largest file: held once as the file, once as the module's own."""
    model = ModelBuilder()
    x, y = model.tensor("x", (1, 1000), "float32"), model.tensor("y", (1, 30_000), "float32")
    weights = model.tensor("w", (30_000, 1000), "float32", data=np.zeros((30_000, 1000), np.float32))
    model.op("FULLY_CONNECTED", [x, weights], [y])
    model.inputs(x)
    model.outputs(y)
    code, text = _run(written(tmp_path, "large.tflite", model.build()))
    assert (code, text) == (0, "")
