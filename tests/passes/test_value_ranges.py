"""Value ranges of `passes/reduce` know every operator."""

from codegen.ir.operator import Op
from codegen.ir.ops import OPS

_NEVER_INT8 = """
ARG_MAX ARG_MIN DETECTION_POST_PROCESS EQUAL FLOOR_DIV FLOOR_MOD LESS LESS_EQUAL LOGICAL_NOT NOT_EQUAL
SIGNAL_ENERGY SIGNAL_FILTER_BANK SIGNAL_IRFFT SIGNAL_LOG SIGNAL_PCAN SIGNAL_RFFT SIGNAL_SCALE_BITS
SIGNAL_SQUARE_ROOT SIGNAL_WINDOW
"""
_BY_TYPE = """
ADD_N BATCH_MATMUL CAST CUMSUM DIV DYNAMIC_UPDATE_SLICE GATHER GATHER_ND L2_NORMALIZATION LOG_SOFTMAX PRELU
RESIZE_BILINEAR SELECT_V2 SOFTMAX SQUARED_DIFFERENCE SUM
"""
"""Neither monotone nor a table of one argument, or seldom in front of weights."""


def test_an_operator_has_a_rule_or_is_said_to_have_none() -> None:
    """One without a rule is bounded by its type, which is never wrong; that it is so is not forgotten."""
    others = {
        name for name, op in OPS.items() if not op.is_monotone and type(op).value_range is Op.value_range
    }
    assert others == {*_NEVER_INT8.split(), *_BY_TYPE.split()}
