"""The operators of a file that are imported, by TFLite's name, and who translates them.

An operator that is not translated becomes a call of the kernel that the user has declared for it, if any.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tflite.AddOptions import AddOptions
from tflite.MulOptions import MulOptions
from tflite.SubOptions import SubOptions

from codegen.importers.limits import MAX_OPTION_BYTES
from codegen.importers.tflite.operators import elementwise, shaping, windows
from codegen.importers.tflite.operators.site import FOLDED, Site, Translated
from codegen.importers.tflite.problems import Refused
from codegen.ir.ops import POINTWISE, USER, Attrs, UserAttrs, UserKernel


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
        "STRIDED_SLICE": shaping.strided_slice,
        "SUB": elementwise.binary(SubOptions),
        "TRANSPOSE": shaping.transpose,
    }
)
"""Those with one output."""

SPLITTERS: Mapping[str, Callable[[Site], tuple[Translated, ...]]] = MappingProxyType(
    {"SPLIT": shaping.split, "SPLIT_V": shaping.split_v}
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


STATE_OPS = HANDLE, READ, ASSIGN, ONCE = ("VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "CALL_ONCE")
"""Operators on variables: no steps, but say which values are state (`codegen.importers.tflite.variables`)."""


def is_imported(name: str) -> bool:
    """Whether files may have operator `name` without a kernel of the user's."""
    return name in TRANSLATORS or name in SPLITTERS or name in STATE_OPS or name == "SHAPE"


def imported_ops() -> Mapping[str, str | None]:
    """Every operator that files may have, sorted, with the operator of the IR that it becomes.

    None: it becomes none, for its result is known when the file is read, or it is about state.
    """
    names = sorted((*TRANSLATORS, *SPLITTERS, *FOLDED, *STATE_OPS))
    return {
        name: None if name in FOLDED or name in STATE_OPS else _IMPORTED_AS.get(name, name) for name in names
    }
