"""The shipped example: handwritten digits, with held-out images and their labels."""

import hashlib
from collections.abc import Callable
from functools import cache

import numpy as np

from codegen import resources
from codegen.driver.build import Planned
from codegen.driver.inputs.cases import Case
from codegen.driver.inputs.files import example_model
from codegen.driver.report.output_check import array
from codegen.driver.report.single import Measured
from codegen.ir.evaluate import evaluate
from codegen.program.program import Program


@cache
def _held_out() -> tuple[np.ndarray, np.ndarray]:
    with np.load(resources.folder("examples") / "digits" / "digits_test.npz", allow_pickle=False) as arrays:
        return arrays["x"], arrays["labels"]


def example_cases(program: Program) -> list[Case]:
    """One case per held-out image."""
    images, _ = _held_out()
    shape = program.signature.inputs[0].type.shape
    return [Case(name=f"image {index}", inputs=(image.reshape(shape),)) for index, image in enumerate(images)]


def example_inputs(sha256: str) -> tuple[np.ndarray, ...]:
    """A held-out image, if `sha256` is that of the example's file; else nothing."""
    if hashlib.sha256(example_model().read_bytes()).hexdigest() != sha256:
        return ()
    return (_held_out()[0][0],)


def show_accuracy(planned: Planned, measured: Measured, say: Callable[[str], None]) -> None:
    """Say how many held-out images the target and the NumPy reference classify correctly."""
    images, labels = _held_out()
    type_ = planned.program.signature.outputs[0].type
    function = planned.reference.main
    on_target = [int(np.argmax(array(case.outputs[0], type_))) for case in measured.result.cases]
    shape = function.params[0].type.shape
    reference = [
        int(np.argmax(evaluate(planned.reference, function, [image.reshape(shape)])[0])) for image in images
    ]
    for name, answers in (("target", on_target), ("reference", reference)):
        right = sum(int(one == label) for one, label in zip(answers, labels, strict=True))
        say(
            f"accuracy  {name:<9}  {right} of {len(labels)} held-out images "
            f"({100 * right / len(labels):.1f} %)"
        )
