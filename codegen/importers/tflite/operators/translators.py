"""The operators of a file that are imported, by TFLite's name, and who translates them.

An operator that is not translated becomes a call of the kernel that the user has declared for it, if any.
"""

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

from codegen.ethos_u.payload import OPERATOR as ETHOS_U
from codegen.importers.limits import MAX_OPTION_BYTES
from codegen.importers.reporting import Refused
from codegen.importers.tflite.operators import elementwise, rearranging, resizing, shaping, windows
from codegen.importers.tflite.operators.custom import detection, signal, vela
from codegen.importers.tflite.operators.custom.streaming import STREAMING
from codegen.importers.tflite.operators.recurrent import LSTM
from codegen.importers.tflite.operators.site import FOLDED, Site, Translated
from codegen.importers.tflite.operators.svdf import SVDF
from codegen.ir.ops import POINTWISE, USER, UserAttrs, UserKernel


def call(site: Site, kernel: UserKernel) -> Translated:
    """The call of `kernel`: every input as it is, types and shape of the result as the file declares them.

    Raises Refused for several outputs, for options that are too long, and for an operator that no input of
    the model reaches: its result would be a constant that only the kernel can compute.
    """
    option_bytes = site.operator.custom_option_bytes
    if option_bytes > MAX_OPTION_BYTES:
        raise Refused("E305", f"has {option_bytes} bytes of options, supported are {MAX_OPTION_BYTES}")
    outputs = len(site.operator.outputs)
    if outputs != 1:
        text = f"has {outputs} outputs; a kernel declared in codegen.toml computes one result"
        raise Refused("E301", text, "convert the model so that this operator has one output")
    args = site.all_args()
    if not site.depends_on_inputs:
        text = "depends on no input of the model: its result is a constant that only its kernel could compute"
        raise Refused("E301", text, "convert the model with the result as a constant")
    attrs = UserAttrs(kernel=kernel, shape=site.result.shape, options=tuple(site.operator.custom_options))
    return Translated(op=USER.name, args=args, attrs=attrs)


_PAIRS = (
    *("EQUAL", "FLOOR_DIV", "FLOOR_MOD", "LESS", "LESS_EQUAL", "MAXIMUM", "MINIMUM", "NOT_EQUAL", "PRELU"),
    "SQUARED_DIFFERENCE",
)

TRANSLATORS: Mapping[str, Callable[[Site], Translated]] = MappingProxyType(
    {
        **dict.fromkeys((op.name for op in POINTWISE), elementwise.unary),
        **{name: elementwise.plain(name) for name in _PAIRS},
        "ADD": elementwise.binary,
        "ADD_N": elementwise.add_n,
        "AVERAGE_POOL_2D": windows.pool_2d,
        "BATCH_TO_SPACE_ND": rearranging.batch_to_space,
        "BROADCAST_TO": rearranging.broadcast_to,
        "CAST": elementwise.cast,
        "CUMSUM": shaping.cumsum,
        "CONCATENATION": shaping.concatenation,
        "CONV_2D": windows.conv_2d,
        "DEPTHWISE_CONV_2D": windows.depthwise_conv_2d,
        "DEPTH_TO_SPACE": rearranging.depth_to_space,
        "DIV": elementwise.binary,
        "DYNAMIC_UPDATE_SLICE": elementwise.plain("DYNAMIC_UPDATE_SLICE", 3),
        "EMBEDDING_LOOKUP": rearranging.embedding_lookup,
        "EXPAND_DIMS": shaping.expand_dims,
        "FILL": rearranging.fill,
        "FULLY_CONNECTED": windows.fully_connected,
        "GATHER": rearranging.gather,
        "GATHER_ND": rearranging.gather_nd,
        "GREATER": elementwise.plain("LESS", swapped=True),
        "GREATER_EQUAL": elementwise.plain("LESS_EQUAL", swapped=True),
        "L2_NORMALIZATION": elementwise.l2_normalization,
        "L2_POOL_2D": windows.l2_pool_2d,
        "LOG_SOFTMAX": elementwise.unary,
        "LOGICAL_AND": elementwise.plain("MINIMUM"),
        "LOGICAL_NOT": elementwise.plain("LOGICAL_NOT", 1),
        "LOGICAL_OR": elementwise.plain("MAXIMUM"),
        "MAX_POOL_2D": windows.pool_2d,
        **dict.fromkeys(
            ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_ALL", "REDUCE_ANY"), shaping.mean
        ),
        **dict.fromkeys(("ARG_MAX", "ARG_MIN"), shaping.arg),
        "BATCH_MATMUL": shaping.batch_matmul,
        "MIRROR_PAD": rearranging.mirror_pad,
        "MUL": elementwise.binary,
        "PACK": rearranging.pack,
        "PAD": shaping.pad,
        "PADV2": shaping.pad_v2,
        "RESHAPE": shaping.reshape,
        "RESIZE_BILINEAR": resizing.resize_bilinear,
        "RESIZE_NEAREST_NEIGHBOR": resizing.resize_nearest,
        "REVERSE_V2": rearranging.reverse,
        "SELECT": elementwise.select,
        "SELECT_V2": elementwise.plain("SELECT_V2", 3),
        "SLICE": rearranging.slice_,
        "SOFTMAX": elementwise.unary,
        "SignalEnergy": signal.energy,
        "SignalFilterBank": signal.filter_bank,
        "SignalFilterBankLog": signal.logarithm,
        "SignalFilterBankSquareRoot": signal.square_root,
        "SignalIrfft": signal.transform("SIGNAL_IRFFT"),
        "SignalPCAN": signal.pcan,
        "SignalRfft": signal.transform("SIGNAL_RFFT"),
        "SignalWindow": signal.window,
        "SPACE_TO_BATCH_ND": rearranging.space_to_batch,
        "SPACE_TO_DEPTH": rearranging.space_to_depth,
        "SQUARE": elementwise.square,
        "SQUEEZE": shaping.squeeze,
        "STRIDED_SLICE": shaping.strided_slice,
        "TILE": rearranging.tile,
        "SUB": elementwise.binary,
        "TRANSPOSE": shaping.transpose,
        "TRANSPOSE_CONV": resizing.transpose_conv,
    }
)
"""Operators with one output."""

