"""Advice for an operator or a type of the file that is not supported: the words fit the case."""

from collections.abc import Mapping
from types import MappingProxyType

from codegen.importers.reporting import ImportProblem

_OPS = "`codegen ops` lists the supported operators"
_KERNEL = f"{_OPS}; a kernel of your own can be declared in codegen.toml (docs/user_kernels.md)"
_CUT = "end the model before it, and compute the rest in code of your own"

_VENDORS: Mapping[str, str] = MappingProxyType(
    {
        "edgetpu-custom-op": "the compiler for Google's Edge TPU",
        "NeutronGraph": "NXP's converter for the Neutron",
        "DISPATCH_OP": "LiteRT's compiler for an NPU",
        "XC_": "XMOS's optimiser for the xcore",
    }
)
"""Custom operators that hold layers as a vendor's compiler left them: start of the name, which compiler."""

_VENDOR_ADVICE = (
    "use the file from before the vendor's compiler; a kernel that drives the device can be declared in "
    "codegen.toml (docs/user_kernels.md)"
)

_HANDLE_ADVICE = (
    "export the model with its state as inputs and outputs; [[state]] in codegen.toml keeps it "
    "(docs/configuration.md)"
)

_SPECTRUM_ADVICE = "leave the Fourier transform outside: give the model real numbers"
_ONE_FUNCTION = "convert the model as one function, with fixed sizes"
CONTROL_FLOW = ("CALL", "IF", "WHILE")
"""Operators that run other subgraphs."""

_FLEX = "Flex"
"""Start of the names of TensorFlow's own operators."""
_BUILTIN: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("COMPLEX_ABS", "IMAG", "REAL", "RFFT2D"), _SPECTRUM_ADVICE)
)
"""Operators of TFLite for which a kernel cannot be declared, as they are on numbers that no kernel takes."""

_SIZED_BY_DATA: Mapping[str, str] = MappingProxyType(
    {
        "UNIQUE": "how many values it finds depends on the data, and sizes are planned before",
        "WHERE": "how many places it finds depends on the data, and sizes are planned before",
    }
)
"""Why operators are not imported whose results are as large as the data say."""

_CUSTOM: Mapping[str, str] = MappingProxyType(
    {
        _FLEX: "a TensorFlow operator: convert without SELECT_TF_OPS, with operators that TFLite has",
        "Signal": "end the model behind it, and compute these features in code of your own, or "
        "declare a kernel in codegen.toml (docs/user_kernels.md)",
    }
)
"""Custom operators of TensorFlow's own by the start of their names."""

_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "uint8": "convert it again as int8: target_spec.supported_ops = [TFLITE_BUILTINS_INT8], "
        "inference_input_type = inference_output_type = tf.int8",
        "float16": "convert it again without float16 in target_spec.supported_types: as int8 or float32",
        "string": "leave text outside: give the model the numbers that it stands for",
        "complex64": _SPECTRUM_ADVICE,
        "complex128": _SPECTRUM_ADVICE,
        "float64": "build the model with float32 (Keras: set_floatx), and convert it again",
        "int4": "convert it again with weights of 8 bits",
        "resource": _HANDLE_ADVICE,
        "variant": _HANDLE_ADVICE,
    }
)
_ANY_TYPE = "convert it again with int8 or float32 values"


def advice_for_type(name: str) -> str:
    """Advice about a tensor of the element type `name`."""
    return _TYPES.get(name, _ANY_TYPE)


def unsupported(name: str, custom_name: str, outputs: int) -> ImportProblem:
    """The problem of an operator of so many outputs that is not imported, with advice."""
    if custom_name or name == "CUSTOM":
        return _unsupported_custom(custom_name, outputs)
    if name in CONTROL_FLOW:
        return _missing(f"control flow ({name} calls another subgraph) is not supported", _ONE_FUNCTION)
    text = f"operator {name} is not supported"
    if name in _SIZED_BY_DATA:
        return _missing(f"{text}: {_SIZED_BY_DATA[name]}", _CUT)
    return _missing(text, _BUILTIN.get(name) or _kernel(outputs))


def _unsupported_custom(name: str, outputs: int) -> ImportProblem:
    text = f'custom operator "{name}" is not supported'
    vendor = _by_start(_VENDORS, name)
    if vendor is not None:
        what = f"it is what {vendor} made of layers"
        return _missing(
            f"{text}: {what}", _VENDOR_ADVICE, f"a custom operator is not supported: {what}", name
        )
    if name.startswith(_FLEX):
        return _missing(text, _CUSTOM[_FLEX], "an operator of TensorFlow itself is not supported", name)
    return _missing(text, _by_start(_CUSTOM, name) or _kernel(outputs))


def _missing(text: str, advice: str, reason: str | None = None, subject: str = "") -> ImportProblem:
    return ImportProblem(code="E301", text=text, advice=advice, reason=reason, subject=subject)


def _by_start(words_by_start: Mapping[str, str], name: str) -> str | None:
    return next((words for start, words in words_by_start.items() if name.startswith(start)), None)


def _kernel(outputs: int) -> str:
    """A kernel can be declared for an operator of one output only."""
    return _KERNEL if outputs == 1 else f"{_OPS}; {_CUT}"
