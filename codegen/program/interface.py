"""How firmware calls a model: its tensors, its state, who owns what."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codegen import ir

if TYPE_CHECKING:
    from codegen.ir import Function, TensorType


class IoMode(enum.Enum):
    """Who owns inputs and outputs."""

    POOL = "pool"
    CALLER = "caller"


@dataclass(frozen=True, kw_only=True, slots=True)
class Edge:
    """The application's share of a function's inputs and outputs: whose bytes they are, and for how long."""

    io: IoMode = IoMode.POOL
    kept: bool | frozenset[str] = False
    """Inputs that are intact when the last step is done: all, none, or those of these names."""
    shifted: frozenset[str] = frozenset()
    """Inputs whose bytes a step of the model itself takes: state that is shifted where it is."""
    streamed: str | None = None
    """The input that the application delivers row by row; it has no bytes of its own."""

    @property
    def is_callers(self) -> bool:
        """True if the caller owns all inputs and outputs."""
        return self.io is IoMode.CALLER

    def kept_inputs(self, function: "Function") -> frozenset[str]:
        """Names of the inputs of `function` that must be intact when the last step is done."""
        names = frozenset(param.name for param in function.params) - self.shifted
        return names & self.kept if isinstance(self.kept, frozenset) else names if self.kept else frozenset()

    def unwritten(self, function: "Function") -> frozenset[str]:
        """Names of the inputs that no step may write over: a caller's are not ours to write to."""
        return replace(self, kept=self.is_callers or self.kept).kept_inputs(function)

    def unplanned(self, function: "Function") -> frozenset[str]:
        """Names of the inputs and outputs that need no bytes of the plan."""
        owned = {self.streamed} if self.streamed is not None else set[str]()
        if self.is_callers:
            owned |= {var.name for var in (*function.params, *function.results) if isinstance(var, ir.Var)}
        return frozenset(owned)


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
    """Place of the constants."""

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
    busy_flag: bool = False
    """True if a call is refused while another one that shares memory has not ended."""

    @property
    def is_stepwise(self) -> bool:
        """True if there is a function that runs one step."""
        return self.entry is EntryMode.STEPS

    @property
    def caller_pools(self) -> bool:
        """True if the application owns the pools."""
        return self.pools is PoolOwner.CALLER

    @property
    def external(self) -> bool:
        """True if the constants are handed over at run time."""
        return self.constants is ConstantsMode.EXTERNAL


@dataclass(frozen=True, kw_only=True, slots=True)
class IoTensor:
    """A graph input or output as firmware sees it: C field name, file's name, type."""

    field: str
    origin: str
    value: str
    """Name of the variable (or, for a constant output, the id of the constant)."""
    type: "TensorType"


@dataclass(frozen=True, kw_only=True, slots=True)
class StatePair:
    """A pair of tensors of one type, named by field: the output is the input of the next inference."""

    input: str
    output: str
    initial: bytes
    """Bytes of the input before the first inference."""
    is_files: bool = False
    """A variable of the model's file: nobody outside knows it by name."""
    memory: str | None = None
    """The pool that it has to lie in."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Signature:
    """Inputs, outputs and state of an inference."""

    inputs: tuple[IoTensor, ...]
    outputs: tuple[IoTensor, ...]
    states: tuple[StatePair, ...] = ()
    """Pairs of an output and the input that it becomes in the next inference. If an output does not lie in
    its input's bytes, the last step copies it there."""

    def with_types(self, types: "Mapping[str, TensorType]") -> "Signature":
        """The signature with other types for the values that `types` names."""
        inputs, outputs = (
            tuple(replace(tensor, type=types[tensor.value]) for tensor in tensors)
            for tensors in (self.inputs, self.outputs)
        )
        return replace(self, inputs=inputs, outputs=outputs)

    @property
    def state_tensors(self) -> tuple[tuple[IoTensor, IoTensor], ...]:
        """Input and output of each state."""
        inputs = {tensor.field: tensor for tensor in self.inputs}
        outputs = {tensor.field: tensor for tensor in self.outputs}
        return tuple((inputs[state.input], outputs[state.output]) for state in self.states)

    @property
    def written_inputs(self) -> tuple[IoTensor, ...]:
        """The inputs that the application writes: all but state."""
        state_inputs = {state.input for state in self.states}
        return tuple(tensor for tensor in self.inputs if tensor.field not in state_inputs)

    @property
    def read_outputs(self) -> tuple[IoTensor, ...]:
        """The outputs that the application reads: all but state."""
        state_outputs = {state.output for state in self.states}
        return tuple(tensor for tensor in self.outputs if tensor.field not in state_outputs)


def axes_of(tensors: Sequence[IoTensor], symbol: str) -> list[tuple[str, int]]:
    """(tensor, axis) of every extent that is `symbol` at all sizes."""
    from codegen.ir.numbers import number_of, symbol_number

    number = symbol_number(symbol)
    return [
        (tensor.field, axis)
        for tensor in tensors
        for axis, extent in enumerate(tensor.type.shape)
        if number_of(extent) == number
    ]
