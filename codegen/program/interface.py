"""How firmware calls a model: its tensors, its state, who owns what."""

import enum
from dataclasses import dataclass

from codegen.ir import TensorType


class IoMode(enum.Enum):
    """Who owns inputs and outputs."""

    POOL = "pool"
    CALLER = "caller"


class EntryMode(enum.Enum):
    """How an application runs an inference."""

    RUN = "run"
    """One function."""
    STEPS = "steps"
    """That, and a function that runs one step, for schedulers and watchdogs."""


class PoolOwner(enum.Enum):
    """Who owns the pools."""

    STATIC = "static"
    """The generated code: arrays in the pools' sections."""
    CALLER = "caller"
    """The application, which hands them to every call: several instances may run at once."""


class ConstantsMode(enum.Enum):
    """Where the constants are."""

    LINKED = "linked"
    """In the image, as C tables."""
    EXTERNAL = "external"
    """In an image of their own, which the application hands over at run time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Interface:
    """How firmware calls a model; decides nothing of the plan."""

    entry: EntryMode = EntryMode.RUN
    pools: PoolOwner = PoolOwner.STATIC
    constants: ConstantsMode = ConstantsMode.LINKED

    @property
    def is_stepwise(self) -> bool:
        """Whether there is a function that runs one step."""
        return self.entry is EntryMode.STEPS

    @property
    def caller_pools(self) -> bool:
        """Whether the application owns the pools."""
        return self.pools is PoolOwner.CALLER

    @property
    def external(self) -> bool:
        """Whether the constants are handed over at run time."""
        return self.constants is ConstantsMode.EXTERNAL


@dataclass(frozen=True, kw_only=True, slots=True)
class IoTensor:
    """A graph input or output as firmware sees it: C field name, file's name, type."""

    field: str
    origin: str
    value: str
    """Name of the variable (or, for a constant output, the id of the constant)."""
    type: TensorType


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """A pair of tensors of one type, named by field: the output is the input of the next inference."""

    input: str
    output: str
