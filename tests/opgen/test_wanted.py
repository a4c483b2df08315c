"""Operators and types that are asked for against those that models are drawn of."""

from collections.abc import Iterator

import pytest

from codegen.importers.tflite.translate import import_tflite
from codegen.ir import Function, Let, Target
from codegen.ir.ops import LoopAttrs
from codegen.kernels import kernels_of_step
from codegen.passes import FoldConstants, Legalise, run_passes
from tests.opgen.families import EACH
from tests.opgen.matrix import KINDS, models
from tests.opgen.wanted import MISSING, wanted

_HOST = Target(cpu="host")
_PASSES = (FoldConstants(), Legalise())


def test_what_has_too_few_models_is_listed() -> None:
    """A pair of the list that has its models is struck off; nothing else may be without them."""
    drawn = models()
    few = {pair for pair in wanted() if pair not in drawn or drawn[pair].total() < EACH}
    listed = {
        (name, each)
        for by_operator in MISSING.values()
        for name, types in by_operator.items()
        for each in types.split(", ")
    }
    assert few == listed


@pytest.mark.parametrize("first", range(4))
def test_every_step_of_what_is_drawn_has_a_kernel(first: int) -> None:
    for kind in KINDS[first::4]:
        module = run_passes(import_tflite(kind.drawn(0).model, kind.stem), _PASSES)
        for let in _steps(module.main):
            kernels = kernels_of_step(let)
            assert any(kernel.refusal(let, _HOST) is None for kernel in kernels), (kind.stem, str(let))


def _steps(function: Function) -> Iterator[Let]:
    """Of a loop those of its iteration."""
    for let in function.body:
        if isinstance(let.call.attrs, LoopAttrs):
            yield from _steps(let.call.attrs.function)
        else:
            yield let
