"""Plain records of a file: values by name, nodes in order, functions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True, slots=True)
class Reference:
    """In a function: the value of the caller's attribute `name`."""

    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class FileValue:
    """A graph input or output as the file declares it; extents that it leaves open are -1."""

    name: str
    dtype: str
    """NumPy's name of the element type."""
    shape: tuple[int, ...] | None
    """None where the file says nothing of it."""
    symbols: tuple[str, ...] = ()
    """The file's names of the extents that it leaves open (`dim_param`); empty for one without a name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileNode:
    """One node of the graph; an input or output that is left out has an empty name."""

    index: int
    op: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, "Attribute"]
    within: str = ""
    """The function that it is a part of."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileBody:
    """A function, or a graph inside a node (a branch, what a loop repeats)."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[FileNode, ...]
    constants: Mapping[str, np.ndarray]
    opset: int
    defaults: Mapping[str, "Attribute"]
    """Attributes of a function that the caller may leave out."""


Numbers = Sequence[int] | Sequence[float]
Attribute = int | float | str | np.ndarray | Numbers | Sequence[str] | FileBody | Reference | None
"""The value of a node's attribute; None for a kind that nothing here reads."""

Functions = Mapping[tuple[str, str], FileBody]
"""Functions of a file by domain and name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileGraph:
    """A file's graph: values by name, nodes in order."""

    opset: int
    inputs: tuple[FileValue, ...]
    """Inputs that no constant of the file stands for."""
    outputs: tuple[FileValue, ...]
    nodes: tuple[FileNode, ...]
    constants: Mapping[str, np.ndarray]
    """float16 as float32."""
    has_halves: bool
    """True if some constants of the file are float16."""
    functions: Functions
