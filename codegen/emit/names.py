"""C names for a program: prefixed, unique, and no word that C, C++ or the files themselves use."""

import re
from collections.abc import Iterable

from codegen.plan.bundle import Bundle
from codegen.plan.program import ConstantPool, IoTensor, Program

_C_AND_CPP = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class compl
const const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit
export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
nullptr operator or or_eq private protected public register reinterpret_cast restrict return short signed
sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef
typeid typename typeof union unsigned using virtual void volatile wchar_t while xor xor_eq
"""
_GCC_MACROS = "linux unix"
_RENDERED = """
int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t size_t ptrdiff_t intptr_t uintptr_t
cg_f32 cg_s16 cg_s32 cg_status memcpy memset main inputs outputs copy_tensor
"""
_WORDS = frozenset(f"{_C_AND_CPP} {_GCC_MACROS} {_RENDERED}".split())

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")


def c_name(name: str) -> str:
    """`name`, with an underscore behind it if it is taken; raises ValueError for no C identifier."""
    if not _IDENTIFIER.match(name):
        raise ValueError(f"{name!r} is no C identifier")
    return f"{name}_" if name in _WORDS else name


class Taken:
    """Hands out names, each once."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = set(names)

    def take(self, *candidates: str) -> str:
        """The first candidate that is free, else the last one with a number behind it."""
        numbered = (f"{candidates[-1]}_{number}" for number in range(2, 2 + len(self._names) + 1))
        for candidate in (*candidates, *numbered):
            if candidate not in self._names:
                self._names.add(candidate)
                return candidate
        raise AssertionError("more candidates than names cannot all be taken")


def pool_array(bundle: Bundle, pool: str) -> str:
    """Name of a pool's C object."""
    return c_name(f"{bundle.prefix}_{pool}_pool")


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
    writable = {other.name for program in bundle.programs for other in program.problem.pools}
    return f"{pool.name}_constants" if pool.name in writable else pool.name


def io_stems(bundle: Bundle, program: Program) -> tuple[list[str], list[str]]:
    """Stems of the macros and functions of every input and output: `image`, or `input_image` where
    that is taken by a tensor of the other side or by a pool."""
    pools = [pool.name for pool in program.problem.pools]
    pools += [constant_pool(bundle, pool) for pool in bundle.constants]
    taken = Taken(f"{pool}_pool" for pool in pools)
    sides = (("input", program.inputs), ("output", program.outputs))
    inputs, outputs = ([_stem(taken, kind, tensor) for tensor in tensors] for kind, tensors in sides)
    return inputs, outputs


def _stem(taken: Taken, kind: str, tensor: IoTensor) -> str:
    # Without the underscore of a reserved word: with a suffix behind it the name is free.
    field = c_name(tensor.field).rstrip("_")
    return taken.take(field, f"{kind}_{field}")
