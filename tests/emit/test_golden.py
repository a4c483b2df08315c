"""Rendered folders against golden files."""

import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import codegen
from codegen.emit import render
from codegen.joint import together
from codegen.program.interface import ConstantsMode, EntryMode, IoMode, PoolOwner
from codegen.program.program import Program
from tests.checkout import ROOT
from tests.emit import samples
from tests.emit.golden_folders import applied, difference, golden, held, holding, update
from tests.emit.sized import sized
from tests.emit.variants import on_core_1, owned, stepwise

PROGRAMS: dict[str, Callable[[], Program]] = {
    # A base comes before those that hold what they change of it.
    "counter_caller": lambda: samples.counter(io=IoMode.CALLER),
    "counter_pool": samples.counter,
    "counter_external": lambda: owned(samples.counter(io=IoMode.CALLER), pools=PoolOwner.STATIC),
    "bare": samples.bare,
    "lasting": samples.lasting,
    "sized": sized,
    "counter_steps": lambda: stepwise(samples.counter()),
    "counter_core1": lambda: on_core_1(samples.counter(), "lut1", "mean4"),
    "counter_owned": lambda: owned(samples.counter()),
    "counter_owned_steps": lambda: owned(samples.counter(), entry=EntryMode.STEPS),
    "counter_core1_owned": lambda: owned(on_core_1(samples.counter(), "lut0", "lut1", "mean4")),
    "lasting_owned_steps": lambda: owned(samples.lasting(), entry=EntryMode.STEPS),
    "mixed_caller": samples.mixed,
    "mixed_steps": lambda: stepwise(samples.mixed()),
    "mixed_pool": lambda: samples.mixed(io=IoMode.POOL),
    "sized_owned_steps": lambda: owned(sized(io=IoMode.CALLER), entry=EntryMode.STEPS),
    "mixed_owned": lambda: owned(samples.mixed(), constants=ConstantsMode.LINKED),
}


def _no_digest(files: Iterable[tuple[str, str]]) -> bytes:
    """In place of the hash of all code, which changes with every kernel."""
    del files
    return bytes(range(32))


GATHERED = ("bare",)
"""Folders whose kernels are held too; others hold the names of the files."""


def _is_copied(path: str, text: str) -> bool:
    """Whether a file of an emitted folder is one of runtime_c, or the licence, letter by letter."""
    name = Path(path).name
    sources = [ROOT / "LICENSE", *(ROOT / "runtime_c").rglob(name)]
    return any(s.name == name and s.read_text() == text for s in sources)


def _rendered(name: str) -> dict[str, str]:
    """The generated files of a folder, and the list of those that are copied or gathered."""
    files = render(together([PROGRAMS[name]()])).files
    copied = [
        path
        for path, text in files.items()
        if _is_copied(path, text) or (("_kernels." in path or "_assembly." in path) and name not in GATHERED)
    ]
    generated = {path: text for path, text in files.items() if path not in copied}
    return generated | {"copied.txt": "".join(f"{path}\n" for path in sorted(copied))}


@pytest.mark.parametrize("name", PROGRAMS)
def test_rendered_files_are_as_the_golden_ones(
    name: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codegen, "__version__", "1.2.3")  # a release changes no golden file
    monkeypatch.setattr(sys.modules["codegen.emit.render"], "digest_of", _no_digest)
    files = _rendered(name)
    if request.config.getoption("--update-golden"):
        update(name, files)
    expected = golden(name)
    changes = (
        difference(expected.get(path, ""), files.get(path, ""), f"golden/{path}", f"rendered/{path}")
        for path in expected | files
    )
    assert files == expected, "\n" + "".join(changes)
    assert held(name).keys() == holding(name, files).keys(), "held at length, or held though as the base's"


@pytest.mark.parametrize("name", PROGRAMS)
def test_files_point_to_files_of_the_folder_alone(name: str) -> None:
    """`<model>_data.h` said "see cg_constants.h", which the gathered folder does not have."""
    files = render(together([PROGRAMS[name]()])).files
    names = {Path(path).name for path in files}
    texts = {path: text for path, text in files.items() if not path.startswith("firmware/")}
    told = {
        path: re.findall(r"\bcg_\w+\.(?:c|h|S|inc)\b|\w+\.(?:S|inc)\b", text) for path, text in texts.items()
    }
    assert {path: words for path, words in told.items() if not names.issuperset(words)} == {}


OLD = "a\nb\n\nd\ne\nf\n"


@pytest.mark.parametrize(
    ("new", "changes"),
    [
        (OLD, ""),
        ("", "--- old\n+++ new\n@@ -1,6 +0,0 @@\n-a\n-b\n-\n-d\n-e\n-f\n"),
        ("a\nb\n\nD\ne\nf\n", "--- old\n+++ new\n@@ -3,3 +3,3 @@\n\n-d\n+D\n e\n"),
        (f"-- x\n{OLD}++ y\n", "--- old\n+++ new\n@@ -1 +1,2 @@\n+-- x\n a\n@@ -6 +7,2 @@\n f\n+++ y\n"),
    ],
)
def test_a_difference_gives_the_whole_text(new: str, changes: str) -> None:
    assert difference(OLD, new, "old", "new") == changes
    assert applied(changes, OLD) == new


@pytest.mark.parametrize(
    ("changes", "line"),
    [("@@ -3,3 +3,3 @@\n\n-c\n e", 4), ("@@ -6 +6,2 @@\n f\n e\n", 7), ("@@ -1 +1 @@\nx", 1)],
)
def test_a_difference_to_another_text_is_told(changes: str, line: int) -> None:
    with pytest.raises(ValueError, match=rf"\+\+\+ new: line {line} of the base is not that of"):
        applied(f"--- old\n+++ new\n{changes}\n", OLD)
