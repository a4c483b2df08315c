"""FLOOR_DIV and FLOOR_MOD of int32 where C leaves a quotient undefined, against Python's integers.

TFLite ends a run that divides by 0; here the result is 0, as of DIV. The smallest number by -1 wraps.
"""

import itertools

import numpy as np
import pytest

from codegen.ir import DType
from codegen.ir.ops import Attrs
from tests.kernels.calling import Library, bind
from tests.kernels.layers import Operand, layer
from tests.tensor_types import tensor_type

NUMBERS = (-(1 << 31), 1 - (1 << 31), -1000, -7, -1, 0, 1, 7, 1000, (1 << 31) - 1)


def _wrapped(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


@pytest.mark.usefixtures("no_reports")
@pytest.mark.parametrize("op", ["FLOOR_DIV", "FLOOR_MOD"])
def test_every_pair_of_far_numbers(library: Library, op: str) -> None:
    pairs = list(itertools.product(NUMBERS, NUMBERS))
    divided = [divmod(a, b) if b else (0, 0) for a, b in pairs]
    expected = [_wrapped(quotient if op == "FLOOR_DIV" else rest) for quotient, rest in divided]
    operands = [
        Operand(type=tensor_type((len(pairs),), DType.INT32), data=np.array(column, np.int32))
        for column in zip(*pairs, strict=True)
    ]
    call = layer(op, Attrs(), operands, tensor_type((), DType.INT32))
    assert call.expected.tolist() == expected
    found = library.run(bind(call), call, paint=0xA5).result
    assert np.frombuffer(found, np.int32).tolist() == expected
