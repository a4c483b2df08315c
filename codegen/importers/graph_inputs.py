"""Graph inputs of a file, and extents of theirs that are set from outside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from types import MappingProxyType

from codegen.errors import CodegenError, Message
from codegen.ir.c_names import identifier

Extents = Mapping[tuple[int, int], int]
"""(graph input, axis) -> its extent, in place of the file's."""

NO_EXTENTS: Extents = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class FixedInput:
    """A word of `--fix`: a graph input, and its numbers in order, or one for all elements."""

    text: str
    name: str
    numbers: tuple[float, ...]

    @property
    def spelled(self) -> str:
        """The flag and its word."""
        return f"--fix {self.text}"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, kw_only=True, slots=True)
class InputSignature:
    """A graph input as the file declares it; extents that it leaves open are -1."""

    name: str
    shape: tuple[int, ...]
    symbols: tuple[str, ...] = ()
    """The file's names of the extents; empty, also as a whole, where it has none."""


def open_extents(name: str, shape: Sequence[int], symbols: Sequence[str]) -> tuple[str, str]:
    """Message and help about an input with open extents beside the first, in the file's own names."""
    names = [symbol for _, symbol in zip_longest(shape, symbols, fillvalue="")]
    words = [symbol or str(extent) for extent, symbol in zip(shape, names, strict=True)]
    text = f"has shape [{', '.join(words)}]: only the first extent may be unknown"
    return text, open_advice(name, shape, names)


def open_advice(name: str, shape: Sequence[int], symbols: Sequence[str] = ()) -> str:
    """How to say the open extents beside the first: as the file calls them, else by input and axis."""
    sizes = dict.fromkeys(
        identifier(symbol, "") if symbol else f"{identifier(name, 'input0')}.{axis}"
        for axis, (extent, symbol) in enumerate(zip_longest(shape, symbols, fillvalue=""))
        if axis and extent == -1
    )
    said = " ".join(f"--dim {size}=37" for size in sizes)
    return f"say how large it is: {said}, or a range: --dim {next(iter(sizes))}=10..200"


def refuse_others(file_name: str, fixes: Sequence[FixedInput]) -> None:
    """Raise CodegenError E276 for inputs to be fixed in a file that is no ONNX."""
    if fixes:
        text = f"{file_name} is no .onnx file: inputs of other formats cannot be made constants"
        help_ = "convert the model again without this input"
        raise CodegenError([Message(code="E276", text=text, where=fix.spelled, help=help_) for fix in fixes])
