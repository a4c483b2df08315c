"""Rendered folders against golden files."""

import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import codegen
from codegen.emit import render
from codegen.plan.models.joint import together
from codegen.program.interface import ConstantsMode, EntryMode, IoMode, PoolOwner
from codegen.program.program import Program
from tests.checkout import ROOT
from tests.emit import samples
from tests.emit.sized import sized
from tests.emit.variants import on_core_1, owned, stepwise

GOLDEN = Path(__file__).parent / "golden"


PROGRAMS: dict[str, Callable[[], Program]] = {
    # First those whose whole folder is held, then those that hold what differs from one of them.
    "counter_pool": samples.counter,
    "counter_external": lambda: owned(samples.counter(io=IoMode.CALLER), pools=PoolOwner.STATIC),
    "mixed_steps": lambda: stepwise(samples.mixed()),
    "bare": samples.bare,
    "lasting": samples.lasting,
    "sized": sized,
    "counter_caller": lambda: samples.counter(io=IoMode.CALLER),
    "counter_steps": lambda: stepwise(samples.counter()),
    "counter_core1": lambda: on_core_1(samples.counter(), "lut1", "mean4"),
    "counter_owned": lambda: owned(samples.counter()),
    "counter_owned_steps": lambda: owned(samples.counter(), entry=EntryMode.STEPS),
    "counter_core1_owned": lambda: owned(on_core_1(samples.counter(), "lut0", "lut1", "mean4")),
    "lasting_owned_steps": lambda: owned(samples.lasting(), entry=EntryMode.STEPS),
    "mixed_caller": samples.mixed,
    "mixed_pool": lambda: samples.mixed(io=IoMode.POOL),
    "sized_owned_steps": lambda: owned(sized(io=IoMode.CALLER), entry=EntryMode.STEPS),
    "mixed_owned": lambda: owned(samples.mixed(), constants=ConstantsMode.LINKED),
}
BASES = {
    "counter_caller": "counter_pool",
    "counter_steps": "counter_pool",
    "counter_core1": "counter_pool",
    "counter_owned": "counter_external",
    "counter_owned_steps": "counter_owned",
    "counter_core1_owned": "counter_owned",
    "lasting_owned_steps": "lasting",
    "mixed_caller": "mixed_steps",
    "mixed_pool": "mixed_steps",
    "mixed_owned": "mixed_steps",
    "sized_owned_steps": "sized",
}
"""A folder that has all files of its base holds those that differ; `copied.txt` names what is copied."""


def _no_digest(files: Iterable[tuple[str, str]]) -> bytes:
    """In place of the hash of all code, which changes with every kernel."""
    del files
    return bytes(range(32))


def _golden(name: str | None) -> dict[str, str]:
    """The files of a folder: its own over those of its base."""
    if name is None:
        return {}
    own = {str(p.relative_to(GOLDEN / name)): p for p in (GOLDEN / name).rglob("*") if p.is_file()}
    return _golden(BASES.get(name)) | {path: file.read_text() for path, file in own.items()}


def _is_copied(path: str, text: str) -> bool:
    """Whether a file of an emitted folder is one of runtime_c, or the licence, letter by letter."""
    name = Path(path).name
    sources = [ROOT / "LICENSE", *(ROOT / "runtime_c").rglob(name)]
    return path.startswith("runtime/") and any(s.name == name and s.read_text() == text for s in sources)


def _rendered(program: Program) -> dict[str, str]:
    """The generated files of a folder, and the list of those that are copied."""
    files = render(together([program])).files
    copied = [path for path, text in files.items() if _is_copied(path, text)]
    generated = {path: text for path, text in files.items() if path not in copied}
    return generated | {"copied.txt": "".join(f"{path}\n" for path in sorted(copied))}


@pytest.mark.parametrize("name", PROGRAMS)
def test_rendered_files_are_as_the_golden_ones(
    name: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codegen, "__version__", "1.2.3")  # a release changes no golden file
    monkeypatch.setattr(sys.modules["codegen.emit.render"], "digest_of", _no_digest)
    files, base, folder = _rendered(PROGRAMS[name]()), _golden(BASES.get(name)), GOLDEN / name
    if request.config.getoption("--update-golden"):
        shutil.rmtree(folder, ignore_errors=True)
        for path, text in files.items():
            if base.get(path) != text:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(text)
    assert files == _golden(name)
    again = [path for path, text in base.items() if (folder / path).exists() and files[path] == text]
    assert not again, f"held in {BASES[name]} already"
