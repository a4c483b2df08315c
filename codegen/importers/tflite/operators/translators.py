"""The operators of a file that are imported, by TFLite's name, and who translates them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tflite.AddOptions import AddOptions
from tflite.MulOptions import MulOptions
from tflite.SubOptions import SubOptions

from codegen.importers.tflite.operators import elementwise, shaping, slicing, windows
from codegen.importers.tflite.operators.folding import FOLDED
from codegen.importers.tflite.operators.site import Site, Translated
from codegen.ir.ops import POINTWISE, Attrs

TRANSLATORS: Mapping[str, Callable[[Site], Translated]] = MappingProxyType(
    {
        **{op.name: elementwise.unary for op in POINTWISE if op.attrs_type is Attrs},
        "ADD": elementwise.binary(AddOptions),
        "AVERAGE_POOL_2D": windows.pool_2d,
        "CONCATENATION": shaping.concatenation,
        "CONV_2D": windows.conv_2d,
        "DEPTHWISE_CONV_2D": windows.depthwise_conv_2d,
        "EXPAND_DIMS": shaping.expand_dims,
        "FULLY_CONNECTED": windows.fully_connected,
        "LEAKY_RELU": elementwise.leaky_relu,
        "MAX_POOL_2D": windows.pool_2d,
        "MEAN": shaping.mean,
        "MUL": elementwise.binary(MulOptions),
        "PAD": shaping.pad,
        "PADV2": shaping.pad_v2,
        "RESHAPE": shaping.reshape,
        "SOFTMAX": elementwise.softmax,
        "SQUEEZE": shaping.squeeze,
        "STRIDED_SLICE": slicing.strided_slice,
        "SUB": elementwise.binary(SubOptions),
        "TRANSPOSE": shaping.transpose,
    }
)
"""Those with one output."""

SPLITTERS: Mapping[str, Callable[[Site], tuple[Translated, ...]]] = MappingProxyType(
    {"SPLIT": slicing.split, "SPLIT_V": slicing.split_v}
)
"""Those with several outputs: one step each."""

_IMPORTED_AS: Mapping[str, str] = MappingProxyType(
    {
        "EXPAND_DIMS": "RESHAPE",
        "PADV2": "PAD",
        "SPLIT": "STRIDED_SLICE",
        "SPLIT_V": "STRIDED_SLICE",
        "SQUEEZE": "RESHAPE",
    }
)
"""Operators that become another one of the IR; the others keep their names."""


def is_imported(name: str) -> bool:
    """Whether files may have operator `name` without a kernel of the user's."""
    return name in TRANSLATORS or name in SPLITTERS or name == "SHAPE"


def imported_ops() -> Mapping[str, str | None]:
    """Every operator that files may have, sorted, with the operator of the IR that it becomes.

    None: it becomes none, for its result is known when the file is read.
    """
    names = sorted((*TRANSLATORS, *SPLITTERS, *FOLDED))
    return {name: None if name in FOLDED else _IMPORTED_AS.get(name, name) for name in names}
