"""How C spells numbers, element types and names.

Floats read back to the same bits; names are prefixed, unique, and no word that C, C++ or the files use.
"""

import math
import re
from collections.abc import Iterable

import numpy as np

from codegen.ir import DType
from codegen.ir.c_names import is_taken
from codegen.program.constants import ConstantPool
from codegen.program.interface import IoTensor
from codegen.program.program import Bundle, Program

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1

PUBLIC_TYPES = {
    DType.INT8: "int8_t",
    DType.UINT8: "uint8_t",
    DType.INT16: "int16_t",
    DType.INT32: "int32_t",
    DType.INT64: "int64_t",
    DType.UINT16: "uint16_t",
    DType.UINT32: "uint32_t",
    DType.UINT64: "uint64_t",
    DType.FLOAT16: "uint16_t",
    DType.FLOAT32: "float",
    DType.FLOAT64: "double",
    DType.BOOL: "uint8_t",
}
"""Element types in public headers."""

POOL_TYPES = {
    DType.INT8: "int8_t",
    DType.UINT8: "uint8_t",
    DType.INT16: "cg_s16",
    DType.INT32: "cg_s32",
    DType.INT64: "void",
    DType.UINT16: "cg_u16",
    DType.UINT32: "cg_u32",
    DType.UINT64: "void",
    DType.FLOAT16: "cg_u16",
    DType.FLOAT32: "cg_f32",
    DType.FLOAT64: "void",
    DType.BOOL: "uint8_t",
}
"""Types through which kernels reach pool bytes; those of 64 bits are passed as plain bytes."""

_ARRAY_TYPES = {
    "i1": "int8_t",
    "u1": "uint8_t",
    "i2": "int16_t",
    "u2": "uint16_t",
    "i4": "int32_t",
    "u4": "uint32_t",
    "i8": "int64_t",
    "u8": "uint64_t",
    "f4": "float",
    "f8": "double",
    "b1": "uint8_t",
}


def array_type(dtype: np.dtype[np.generic]) -> str:
    """Element type of a linked constant; raises ValueError for a type C code has no use for."""
    c_type = _ARRAY_TYPES.get(f"{dtype.kind}{dtype.itemsize}")
    if c_type is None:
        raise ValueError(f"linked constants of {dtype} cannot be written in C")
    return c_type


def integer(value: int) -> str:
    """An integer constant of the narrowest of int, unsigned int and 64 bits; raises ValueError beyond."""
    if value == _INT32_MIN:
        return "INT32_MIN"
    if value == _INT64_MIN:
        return "INT64_MIN"
    if _INT32_MIN < value <= _INT32_MAX:
        return str(value)
    if 0 <= value < 2**32:
        return f"{value}u"
    if _INT64_MIN < value <= _INT64_MAX:
        return f"INT64_C({value})"
    if 0 <= value < 2**64:
        return f"UINT64_C({value})"
    raise ValueError(f"{value} has no C integer type")


def float32(value: float) -> str:
    """The shortest decimal that reads back as this float32; infinities and NaN by <math.h>'s macros.

    Raises ValueError if `value` is not a float32.
    """
    single = np.float32(value)
    if math.isnan(value):
        return "NAN"
    if float(single) != float(value):
        raise ValueError(f"{value!r} is not a float32")
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return _finite(str(single))


def _finite(text: str) -> str:
    """The constant of what NumPy prints: the shortest text that is unique among float32 values."""
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


def float32s(values: np.ndarray) -> list[str]:
    """`float32` of every element of a list of float32 (weights: millions); raises as it does."""
    if values.dtype != np.float32 or not np.isfinite(values).all():
        return [float32(float(value)) for value in values]
    return [_finite(str(value)) for value in values]


def float64s(values: np.ndarray) -> list[str]:
    """The shortest decimal of every element of a list of float64 that reads back as it."""
    return [str(value) if math.isfinite(value) else f"(double){float32(value)}" for value in values.tolist()]


def needs_math(texts: str) -> bool:
    """True if C text uses a macro of <math.h>."""
    # Weights are megabytes of text: a plain search is many times faster than one for words.
    maybe = "INFINITY" in texts or "NAN" in texts
    return maybe and re.search(r"\b(INFINITY|NAN)\b", texts) is not None


def scalar(value: bool | float) -> str:
    """A number as a struct field or an argument: true/false, an integer, or a float32."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return integer(value)
    # A Python float out of an attribute (a slope, say) is rounded to the float32 that C computes with.
    return float32(float(np.float32(value)))


# ---- names ------------------------------------------------------------------------------


def c_name(name: str) -> str:
    """`name`, with an underscore behind it if it is taken; raises ValueError for no C identifier."""
    if not _IDENTIFIER.match(name):
        raise ValueError(f"{name!r} is no C identifier")
    return f"{name}_" if is_taken(name) else name


def local_names(model: str, name: str, ending: str) -> tuple[str, ...]:
    """Names for a local of a function of `model`, the first that is free to be taken: `name`, unless that
    could hide what the model has at file scope."""
    longer = f"{name}{ending}"
    return (longer,) if name.startswith(f"{model}_") else (c_name(name), longer)


class TakenNames:
    """Hands out names, each once."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = set(names)
        self._next_number: dict[str, int] = {}
        """The lowest number that may be free behind a name."""

    def take(self, *candidates: str) -> str:
        """The first candidate that is free, else the last one with a number behind it."""
        stem = candidates[-1]
        name = next((candidate for candidate in candidates if candidate not in self._names), stem)
        while name in self._names:
            number = self._next_number.get(stem, 2)
            name, self._next_number[stem] = f"{stem}_{number}", number + 1
        self._names.add(name)
        return name


def pool_array(bundle: Bundle, pool: str) -> str:
    """Name of a pool's C object."""
    return f"{bundle.prefix}_{pool}_pool"


def reader_name(model: str) -> str:
    """Name of the function with which an application delivers a streamed input."""
    return f"{model}_read_row"


def pool_macro(name: str, pool: str) -> str:
    """Name of the macro with a pool's size in bytes; `name` is a model's, or the prefix of a bundle."""
    return f"{name}_{pool}_pool_size".upper()


def base_macro(model: str, pool: str) -> str:
    """Name of the macro with the first byte of a shared pool that is a model's."""
    return f"{model}_{pool}_pool_base".upper()


def constant_pool(bundle: Bundle, pool: ConstantPool) -> str:
    """Name of a constant pool as `pool_array` and `pool_macro` take it: `sram_constants` where a writable
    pool is called `sram` too (a board with one memory for everything)."""
    writable = {other.name for program in bundle.programs for other in program.memory.problem.pools}
    return f"{pool.name}_constants" if pool.name in writable else pool.name


def io_stems(bundle: Bundle, program: Program) -> tuple[list[str], list[str]]:
    """Stems of the macros and functions of every input and output: `image`, or `input_image` where
    that is taken by a tensor of the other side or by a pool."""
    pools = [pool.name for pool in program.memory.problem.pools]
    pools += [constant_pool(bundle, pool) for pool in bundle.constants]
    taken = TakenNames(f"{pool}_pool" for pool in pools)
    sides = (("input", program.signature.inputs), ("output", program.signature.outputs))
    inputs, outputs = ([_stem(taken, kind, tensor) for tensor in tensors] for kind, tensors in sides)
    return inputs, outputs


def _stem(taken: TakenNames, kind: str, tensor: IoTensor) -> str:
    # Without the underscore of a reserved word: with a suffix behind it the name is free.
    field = c_name(tensor.field).rstrip("_")
    return taken.take(field, f"{kind}_{field}")
