"""The engine that rules for each operator of TFLite: the fixed table that goldens and comparisons go by.

A key is an operator, or an operator with what makes its kernel another one: element types, a missing bias.
"""

from collections.abc import Mapping
from types import MappingProxyType

from codegen.engines.names import NPU_MODEL, TFLITE_MICRO, TFLITE_RUNTIME

_FUNCTIONS = ("ABS", "COS", "EXP", "FLOOR", "HARD_SWISH", "LOG", "NEG", "RSQRT", "SIN", "SQRT")

_SIGNALS = (
    "SignalEnergy",
    "SignalFftAutoScale",
    "SignalFilterBank",
    "SignalFilterBankLog",
    "SignalFilterBankSquareRoot",
    "SignalIrfft",
    "SignalPCAN",
    "SignalRfft",
    "SignalWindow",
)
"""Operators of the audio front end without state."""

RULING_ENGINE: Mapping[str, str] = MappingProxyType(
    {
        "CONV_2D": TFLITE_RUNTIME,
        # tflite-runtime refuses to prepare one without a bias.
        "CONV_2D without bias": TFLITE_MICRO,
        "DEPTHWISE_CONV_2D": TFLITE_RUNTIME,
        "FULLY_CONNECTED": TFLITE_RUNTIME,
        # tflite-runtime's kernel takes the first two extents of a result of rank 3 for rows and channels and
        # leaves the rest of it unwritten.
        "FULLY_CONNECTED per channel": TFLITE_MICRO,
        # tflite-runtime 2.14 sums in 32 bits there; tflite-micro, and TFLite since, in 64.
        "FULLY_CONNECTED int16 without bias": TFLITE_MICRO,
        "AVERAGE_POOL_2D": TFLITE_RUNTIME,
        "MAX_POOL_2D": TFLITE_RUNTIME,
        "MEAN": TFLITE_RUNTIME,
        "ADD": TFLITE_RUNTIME,
        "SUB": TFLITE_RUNTIME,
        "MUL": TFLITE_RUNTIME,
        "CAST": TFLITE_RUNTIME,
        "CONCATENATION": TFLITE_RUNTIME,
        "PAD": TFLITE_RUNTIME,
        "RESHAPE": TFLITE_RUNTIME,
        "TRANSPOSE": TFLITE_RUNTIME,
        # tflite-micro refuses rank 5 and some shrunk axes.
        "STRIDED_SLICE": TFLITE_RUNTIME,
        **dict.fromkeys(_FUNCTIONS, TFLITE_RUNTIME),
        # tflite-runtime 2.14 does not have this type.
        "RSQRT int16": TFLITE_MICRO,
        # TFLite has it since 2.16: the logarithm of the floats, quantised.
        "LOG int8": TFLITE_RUNTIME,
        # No engine has it: it is the MUL by -1.
        "NEG int8": TFLITE_RUNTIME,
        # The reference kernels of tflite-runtime do not have these.
        **dict.fromkeys(("CEIL", "ELU", "ROUND"), TFLITE_MICRO),
        # tflite-runtime 2.14 leaves the scales of an int8 SUM out.
        "SUM": TFLITE_MICRO,
        **dict.fromkeys(("REDUCE_MAX", "REDUCE_MIN", "ARG_MAX", "ARG_MIN"), TFLITE_RUNTIME),
        **dict.fromkeys(("REDUCE_ALL", "REDUCE_ANY"), TFLITE_RUNTIME),
        # tflite-micro does not have this type.
        "SUM int32": TFLITE_RUNTIME,
        "CUMSUM": TFLITE_MICRO,
        "L2_NORMALIZATION": TFLITE_RUNTIME,
        "LOG_SOFTMAX": TFLITE_MICRO,
        "GELU": TFLITE_RUNTIME,
        "DYNAMIC_UPDATE_SLICE": TFLITE_RUNTIME,
        # tflite-runtime does not have this type.
        "DYNAMIC_UPDATE_SLICE int16": TFLITE_MICRO,
        # tflite-runtime 2.14 takes other products where both are transposed and one is broadcast.
        "BATCH_MATMUL": TFLITE_MICRO,
        **dict.fromkeys(_SIGNALS, TFLITE_MICRO),
        **dict.fromkeys(("L2_POOL_2D", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"), TFLITE_RUNTIME),
        "TRANSPOSE_CONV": TFLITE_RUNTIME,
        # tflite-runtime 2.14 rounds it otherwise than with a bias of 0.
        "TRANSPOSE_CONV int16 without bias": TFLITE_MICRO,
        "MAXIMUM": TFLITE_RUNTIME,
        "MINIMUM": TFLITE_RUNTIME,
        "EQUAL": TFLITE_RUNTIME,
        "NOT_EQUAL": TFLITE_RUNTIME,
        "LESS": TFLITE_RUNTIME,
        "LESS_EQUAL": TFLITE_RUNTIME,
        "GREATER": TFLITE_RUNTIME,
        "GREATER_EQUAL": TFLITE_RUNTIME,
        "LOGICAL_AND": TFLITE_RUNTIME,
        "LOGICAL_OR": TFLITE_RUNTIME,
        "LOGICAL_NOT": TFLITE_RUNTIME,
        "SELECT_V2": TFLITE_RUNTIME,
        "SELECT": TFLITE_RUNTIME,
        "DIV": TFLITE_RUNTIME,
        # tflite-runtime 2.14 divides 8 bits as uint8 only.
        "DIV int8": TFLITE_MICRO,
        "SQUARED_DIFFERENCE": TFLITE_RUNTIME,
        # tflite-runtime 2.14 does not have these types.
        "SQUARED_DIFFERENCE int16": TFLITE_MICRO,
        "PRELU int16": TFLITE_MICRO,
        "FLOOR_DIV": TFLITE_RUNTIME,
        "FLOOR_MOD": TFLITE_RUNTIME,
        "PRELU": TFLITE_RUNTIME,
        "SQUARE": TFLITE_RUNTIME,
        "ADD_N": TFLITE_RUNTIME,
        "ADD_N int8": TFLITE_MICRO,
        "TILE": TFLITE_RUNTIME,
        "BROADCAST_TO": TFLITE_RUNTIME,
        "FILL": TFLITE_RUNTIME,
        "GATHER": TFLITE_RUNTIME,
        "GATHER_ND": TFLITE_RUNTIME,
        "EMBEDDING_LOOKUP": TFLITE_RUNTIME,
        **dict.fromkeys(("EXPAND_DIMS", "PADV2", "SPLIT", "SPLIT_V", "SQUEEZE"), TFLITE_RUNTIME),
        "PACK": TFLITE_RUNTIME,
        "UNPACK": TFLITE_RUNTIME,
        "SLICE": TFLITE_RUNTIME,
        # tflite-runtime 2.14 turns round the first of several axes only.
        "REVERSE_V2": TFLITE_MICRO,
        "MIRROR_PAD": TFLITE_RUNTIME,
        "SPACE_TO_DEPTH": TFLITE_RUNTIME,
        "DEPTH_TO_SPACE": TFLITE_RUNTIME,
        "SPACE_TO_BATCH_ND": TFLITE_RUNTIME,
        "BATCH_TO_SPACE_ND": TFLITE_RUNTIME,
        "SOFTMAX": TFLITE_RUNTIME,
        # tflite-runtime makes a number of its tables one larger or smaller.
        "SOFTMAX int16": TFLITE_MICRO,
        "SOFTMAX int8 to int16": TFLITE_MICRO,
        "LOGISTIC": TFLITE_RUNTIME,
        "TANH": TFLITE_RUNTIME,
        "RELU": TFLITE_RUNTIME,
        # tflite-micro clamps without a change of scale.
        "RELU6": TFLITE_RUNTIME,
        "RELU_N1_TO_1": TFLITE_RUNTIME,
        # tflite-micro rounds ties of a negative slope the other way.
        "LEAKY_RELU": TFLITE_RUNTIME,
        **dict.fromkeys(("BROADCAST_ARGS", "IF", "SHAPE", "WHILE", "ZEROS_LIKE"), TFLITE_RUNTIME),
        "TFLM_DECODE": TFLITE_MICRO,
        "TFLite_Detection_PostProcess": TFLITE_MICRO,
        # tflite-micro writes beyond its results.
        "TFLite_Detection_PostProcess of several classes": TFLITE_RUNTIME,
        "TFLite_Detection_PostProcess uint8": TFLITE_MICRO,
        "QUANTIZE": TFLITE_RUNTIME,
        # tflite-runtime 2.14 gives 8 bits only from 8 bits.
        "QUANTIZE int8 to int16": TFLITE_MICRO,
        "DEQUANTIZE": TFLITE_RUNTIME,
    }
)


STATEFUL_RULES: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(
        (
            "ASSIGN_VARIABLE",
            "CALL_ONCE",
            "CIRCULAR_BUFFER",
            "READ_VARIABLE",
            "SVDF",
            "SignalDelay",
            "SignalFilterBankSpectralSubtraction",
            "SignalFramer",
            "SignalOverlapAdd",
            "SignalStacker",
            "UNIDIRECTIONAL_SEQUENCE_LSTM",
            "VAR_HANDLE",
        ),
        TFLITE_MICRO,
    )
)
"""Operators that keep state: what they hold is compared over sequences, on tflite-micro."""

NPU_RULES: Mapping[str, str] = MappingProxyType({"ethos-u": NPU_MODEL})
"""Layers that Vela compiled. With `--npu` an engine is asked about the file before Vela, which has none."""


def ruling_engine(operator: str) -> str:
    """The engine that rules for an operator; for several joined by `+`, tflite-runtime."""
    if operator in STATEFUL_RULES:
        return STATEFUL_RULES[operator]
    return TFLITE_RUNTIME if "+" in operator else RULING_ENGINE[operator]
