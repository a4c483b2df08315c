"""Layers that differ from TFLite's outputs through Vela: the model gives what Vela's rewriting asks for."""

import pytest

from tests import opgen
from tests.tools.npu.layers import REWRITTEN, outcomes, recorded
from tests.tools.npu.test_vela import needs_vela

_BY_VELA = (
    "neg_int8_008",
    "softmax_int16_int16_013",
    "transpose_uint8_022",
    "concatenation_uint8_002",
    "rsqrt_int16_int16_000",
    "sum_int16_021",
    "reduce_max_int16_003",
    "reduce_min_uint8_015",
    "mirror_pad_int16_moved_024",
)
_QUICK = 2


def _outcome(name: str) -> str:
    layer = recorded(next(case for case in opgen.cases() if case.name == name))
    return outcomes([layer], "ethos-u55-128")[name]


@needs_vela
@pytest.mark.parametrize(
    "name",
    [*_BY_VELA[:_QUICK], *(pytest.param(name, marks=pytest.mark.thorough) for name in _BY_VELA[_QUICK:])],
)
def test_the_model_gives_what_vela_asks_for(name: str) -> None:
    assert _outcome(name) == REWRITTEN


@needs_vela
@pytest.mark.parametrize("name", ["tanh_int16_017", "logistic_int16_012"])
def test_curves_of_int16_through_vela_are_those_of_tflite(name: str) -> None:
    assert _outcome(name) == "equal"
