"""The table of operators that the program was asked to take, as it stands: each is told and has models.

`wanted.py` says the same in a form for programs; here the shared table itself is compared with what
`codegen ops` prints and with the models that are drawn.
"""

import json
import re
from collections.abc import Iterator
from itertools import chain, permutations

import pytest

from tests.cli.test_verbs import call
from tests.opgen.families import EACH
from tests.opgen.matrix import KINDS, models
from tests.opgen.wanted import CONVERSIONS, OTHER_WEIGHTS, wanted
from tests.public.testdata import TESTDATA

_TABLE = TESTDATA.parent / "operators.md"
_NAME = re.compile(r"\b(?!TFLM)(?:[A-Z][A-Z0-9_]+|Signal\w+|DetectionPostProcess)\b")
_TYPE = re.compile(r"\b(?:bool|u?int[0-9]+|float[0-9]+)\b")
_AS = {
    "DetectionPostProcess": "TFLite_Detection_PostProcess",
    "DECODE": "TFLM_DECODE",
    **dict.fromkeys(("VAR_HANDLE", "ASSIGN_VARIABLE", "CALL_ONCE"), "READ_VARIABLE"),
}
"""What files call an operator, or whose models have it."""
_SHAPES = ("BROADCAST_ARGS",)
"""Of what moves elements: those whose elements are the sizes of shapes."""

pytestmark = pytest.mark.skipif(not _TABLE.exists(), reason="the shared table is not there")


def _rows() -> Iterator[tuple[str, str]]:
    """The operators and the types of each row; of a group that says its types itself (signal) no types."""
    for line in _TABLE.read_text().splitlines():
        if line.startswith("| ") and not line.startswith("| group"):
            _, _, operators, types, _ = line.split("|")
            yield operators, re.sub(r"\(\w+ cell or state\)", "", types)


def _every() -> tuple[str, ...]:
    """The element types that the row of conversions lists, but for constants."""
    [types] = [types for operators, types in _rows() if "CAST" in _NAME.findall(operators)]
    return tuple(_TYPE.findall(re.sub(r"float16 \(constants\)", "", types)))


def _named(clause: str, names: list[str]) -> list[str]:
    """Those that a clause of types is about: it has the name, or a word of it."""
    words = {word.upper() for word in re.findall(r"\w+", clause)}
    return [name for name in names if name in words or words & set(name.split("_"))]


def _of_row(operators: str, types: str) -> Iterator[tuple[str, str]]:
    """Clauses of operators go with clauses of types; a later one of types says which operators it adds to."""
    groups = [_NAME.findall(part) for part in operators.split(";")]
    clauses = types.split(";")
    for at, clause in enumerate(clauses):
        names = groups[at] if at < len(groups) else _named(clause, groups[0])
        told = _every() if "every element type" in clause else _TYPE.findall(clause.split(" with ")[0])
        if at >= len(groups) and "weights" in clause:
            yield from ((name, each) for name in groups[0] for each in OTHER_WEIGHTS[name] if "int4" in each)
        elif "hybrid" in clause:
            yield from ((name, "float32 int8") for name in groups[0])
        else:
            pairs = ((_AS.get(name, name), each) for name in names for each in told)
            yield from (pair for pair in pairs if pair[0] not in _SHAPES or pair[1] in ("int32", "int64"))


def _pairs() -> set[tuple[str, str]]:
    """Each operator and type of the table. Of CAST all pairs; which the other conversions have is the
    format's affair."""
    rows = [row for row in _rows() if "CAST" not in _NAME.findall(row[0])]
    found = set(chain.from_iterable(_of_row(*row) for row in rows))
    return found | {("CAST", f"{a} {b}") for a, b in permutations(_every(), 2)}


def _names() -> set[str]:
    return {name for operators, _ in _rows() for name in _NAME.findall(operators)}


def test_the_table_is_read_whole() -> None:
    """What would be lost by a change of its form: single words of a few clauses."""
    pairs = _pairs()
    assert len(_names()) >= 118 and len(pairs) > 480
    assert {("RESIZE_NEAREST_NEIGHBOR", "int32"), ("SQUARED_DIFFERENCE", "int16")} <= pairs
    assert {("SELECT_V2", "int16"), ("REDUCE_ALL", "bool"), ("CONV_2D", "int8 int4")} <= pairs
    assert ("RESIZE_BILINEAR", "int32") not in pairs and ("SELECT_V2", "bool") not in pairs


def test_each_operator_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """`codegen ops` has every one of them, with what it becomes."""
    assert call("ops", "--json") == 0
    told = json.loads(capsys.readouterr().out)["ops"]
    files = {name if name not in ("DetectionPostProcess", "DECODE") else _AS[name] for name in _names()}
    assert sorted(files - set(told)) == []


def test_each_operator_and_type_has_models() -> None:
    drawn, types = models(), {}
    for (name, _), engines in drawn.items():
        types[name] = types.get(name, 0) + engines.total()
    few = {pair for pair in _pairs() if pair not in drawn or drawn[pair].total() < EACH}
    assert sorted(few) == []
    assert [name for name in sorted(_names()) if types.get(_AS.get(name, name), 0) < EACH] == []


def test_each_type_at_the_edges_of_a_detector_has_models() -> None:
    """int8 comes through a DEQUANTIZE, so that the operator itself is of float32."""
    [types] = [types for operators, types in _rows() if "DetectionPostProcess" in operators]
    edges = _TYPE.findall(types.split(" with ")[1])
    counts = {kind.stem: kind.count for kind in KINDS if kind.operator.startswith("TFLite_Detection")}
    assert edges == ["int8", "uint8"]
    for each in edges:
        assert sum(count for stem, count in counts.items() if f"_{each}" in stem) >= EACH


def test_what_is_wanted_has_all_that_was_asked() -> None:
    """The form for programs has forgotten nothing."""
    own = set(wanted())
    assert sorted(pair for pair in _pairs() if pair not in own) == []
    assert {name for name, _ in own} >= {*CONVERSIONS, *(_AS.get(name, name) for name in _names())}
