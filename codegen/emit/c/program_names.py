"""C names for a program: prefixed, unique, and no word that C, C++ or the files themselves use."""

import re
from collections.abc import Iterable

from codegen.ir.c_names import is_taken
from codegen.program.constants import ConstantPool
from codegen.program.interface import IoTensor
from codegen.program.program import Bundle, Program

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")


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
