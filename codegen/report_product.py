"""The `product` of report.json as values with types: sources, flags and tensors that an application needs."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class ProductTensor:
    """An input or output as an application sees it."""

    field: str
    macro: str
    c_type: str
    dtype: str
    shape: tuple[int, ...]
    size_bytes: int
    scale: float | None
    """Scale of a quantised tensor that has one: a stored q stands for scale * (q - zero_point)."""
    zero_point: int | None
    converter: str
    """The header's inline function between a real number and what is stored; empty if there is none."""
    is_streamed: bool

    @property
    def elements(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)

    @property
    def has_classes(self) -> bool:
        """True if it is one list of numbers, as a classifier's scores are."""
        return self.elements > 1 and self.elements == self.shape[-1]


@dataclass(frozen=True, kw_only=True, slots=True)
class ProductModel:
    """Functions and tensors of a model that an application uses."""

    name: str
    inputs: tuple[ProductTensor, ...]
    outputs: tuple[ProductTensor, ...]
    has_state: bool
    is_plain: bool
    pools: tuple[str, ...]
    """Pools that the application owns and hands to each call."""
    has_external_constants: bool
    has_sizes: bool
    """A call says sizes, which are known as ranges."""
    stack_bytes: int | None
    """Static bound of a call; None on the host."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProductMemory:
    """One memory of the board."""

    name: str
    address: int
    size_bytes: int
    writable: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ProductBoard:
    """Facts of the board that a linker script and an emulator need."""

    title: str
    memories: tuple[ProductMemory, ...]
    code_memory: str
    data_memory: str
    qemu_machine: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Product:
    """Sources that an application compiles, flags for them, and models that it calls."""

    generator: str
    prefix: str
    sources: tuple[str, ...]
    data: tuple[str, ...]
    needs: tuple[str, ...] = ()
    compiler_flags: tuple[str, ...]
    level: tuple[str, ...]
    models: tuple[ProductModel, ...]
    board: ProductBoard
