"""What the program has to take: each operator in each element type, and what of it is missing, with why.

A type is that of the values an operator works on: the first argument's, as a rule (`VALUES` says where not),
of SVDF that of its state, of TFLM_DECODE that of the constant. A model of READ_VARIABLE has VAR_HANDLE,
ASSIGN_VARIABLE and CALL_ONCE too.
A conversion's is a pair, and so is that of weights of another type than usual. uint8 with a scale is a type
of its own table (`families/unsigned.py`).
"""

from collections.abc import Iterator, Mapping, Sequence

_ALL = "int8 uint8 int16 int32 int64 uint32 float32 bool"
_THREE = "int8 int16 float32"
_NUMBERS = "int8 int16 int32 int64 float32"
_TYPES: Mapping[str, str] = {
    "CONV_2D DEPTHWISE_CONV_2D FULLY_CONNECTED TRANSPOSE_CONV BATCH_MATMUL": _THREE,
    "AVERAGE_POOL_2D MAX_POOL_2D PRELU": _THREE,
    "RELU RELU6 RELU_N1_TO_1 LEAKY_RELU LOGISTIC TANH SOFTMAX ABS RSQRT": _THREE,
    "MEAN SUM REDUCE_MAX REDUCE_MIN ADD SUB MUL": "int8 int16 int32 float32",
    "REDUCE_ALL LOGICAL_AND LOGICAL_OR LOGICAL_NOT": "bool",
    "ARG_MAX ARG_MIN ADD_N EXP LOG HARD_SWISH ELU LOG_SOFTMAX L2_NORMALIZATION NEG": "int8 float32",
    "CUMSUM DIV": "int8 int32 float32",
    "SQUARED_DIFFERENCE": "int8 int16 int32 float32",
    "MAXIMUM MINIMUM": _NUMBERS,
    "EQUAL NOT_EQUAL GREATER GREATER_EQUAL LESS LESS_EQUAL": f"bool {_NUMBERS}",
    "SELECT_V2": f"bool {_THREE}",
    "BROADCAST_ARGS": "int32 int64",
    "L2_POOL_2D SQRT SQUARE SIN COS CEIL FLOOR ROUND": "float32",
    "FLOOR_DIV FLOOR_MOD": "int32 float32",
    "RESHAPE SQUEEZE EXPAND_DIMS CONCATENATION SPLIT SPLIT_V PACK UNPACK SLICE STRIDED_SLICE TRANSPOSE": _ALL,
    "PAD PADV2 MIRROR_PAD REVERSE_V2 SPACE_TO_DEPTH DEPTH_TO_SPACE SPACE_TO_BATCH_ND": _ALL,
    "BATCH_TO_SPACE_ND GATHER GATHER_ND EMBEDDING_LOOKUP DYNAMIC_UPDATE_SLICE BROADCAST_TO FILL": _ALL,
    "SHAPE ZEROS_LIKE READ_VARIABLE CIRCULAR_BUFFER IF WHILE": _ALL,
    "RESIZE_BILINEAR": "int8 float32",
    "RESIZE_NEAREST_NEIGHBOR": "int8 int16 int32 float32",
    "TFLite_Detection_PostProcess": "float32 uint8",
    "SVDF UNIDIRECTIONAL_SEQUENCE_LSTM": _THREE,
    "SignalWindow SignalFftAutoScale SignalEnergy SignalFramer SignalStacker SignalDelay": "int16",
    "SignalRfft SignalIrfft": "int16 int32 float32",
    "SignalOverlapAdd": "int16 float32",
    "SignalFilterBank SignalFilterBankSpectralSubtraction SignalPCAN SignalFilterBankLog": "uint32",
    "SignalFilterBankSquareRoot": "uint64",
    "TFLM_DECODE": _THREE,
}

VALUES: Mapping[str, int] = {
    "SELECT_V2": 1,
    "IF": 1,
    "WHILE": 1,
    "FILL": 1,
    "EMBEDDING_LOOKUP": 1,
    "SPLIT": 1,
    "TRANSPOSE_CONV": 2,
}
"""Which argument has the values, where it is not the first one."""

OTHER_WEIGHTS: Mapping[str, Sequence[str]] = dict.fromkeys(
    ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"), ("int8 int4", "float32 int8")
)
"""Operators that take weights of another type than usual: the image's type, theirs. The second is hybrid."""

MADE = ("TFLM_DECODE",)
"""Operators whose values are what they make: they take bytes."""

_CAST = ("bool", "int8", "uint8", "int16", "int32", "int64", "uint32", "float32")
_QUANTISED = ("int8", "uint8", "int16", "int32")

CONVERSIONS = ("CAST", "QUANTIZE", "DEQUANTIZE")


def wanted() -> Iterator[tuple[str, str]]:
    """(operator, element type) of everything asked for."""
    for names, types in _TYPES.items():
        for name in names.split():
            yield from ((name, each) for each in types.split())
    yield from ((name, each) for name, pairs in OTHER_WEIGHTS.items() for each in pairs)
    yield from (("CAST", f"{a} {b}") for a in _CAST for b in _CAST if a != b)
    yield from (("QUANTIZE", f"{a} {b}") for a in ("float32", *_QUANTISED) for b in _QUANTISED)
    yield from (("DEQUANTIZE", f"{a} float32") for a in (*_QUANTISED, "float16"))


MISSING: Mapping[str, Mapping[str, str]] = {}
"""By reason, by operator: types."""
