"""A file format of models, as its folder states it, and the formats that ship.

A format is a package beside this module with a `model_format.py` that has a `FORMAT`: there is no list of
them.
"""

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from codegen.importers.file_tensors import Imported
from codegen.importers.graph_inputs import NO_EXTENTS, Extents, FixedInput, InputSignature
from codegen.importers.limits import STATED, ByteLimits
from codegen.ir.ops import UserKernel


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenedFile:
    """The bytes of a model file, and what an importer is asked to make of them."""

    data: bytes
    name: str
    """The file's name as messages say it."""
    folder: Path
    """The file's folder, for constants that lie beside it."""
    kernels: Sequence[UserKernel] = ()
    extents: Extents = field(default_factory=lambda: NO_EXTENTS)
    limits: ByteLimits = STATED
    fixes: Sequence[FixedInput] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelFormat:
    """How files of one format are known and read. Every function raises CodegenError for a wrong file."""

    name: str
    suffixes: tuple[str, ...]
    """Ends of file names, lower case, that decide where the contents do not tell."""
    has_contents: Callable[[bytes], bool]
    """True if the bytes are surely of this format."""
    whole: Callable[[OpenedFile], bytes]
    """Bytes that need no other file, fixed inputs applied."""
    load: Callable[[OpenedFile], Imported]
    signatures: Callable[[OpenedFile], tuple[InputSignature, ...]]


@cache
def formats() -> tuple[ModelFormat, ...]:
    """Every format, by folder."""
    rooms = [room.name for room in pkgutil.iter_modules([str(Path(__file__).parent)]) if room.ispkg]
    modules = (importlib.import_module(f"codegen.importers.{room}.model_format") for room in sorted(rooms))
    return tuple(module.FORMAT for module in modules)


def format_of(data: bytes, suffix: str) -> ModelFormat | None:
    """The format that these bytes are surely of, else the one whose files end in `suffix`."""
    rows = formats()
    by_contents = (row for row in rows if row.has_contents(data))
    by_suffix = (row for row in rows if suffix in row.suffixes)
    return next(by_contents, None) or next(by_suffix, None)
