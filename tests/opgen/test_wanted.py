"""Operators and types that are asked for against those that models are drawn of."""

from collections import Counter

import pytest
from tflite.TensorType import TensorType

from codegen.importers.tflite.file.reader import FileModel, FileOperator, read
from codegen.importers.tflite.translate import import_tflite
from codegen.ir import Target
from codegen.kernels import kernels_for
from codegen.passes import FoldConstants, Legalise, run_passes
from tests.opgen.catalogue import Kind, kinds
from tests.opgen.families import EACH
from tests.opgen.wanted import CONVERSIONS, MISSING, VALUES, wanted

_HOST = Target(cpu="host")
_PASSES = (FoldConstants(), Legalise())
KINDS = [kind for kind in kinds() if "+" not in kind.operator]
_NAMES = {code: name.lower() for name, code in vars(TensorType).items() if isinstance(code, int)}


def _type(model: FileModel, operator: FileOperator) -> str:
    """What an operator works on; of a conversion also what it makes."""
    name = operator.custom_name or operator.name
    places = [operator.inputs[VALUES.get(name, 0)]]
    places += operator.outputs[:1] if name in CONVERSIONS else []
    return " ".join(_NAMES[model.tensors[place].type_code] for place in places)


def _drawn(kind: Kind) -> Counter[tuple[str, str]]:
    """How many models of which operators and types; but of conversions the first one stands for all."""
    found: Counter[tuple[str, str]] = Counter()
    name = kind.operator.split()[0]
    numbers = range(kind.count if name in CONVERSIONS else 1)
    for number in numbers:
        model = read(kind.drawn(number).model, kind.stem)
        types = [_type(model, each) for each in model.operators if name in (each.custom_name, each.name)]
        for type_ in dict.fromkeys(types if name in CONVERSIONS else types[:1]):
            found[name, type_] += kind.count // len(numbers)
    return found


def test_what_has_too_few_models_is_listed() -> None:
    """A pair of the list that has its models is struck off; nothing else may be without them."""
    drawn = sum(map(_drawn, KINDS), Counter[tuple[str, str]]())
    few = {pair for pair in wanted() if drawn[pair] < EACH}
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
        for let in module.main.body:
            kernels = kernels_for(let.call.op.name)
            assert any(kernel.refusal(let, _HOST) is None for kernel in kernels), (kind.stem, str(let))
