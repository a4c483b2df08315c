"""`run --cycles`: what the plugin counts is what the target's own counter says; waits for a part's flash.
No recorded figure gets worse: benchmarks/results/models.csv against what this checkout builds.

Deterministic figures of one compiler version; with another one there is nothing to compare with. Where a
change is meant, `python benchmarks/models.py` records the new figures, and review sees them.
The same model gives the same bytes: from two folders, two hash seeds, two users.
"""

import importlib.util
import sys
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from tests.checkout import ROOT

_FILE = ROOT / "benchmarks" / "models.py"


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_models", _FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


models = _load()
RECORDED = models.read(models.RECORDED)


def test_every_model_and_level_is_recorded_for_the_cores_of_the_readme() -> None:
    recorded = {(row.core, row.model, row.optimize) for row in RECORDED.values()}
    for core in ("cortex-m4", "cortex-m55"):
        for key in models.MODELS:
            for level in models.LEVELS:
                assert (core, key.rsplit("/", 1)[1], level) in recorded


Key = tuple[str, str, str, str]


def _swept() -> list[Any]:
    """Of Cortex-M4 every model at a level in turn, of Cortex-M55 every other one with `speed`; the rest
    in the long sweep."""
    usual = {
        (core, key.rsplit("/", 1)[1], level)
        for number, key in enumerate(models.MODELS)
        for place, level in enumerate(models.LEVELS)
        for core in ("cortex-m4", "cortex-m55")
        if (place == number % 3 if core == "cortex-m4" else number % 2 == 0 and level == "speed")
    }
    return [
        pytest.param(key, marks=() if (row.core, row.model, row.optimize) in usual else pytest.mark.long)
        for key, row in sorted(RECORDED.items())
    ]


@pytest.mark.qemu
@pytest.mark.parametrize("key", _swept(), ids="-".join)
def test_no_figure_is_worse_than_recorded(key: Key) -> None:
    board, model, level, compiler = key
    if models.compiler_of(board) != compiler:
        pytest.skip(f"the figures were recorded with gcc {compiler}")
    path = next(name for name in models.MODELS if name.rsplit("/", 1)[1] == model)
    row = models.measure(board, path, level, compiler, with_cycles=False)
    assert row is not None, "the model does not fit any more"
    assert list(models.worse(row, RECORDED[key])) == []


def test_a_worse_figure_is_told() -> None:
    row = next(iter(RECORDED.values()))
    bad = replace(row, instructions=row.instructions * 102 // 100)
    assert len(list(models.worse(bad, row))) == 1
    assert list(models.worse(replace(row, instructions=row.instructions * 1005 // 1000), row)) == []
