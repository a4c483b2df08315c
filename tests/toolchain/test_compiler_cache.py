"""The suite's ccache: it takes from each other what builds in different folders compile, C and assembly."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.program.image import Sources
from codegen.toolchain import build
from tests.toolchain import fake_model

pytestmark = pytest.mark.skipif(shutil.which("ccache") is None, reason="ccache is not installed")

ASSEMBLY = """\
    .syntax unified
    .text
    .global tiny_more
    .type tiny_more, %function
tiny_more:
    bx lr
"""


def _with_assembly(sources: Sources) -> Sources:
    path = "runtime/kernels/tiny_more.S"
    return replace(
        sources,
        files={**sources.files, path: ASSEMBLY},
        c_files=(*sources.c_files, path),
        model_files=(*sources.model_files, path),
    )


def _counts() -> tuple[int, int]:
    """(compiled, taken from the cache) so far."""
    done = subprocess.run(["ccache", "--print-stats"], capture_output=True, text=True, check=True)
    counts = dict(line.split("\t") for line in done.stdout.splitlines())
    return int(counts["cache_miss"]), int(counts["direct_cache_hit"])


def test_a_build_in_another_folder_compiles_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a word of ours, flags or files that name the folder would make each build compile all anew."""
    monkeypatch.setenv("CCACHE_DIR", str(tmp_path / "cache"))
    board = fake_model.arm_board()
    sources = _with_assembly(fake_model.sources(board))
    images: list[bytes] = []
    counts: list[tuple[int, int]] = []
    for name in ("a", "another folder", "uncached"):
        if name == "uncached":
            monkeypatch.setenv("CCACHE_DISABLE", "1")
        folder = tmp_path / name
        images.append(build(fake_model.write(sources, folder), folder, board).path.read_bytes())
        counts.append(_counts())
    compiled, taken = counts[0]
    # Four files of C and one of assembly, tiny.c with and without hooks.
    assert (compiled, taken) == (6, 0)
    assert counts[1:] == [(6, 6), (6, 6)]
    assert images[0] == images[1] == images[2]
