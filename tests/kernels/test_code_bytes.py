"""Recorded bytes of code: every source is there, and as large as it compiles to."""

import importlib.util
from collections import Counter
from pathlib import Path

import pytest

from codegen import resources
from codegen.kernels.base import costs
from codegen.kernels.base.costs import CodeSection, code_bytes, recorded
from tests.checkout import ROOT

_FILE = ROOT / "benchmarks" / "code_bytes.py"


def test_every_source_is_recorded() -> None:
    """`python benchmarks/code_bytes.py` writes the table anew."""
    folder = resources.folder("runtime_c") / "kernels"
    sources = {
        f"kernels/{path.parent.name}/{path.name}"
        for path in folder.glob("*/*")
        if path.suffix in (".c", ".S")
    }
    assert {section.source for section in recorded()} == sources


@pytest.mark.qemu
def test_recorded_bytes_are_those_of_today(tmp_path: Path) -> None:
    """Each source within a tenth: another version of gcc may differ a little."""
    spec = importlib.util.spec_from_file_location("benchmark_code_bytes", _FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sizes: Counter[str] = Counter()
    for section in recorded():
        sizes[section.source] += section.size_bytes
    for source, size in sizes.items():
        found = module.measure(resources.folder("runtime_c") / source, tmp_path)
        now = sum(section.size_bytes for section in found)
        assert abs(now - size) <= max(32, size // 10), source


@pytest.mark.qemu
def test_calls_and_symbols_are_told(tmp_path: Path) -> None:
    """A function's calls of its own file are sections, those of others are symbols."""
    spec = importlib.util.spec_from_file_location("benchmark_code_bytes", _FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    source = tmp_path / "two.c"
    source.write_text(
        "int far(int); __attribute__((noinline)) static int near(int x) { return far(x) + 1; }\n"
        "int outer(int x) { return near(x) + near(-x); }\n"
    )
    near, outer = sorted(module.measure(source, tmp_path), key=lambda section: section.name)
    assert (near.name, near.symbols, near.calls) == (".text.near", (), ("far",))
    assert (outer.name, outer.symbols, outer.calls) == (".text.outer", ("outer",), (".text.near",))


SECTIONS = {
    ("kernels/a.c", ".text.a"): (100, ("a",), (".text.part", "b")),
    ("kernels/a.c", ".text.part"): (10, (), ("c",)),
    ("kernels/a.c", ".text.other"): (1000, ("other",), ()),
    ("kernels/b.c", ".text.b"): (1, ("b",), ("a", "memcpy")),
    ("kernels/c.c", ".text.c"): (5000, ("c",), ()),
}


def test_what_is_called_counts_once_and_only_in_the_sources_of_the_build(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = tuple(
        CodeSection(source=source, name=name, size_bytes=size, symbols=symbols, calls=calls)
        for (source, name), (size, symbols, calls) in SECTIONS.items()
    )
    monkeypatch.setattr(costs, "recorded", lambda: table)
    costs._by_name.cache_clear()  # pyright: ignore[reportPrivateUsage]
    try:
        assert code_bytes(["a", "b"], ["kernels/a.c", "kernels/b.c"]) == 111
        assert code_bytes(["a"], ["kernels/a.c", "kernels/b.c", "kernels/c.c"]) == 5111
        assert code_bytes(["a"], ["kernels/a.c"]) == 110
        assert code_bytes(["users_own"], ["kernels/a.c"]) == 0
    finally:
        costs._by_name.cache_clear()  # pyright: ignore[reportPrivateUsage]
