"""Operators that are not translated, for which the user has declared a kernel."""

from codegen.importers.limits import MAX_OPTION_BYTES
from codegen.importers.tflite.operators.site import Site, Translated
from codegen.importers.tflite.problems import Refused
from codegen.ir.ops import USER, UserAttrs, UserKernel


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