SPLITTERS: Mapping[str, Callable[[Site], tuple[Translated, ...]]] = MappingProxyType(
    {
        "SPLIT": shaping.split,
        "SPLIT_V": shaping.split_v,
        "SignalFftAutoScale": signal.scaled,
        detection.DETECTION: detection.post_process,
        ETHOS_U: vela.npu_layers,
        "UNPACK": rearranging.unpack,
    }
)
"""Operators with several outputs: one step each."""

_IMPORTED_AS: Mapping[str, str] = MappingProxyType(
    {
        "BATCH_TO_SPACE_ND": "TRANSPOSE",
        "CIRCULAR_BUFFER": "CONCATENATION",
        "DEPTH_TO_SPACE": "TRANSPOSE",
        "EMBEDDING_LOOKUP": "GATHER",
        "EXPAND_DIMS": "RESHAPE",
        "FILL": "BROADCAST_TO",
        "GREATER": "LESS",
        "GREATER_EQUAL": "LESS_EQUAL",
        "L2_POOL_2D": "AVERAGE_POOL_2D",
        "LOGICAL_AND": "MINIMUM",
        "LOGICAL_OR": "MAXIMUM",
        "MIRROR_PAD": "CONCATENATION",
        "PACK": "CONCATENATION",
        "PADV2": "PAD",
        "REDUCE_ALL": "REDUCE_MIN",
        "REDUCE_ANY": "REDUCE_MAX",
        "RESIZE_NEAREST_NEIGHBOR": "GATHER",
        "REVERSE_V2": "STRIDED_SLICE",
        "SELECT": "SELECT_V2",
        "SLICE": "STRIDED_SLICE",
        "SignalDelay": "CONCATENATION",
        "SignalEnergy": "SIGNAL_ENERGY",
        "SignalFftAutoScale": "SIGNAL_SCALE",
        "SignalFilterBank": "SIGNAL_FILTER_BANK",
        "SignalFilterBankLog": "SIGNAL_LOG",
        "SignalFilterBankSpectralSubtraction": "SIGNAL_SUBTRACT",
        "SignalFilterBankSquareRoot": "SIGNAL_SQUARE_ROOT",
        "SignalFramer": "CONCATENATION",
        "SignalIrfft": "SIGNAL_IRFFT",
        "SignalOverlapAdd": "SIGNAL_OVERLAP_ADD",
        "SignalPCAN": "SIGNAL_PCAN",
        "SignalRfft": "SIGNAL_RFFT",
        "SignalStacker": "CONCATENATION",
        "SignalWindow": "SIGNAL_WINDOW",
        "SPACE_TO_BATCH_ND": "TRANSPOSE",
        "SPACE_TO_DEPTH": "TRANSPOSE",
        "SPLIT": "STRIDED_SLICE",
        "SPLIT_V": "STRIDED_SLICE",
        "SQUARE": "MUL",
        "SQUEEZE": "RESHAPE",
        "SVDF": "DEPTHWISE_CONV_2D",
        detection.DETECTION: "DETECTION_POST_PROCESS",
        ETHOS_U: "NPU",
        "TILE": "BROADCAST_TO",
        "TRANSPOSE_CONV": "CONV_2D",
        "UNPACK": "STRIDED_SLICE",
    }
)
"""Operators that become another one of the IR, alone or with steps that change its shape; the others keep
their names."""


STATE_OPS = HANDLE, READ, ASSIGN, ONCE = ("VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "CALL_ONCE")
"""Operators on variables: no steps, but say which values are state (`codegen.importers.tflite.variables`)."""

HOLDERS = (LSTM, SVDF, *STREAMING)
"""Operators that hold state themselves (`codegen.importers.tflite.held_state`)."""


DECODE = "TFLM_DECODE"
"""A custom operator on constants alone (`codegen.importers.tflite.decoded`)."""

CONTROL_OPS = ("IF", "WHILE")
"""Operators that run other subgraphs, which take their place (`codegen.importers.tflite.control`)."""


def is_imported(name: str) -> bool:
    """True if files may have operator `name` without a kernel of the user's."""
    return name in TRANSLATORS or name in SPLITTERS or name in (*STATE_OPS, *HOLDERS) or name in FOLDED


@cache
def imported_ops() -> Mapping[str, str | None]:
    """Every operator that files may have, sorted, with the operator of the IR that it becomes.

    None: it becomes none, for its result is known when the file is read, or it is about state.
    """
    translated = {*TRANSLATORS, *SPLITTERS, *HOLDERS}
    names = sorted({*translated, *FOLDED, *STATE_OPS, *CONTROL_OPS, DECODE})
    return {name: _IMPORTED_AS.get(name, name) if name in translated else None for name in names}
