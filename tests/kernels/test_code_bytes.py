"""Recorded bytes of code: every source is there, and as large as it compiles to."""

import importlib.util
from pathlib import Path

import pytest

from codegen import resources
from codegen.kernels.code_sizes import code_bytes, recorded

_FILE = Path(__file__).parents[2] / "benchmarks" / "code_bytes.py"


def test_every_source_is_recorded() -> None:
    """`python benchmarks/code_bytes.py` writes the table anew."""
    folder = resources.folder("runtime_c") / "kernels"
    sources = {f"kernels/{path.name}" for path in folder.iterdir() if path.suffix in (".c", ".S")}
    assert set(recorded()) == sources


@pytest.mark.qemu
def test_recorded_bytes_are_those_of_today(tmp_path: Path) -> None:
    """Within a tenth: another version of gcc may differ a little."""
    spec = importlib.util.spec_from_file_location("benchmark_code_bytes", _FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for source, size in recorded().items():
        now = module.measure(resources.folder("runtime_c") / source, tmp_path)
        assert abs(now - size) <= max(32, size // 10), source


def test_a_source_counts_once() -> None:
    assert code_bytes(["kernels/pad.c", "kernels/pad.c"]) == recorded()["kernels/pad.c"]
