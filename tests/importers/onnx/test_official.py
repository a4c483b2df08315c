"""The official node tests of the installed `onnx` package: what the table says of them is so."""

import csv
from pathlib import Path

import numpy as np
import pytest

from tests.checkout import ROOT
from tests.importers.onnx import official
from tests.sampling import SHARE

with (ROOT / "benchmarks" / "results" / "onnx_nodes.csv").open() as _file:
    TABLE = {row["test"]: row for row in csv.DictReader(_file)}

SLOW = frozenset({"averagepool", "lppool", "maxpool"})
"""Modules that take as long to make their expected outputs as all others together."""


INFINITE = "test_attention_4d_with_past_and_present_qk_matmul_bias_4d_mask_causal"
"""Its result holds sums with minus infinity."""


def _modules() -> list[str]:
    return [name for name in official.all_modules() if name not in SLOW]


def test_the_table_is_of_this_package() -> None:
    """Another version has other tests: `python benchmarks/onnx_nodes.py` writes the table anew."""
    names = {test.name for test in official.collected(*_modules())}
    assert names <= set(TABLE)
    assert len(names) > 1700


@pytest.mark.parametrize("every", [SHARE, pytest.param(1, marks=pytest.mark.thorough)])
def test_the_first_test_of_each_operator_passes_as_c(tmp_path: Path, every: int) -> None:
    first: dict[tuple[str, int], official.NodeTest] = {}
    for test in official.collected(*_modules()):
        row = TABLE[test.name]
        if row["static"] == "yes" and row["result"] == "passes":
            first.setdefault((row["operator"], len(test.model.graph.node) > 1), test)
        if test.name == INFINITE:
            first[test.name, False] = test
    assert len(first) > 70
    chosen = [test for at, test in enumerate(first.values()) if at % every == 0 or test.name == INFINITE]
    outcomes = [official.outcome(test) for test in chosen]
    wrong = [each.test.name for each in official.on_board(outcomes, tmp_path) if not each.is_right]
    assert wrong == []


def test_a_graph_inside_a_node_is_part_of_its_function() -> None:
    """FlexAttention changes its scores by a graph; ONNX's function for it has that graph's nodes."""
    tests = [test for test in official.collected("flexattention") if test.operator == "FlexAttention"]
    found = [official.outcome(test) for test in tests if test.is_static]
    assert len(found) > 8
    assert [each.test.name for each in found if not each.is_right] == []


@pytest.mark.long
def test_every_test_comes_out_as_the_table_says(tmp_path: Path) -> None:
    """None that passed before fails; none that fails now passed unseen."""
    first = [official.outcome(test) for test in official.collected()]
    assert {each.test.name: each.reason for each in first if each.module is None} == {
        name: row["reason"] for name, row in TABLE.items() if row["result"] == "refused"
    }
    found = official.on_board([each for each in first if each.module is not None], tmp_path)
    assert {each.test.name for each in found if each.is_right} == {
        name for name, row in TABLE.items() if row["result"] == "passes"
    }


@pytest.mark.long
@pytest.mark.qemu
def test_one_of_each_operator_and_type_passes_on_a_board(tmp_path: Path) -> None:
    first: dict[tuple[str, ...], official.NodeTest] = {}
    for test in official.collected():
        row = TABLE[test.name]
        if row["static"] == "yes" and row["result"] == "passes":
            read, written = (
                sorted({str(data.dtype) for data in arrays})
                for arrays in (test.inputs.values(), test.outputs)
            )
            first.setdefault((row["operator"], *read, "", *written), test)
    assert len(first) > 300
    outcomes = [official.outcome(test) for test in first.values()]
    found = official.on_board(outcomes, tmp_path, "mps2-an386")
    assert [each.test.name for each in found if not each.is_right] == []


def test_what_counts_as_right() -> None:
    """A number too far off, a wrong type, a wrong shape, an infinity: none of them passes."""
    [test] = [each for each in official.collected("add") if each.name == "test_add"]
    [wanted] = test.outputs
    off = wanted.copy()
    off.flat[3] += 2e-5 * np.abs(wanted).max()
    assert official.is_right(test, [wanted])
    for other in (off, wanted.astype(np.float64), wanted[:1], np.where(wanted > 1, np.inf, wanted)):
        assert not official.is_right(test, [other])
    assert not official.is_right(test, [])
