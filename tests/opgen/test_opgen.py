"""The generated models: enough of them, still the recorded ones, and what this project makes of each."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from codegen.engines.ruling import RULING_ENGINE, ruling_engine
from codegen.importers.tflite.translate import import_tflite
from codegen.ir.evaluate import evaluate as evaluate_function
from tests import opgen
from tests.engines import available, evaluate
from tests.opgen import OpCase, goldens
from tests.opgen.families import EACH, FAMILIES
from tests.opgen.standing import answered, asked
from tests.sampling import SHARE

FLOAT_TOLERANCE = 1e-5
"""Largest |difference| relative to max|y| between float results."""

CASES = opgen.cases()
KINDS = frozenset(case.kind for case in CASES if not case.on_targets)
"""Operators and types of the families."""
SINGLES = [case for case in CASES if case.kind not in KINDS]


def assert_equal(case: OpCase, given: tuple[np.ndarray, ...], wanted: tuple[np.ndarray, ...]) -> None:
    assert [(y.dtype, y.shape) for y in given] == [(y.dtype, y.shape) for y in wanted], case.name
    for y, expected in zip(given, wanted, strict=True):
        if y.dtype == np.float32 and not case.kind.endswith("_hybrid"):
            limit = FLOAT_TOLERANCE * np.abs(expected).max(initial=0)
            assert np.abs(y - expected).max(initial=0) <= limit, case.name
        else:
            np.testing.assert_array_equal(y, expected, err_msg=case.name)


def test_there_are_enough_models_and_every_operator_has_its_engine() -> None:
    counts = Counter(case.operator for case in CASES)
    assert sum("float32" not in case.name and "+" not in case.operator for case in CASES) >= 560
    assert sum("float32" in case.name for case in CASES) >= 60
    assert {operator for operator in counts if "+" not in operator} == set(RULING_ENGINE)
    assert all(case.engine == ruling_engine(case.operator) for case in CASES)
    assert len({case.name for case in CASES}) == len(CASES)
    # Some models on a few bits are drawn twice, with their inputs.
    answers = {(case.sha256, *(y.tobytes() for y in case.expected[0])) for case in CASES}
    assert len(answers) > 0.99 * len(CASES)


def test_most_results_are_neither_constant_nor_saturated() -> None:
    """A test whose expected output is one value everywhere would pass for the wrong reasons."""
    numbers = [case.expected[0][0] for case in CASES if case.expected[0][0].dtype != np.bool_]
    lively = sum(np.unique(y).size > min(4, y.size // 2) for y in numbers)
    assert lively > 0.7 * len(numbers), lively
    decided = [np.unique(case.expected[0][0]).size for case in CASES if case.expected[0][0].dtype == np.bool_]
    assert np.mean(decided) > 1.5


def test_goldens_read_back_as_written(tmp_path: Path) -> None:
    outputs = ((np.array([[1, -2]], np.int8), np.array(0.5, np.float32)), (np.zeros((0, 3), np.int8),) * 2)
    stored = {"m": goldens.Golden(sha256="ab", engine="e", outputs=outputs)}
    goldens.write(stored, tmp_path / "g.npz")
    found = goldens.read(tmp_path / "g.npz")["m"]
    assert (found.sha256, found.engine) == ("ab", "e")
    for case, wanted in zip(found.outputs, outputs, strict=True):
        for y, expected in zip(case, wanted, strict=True):
            np.testing.assert_array_equal(y, expected, strict=True)


@pytest.mark.skipif(not available(), reason="no reference engine installed (CODEGEN_ENGINE_PYTHON)")
def test_the_engines_still_give_what_is_stored(request: pytest.FixtureRequest) -> None:
    """Each is stored with the hash of its model, a sample shows that the engines are the same."""
    every = 1 if request.config.getoption("--long") else 18
    asked_of = [case for number, case in enumerate(CASES) if number % every == 0]
    assert {case.engine for case in asked_of} == {case.engine for case in CASES}
    here = [case for case in asked_of if case.engine in available()]
    answers = evaluate([asked(case.draw(), case.engine) for case in here])
    for case, answer in zip(here, answers, strict=True):
        assert not answer.error, f"{case.name}: {answer.error}"
        for given, wanted in zip(answered(case.draw(), answer.outputs), case.expected, strict=True):
            assert_equal(case, given, wanted)


def assert_imported(case: OpCase) -> None:
    """The file, imported and evaluated in NumPy, gives what the engine gave."""
    module = import_tflite(case.model, f"{case.name}.tflite")
    for inputs, expected in zip(case.inputs, case.expected, strict=True):
        assert_equal(case, tuple(evaluate_function(module, module.main, inputs)), expected)


@pytest.mark.parametrize("case", SINGLES, ids=[case.name for case in SINGLES])
def test_import_and_numpy_evaluation_give_the_engines_result(case: OpCase) -> None:
    assert_imported(case)


@pytest.mark.parametrize("every", [SHARE, pytest.param(1, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("operator", FAMILIES)
def test_families_of_operators_give_the_engines_result(operator: str, every: int) -> None:
    """All models of an operator in one test, or one in `every`; there are so many of each type."""
    own = [case for case in CASES if case.operator == operator and case.kind in KINDS]
    assert set(Counter(case.kind for case in own).values()) == {EACH}
    for case in own[::every]:
        assert_imported(case)
