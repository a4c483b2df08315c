"""Numbers that the TFLite schema (schema.fbs, version 3) has for words and operators, for the writer."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

from tflite.BuiltinOperator import BuiltinOperator

PADDINGS: Mapping[str, int] = MappingProxyType({"SAME": 0, "VALID": 1})
ACTIVATIONS: Mapping[str, int] = MappingProxyType(
    {"none": 0, "relu": 1, "relu_n1_to_1": 2, "relu6": 3, "tanh": 4, "sign_bit": 5}
)
TENSOR_TYPES: Mapping[str, int] = MappingProxyType(
    {
        "float32": 0,
        "float16": 1,
        "int32": 2,
        "uint8": 3,
        "int64": 4,
        "bool": 6,
        "int16": 7,
        "int8": 9,
        "int4": 17,
        "float64": 10,
        "uint64": 12,
        "resource": 13,
        "uint32": 15,
        "uint16": 16,
    }
)


INT8_VERSIONS: Mapping[str, int] = MappingProxyType(
    {
        "CONV_2D": 3,
        "DEPTHWISE_CONV_2D": 3,
        "FULLY_CONNECTED": 4,
        "AVERAGE_POOL_2D": 2,
        "MAX_POOL_2D": 2,
        "MEAN": 2,
        "ADD": 2,
        "SUB": 2,
        "MUL": 2,
        "CONCATENATION": 2,
        "PAD": 2,
        "PADV2": 2,
        "TRANSPOSE": 2,
        "STRIDED_SLICE": 2,
        "SPLIT": 2,
        "SPLIT_V": 2,
        "SOFTMAX": 2,
        "LOGISTIC": 2,
        "TANH": 2,
        "RELU": 2,
        "RELU6": 2,
        "LEAKY_RELU": 2,
        "DEQUANTIZE": 2,
        "BROADCAST_TO": 2,
        "DIV": 1,
    }
)
"""First operator version with int8, as the schema's operator versioning has it; 1 where int8 always was."""


def builtin_code(name: str) -> int:
    """Number of an operator in the schema; raises ValueError for a name the schema does not know."""
    code: object = getattr(cast(Any, BuiltinOperator), name, None)
    if not name.isidentifier() or not isinstance(code, int):
        raise ValueError(f"{name!r} is not an operator of the TFLite schema")
    return code
