"""What one step of an import may differ by from an engine that computes it from the same arguments."""

from dataclasses import replace

import numpy as np
import pytest

from codegen.driver.references.import_check import compare_steps
from codegen.importers import Imported
from codegen.ir import Source, Var
from codegen.ir.builder import Builder
from codegen.ir.ops import OPS, RoundedAttrs
from tests.tensor_types import tensor_type


def copied_integers(elements: int, kind: str) -> tuple[Imported, np.ndarray, np.ndarray]:
    """A step from int8 to int8 of one scale, of a file of this format; its argument and its result."""
    type_ = tensor_type((1, elements), scale=0.5)
    builder = Builder()
    x = builder.param("x", type_)
    source = Source(op_index=0, op_name="QUANTIZE", tensor_name="y")
    y = builder.call(
        OPS["QUANTIZE"], [x], RoundedAttrs(), Var(name="y", type=type_, origin="y"), source=source
    )
    module = replace(builder.build([y]), metadata={"format": kind})
    values = (np.arange(elements) % 100).astype(np.int8)[None]
    return Imported(module=module, tensors=()), values, values.copy()


@pytest.mark.parametrize(
    ("changed", "by", "is_right"),
    [(0, 0, True), (1, 1, True), (2, 1, True), (3, 1, False), (1, 2, False)],
    ids=["equal", "one element", "one of a hundred", "more", "two quanta"],
)
def test_onnx_integers_may_be_one_quantum_off_in_one_of_a_hundred(
    changed: int, by: int, is_right: bool
) -> None:
    imported, x, y = copied_integers(200, "onnx")
    theirs = y.copy()
    theirs[0, :changed] += by
    check = compare_steps(imported, [x], [theirs], {})
    assert (not check.wrong) == is_right and check.values == 1


def test_layers_that_the_certificate_names_may_be_one_quantum_off_anywhere() -> None:
    imported, x, y = copied_integers(200, "onnx")
    notes = {"format": "onnx", "may_differ": 'op 0 QUANTIZE "y": 3 of the 9 sums of an average are halves'}
    named = replace(imported, module=replace(imported.module, metadata=notes))
    assert not compare_steps(named, [x], [y + 1], {}).wrong
    assert compare_steps(named, [x], [y + 2], {}).wrong
    other = replace(named, module=replace(imported.module, metadata={**notes, "may_differ": 'op 1 X "z": 3'}))
    assert compare_steps(other, [x], [y + 1], {}).wrong


def test_tflite_integers_are_equal() -> None:
    imported, x, y = copied_integers(200, "tflite")
    theirs = y.copy()
    theirs[0, 0] += 1
    [wrong] = compare_steps(imported, [x], [theirs], {}).wrong
    assert wrong.comparison.differing == 1


def test_a_step_of_another_engine_is_not_judged() -> None:
    imported, x, y = copied_integers(200, "tflite")
    check = compare_steps(imported, [x], [y + 1], {}, {"QUANTIZE"})
    assert not check.wrong and check.unjudged == ("QUANTIZE",) and check.values == 0


def test_what_an_engine_rounds_otherwise_may_be_one_quantum_off() -> None:
    imported, x, y = copied_integers(200, "tflite")
    assert not compare_steps(imported, [x], [y + 1], {}, loose=["QUANTIZE"]).wrong
    assert compare_steps(imported, [x], [y + 2], {}, loose=["QUANTIZE"]).wrong
