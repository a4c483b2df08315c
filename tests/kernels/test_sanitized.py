"""No kernel reads or writes a byte outside its buffers: AddressSanitizer watches, in a child process."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.checkout import ROOT


def _sanitizer() -> str:
    found = subprocess.run(
        ["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if not Path(found).is_absolute():
        pytest.skip("gcc has no AddressSanitizer here")
    return found


def _child(library: Path, layers: int, code: str | None = None) -> subprocess.CompletedProcess[str]:
    program = ["-c", code] if code else ["-m", "tests.kernels.sanitized"]
    environment = {**os.environ, "LD_PRELOAD": _sanitizer(), "ASAN_OPTIONS": "detect_leaks=0"}
    return subprocess.run(
        [sys.executable, *program, str(library), str(layers)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def sanitized(compiled: Callable[..., Path]) -> Path:
    return compiled("sanitized", "-fsanitize=address", "-g")


def test_kernels_stay_inside_their_buffers(sanitized: Path) -> None:
    done = _child(sanitized, 60)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout == "all layers ran\n"


def test_a_read_behind_a_buffer_is_caught(sanitized: Path) -> None:
    # A call with a count one too large: proof that the watch works.
    code = (
        "import sys; from pathlib import Path; from dataclasses import replace\n"
        "from codegen.ir import DType; from codegen.kernels.call import LiteralArg\n"
        "from tests.kernels.builders import random_layer; from tests.kernels.calling import Library, bind\n"
        "layer = random_layer('RELU', DType.INT8, 0); function = bind(layer)\n"
        "count = LiteralArg(value=layer.let.var.type.elements + 1)\n"
        "function = replace(function, call_args=(*function.call_args[:3], count))\n"
        "Library(Path(sys.argv[1]), poison=True).run(function, layer, paint=0)\n"
    )
    done = _child(sanitized, 1, code)
    assert done.returncode != 0
    assert "AddressSanitizer" in done.stderr
