"""How many models each operator and type has, and which engine rules: `python -m tests.opgen.matrix`.

Exit status 1 where one that is wanted has too few.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from tflite.TensorType import TensorType

from codegen.engines.ruling import ruling_engine
from codegen.importers.tflite.file.reader import FileModel, FileOperator, read
from tests.e2e import test_lstm, test_stateful, test_svdf
from tests.engines import TFLITE_MICRO
from tests.opgen.catalogue import Kind, kinds
from tests.opgen.families import EACH
from tests.opgen.wanted import CONVERSIONS, MADE, OTHER_WEIGHTS, VALUES, wanted

Pair = tuple[str, str]
KINDS = [kind for kind in kinds() if "+" not in kind.operator]
_NAMES = {code: name.lower() for name, code in vars(TensorType).items() if isinstance(code, int)}


def _type(model: FileModel, operator: FileOperator) -> str:
    """What an operator works on; of a conversion also what it makes, of a weighted one its weights' type too
    where that is not the usual one."""
    name = operator.custom_name or operator.name
    places = [operator.outputs[0] if name in MADE else operator.inputs[VALUES.get(name, 0)]]
    places += operator.outputs[:1] if name in CONVERSIONS else []
    places += operator.inputs[1:2] if name in OTHER_WEIGHTS else []
    found = " ".join(_NAMES[model.tensors[place].type_code] for place in places)
    return found if found in OTHER_WEIGHTS.get(name, found) else found.split()[0]


def _drawn(kind: Kind) -> Counter[Pair]:
    """How many models of which operators and types; but of conversions the first one stands for all."""
    found: Counter[Pair] = Counter()
    name = kind.operator.split()[0]
    numbers = range(kind.count if name in CONVERSIONS else 1)
    for number in numbers:
        model = read(kind.drawn(number).model, kind.stem)
        types = [_type(model, each) for each in model.operators if name in (each.custom_name, each.name)]
        for type_ in dict.fromkeys(types if name in CONVERSIONS else types[:1]):
            found[name, type_] += kind.count // len(numbers)
    return found


def models() -> Mapping[Pair, Counter[str]]:
    """By operator and type: models by the engine that rules for them."""
    found: dict[Pair, Counter[str]] = defaultdict(Counter)
    for kind in KINDS:
        for pair, count in _drawn(kind).items():
            found[pair][ruling_engine(kind.operator)] += count
    for pair, count in _in_sequence().items():
        found[pair][TFLITE_MICRO] += count
    return found


def _in_sequence() -> Mapping[Pair, int]:
    """Models that are compared over sequences, as they keep state: drawn by tests of their own."""
    return {
        **{("SVDF", state): test_svdf.MODELS for state in test_svdf.STATES},
        **{("UNIDIRECTIONAL_SEQUENCE_LSTM", each): test_lstm.MODELS for each in test_lstm.SEQUENCES},
        **dict.fromkeys(test_stateful.DRAWN, test_stateful.MODELS),
    }


def lines() -> Iterator[str]:
    """A row for each operator and type that is wanted or there: what it has, and whether that is too few."""
    found, asked = models(), set(wanted())
    for name, type_ in sorted({*found, *asked}):
        engines = found.get((name, type_), Counter[str]())
        shown = ", ".join(f"{count} {engine}" for engine, count in sorted(engines.items())) or "none"
        few = "  TOO FEW" if (name, type_) in asked and engines.total() < EACH else ""
        yield f"{name:44}{type_:20}{shown}{few}"


if __name__ == "__main__":
    printed = list(lines())
    sys.stdout.write("".join(f"{line}\n" for line in printed))
    sys.exit(any("TOO FEW" in line for line in printed))
