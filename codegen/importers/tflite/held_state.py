"""State that an operator holds itself, in variable tensors of the file: a parameter and a result of the
function, as variables are."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np

from codegen.importers.reporting import Refused
from codegen.importers.tflite.file.reader import FileOperator
from codegen.importers.tflite.operators.custom.streaming import STREAMING
from codegen.importers.tflite.operators.recurrent import (
    CELL,
    HIDDEN,
    LSTM,
    first_state,
    lstm,
    new_state,
    state_type,
)
from codegen.importers.tflite.operators.site import Site, Translated, Values, source
from codegen.importers.tflite.operators.steps import Chain, Parts, chain
from codegen.importers.tflite.operators.svdf import SVDF, WINDOW, svdf, window_type
from codegen.importers.tflite.variables import Variables
from codegen.ir import TensorType, Var
from codegen.ir.ops import SHIFT


class HeldState(ABC):
    """The state of one operator."""

    @abstractmethod
    def translate(self, site: Site) -> tuple[Translated, ...]:
        """The operator's results."""

    @abstractmethod
    def kept(self, made: Sequence[Chain], done: Parts) -> tuple[Chain, ...]:
        """Say which values are the state of the next inference; gives the steps that this takes. `done`: what
        those of the results, `made`, have computed."""


class _Lstm(HeldState):
    """Hidden and cell state of UNIDIRECTIONAL_SEQUENCE_LSTM, one value."""

    def __init__(
        self, operator: FileOperator, values: Values, variables: Variables, identifiers: Mapping[str, str]
    ) -> None:
        self._operator, self._tensors, self._variables = operator, values.tensors, variables
        if len(operator.inputs) <= CELL:
            raise Refused("E303", f"has {len(operator.inputs)} inputs, needs 24")
        places = operator.inputs[HIDDEN], operator.inputs[CELL]
        hidden, self._cell = (self._tensors.state_type(index) for index in places)
        _need_own(values, places)
        self._type = state_type(hidden, self._cell)
        state = variables.hold(operator, self._type, first_state(hidden), identifiers)
        for index in places:
            values.define(index, state, from_inputs=True)

    def translate(self, site: Site) -> tuple[Translated, ...]:
        return (lstm(site, self._cell),)

    def kept(self, made: Sequence[Chain], done: Parts) -> tuple[Chain, ...]:
        """The steps that take the state out of the operator's result."""
        del done
        both = next(let for let in made[0] if let.call.op.name == LSTM)
        step = new_state(both.var, self._type)
        steps = chain(step, self._type, source(self._operator, self._tensors), "_state")
        self._variables.keep(self._operator, steps[-1].var)
        return (steps,)


class _Svdf(HeldState):
    """The window of an SVDF."""

    def __init__(
        self, operator: FileOperator, values: Values, variables: Variables, identifiers: Mapping[str, str]
    ) -> None:
        self._operator, self._variables = operator, variables
        if len(operator.inputs) <= WINDOW:
            raise Refused("E303", f"has {len(operator.inputs)} inputs, needs 5")
        place = operator.inputs[WINDOW]
        state = values.tensors.state_type(place)
        _need_own(values, (place,))
        window = window_type(state, values.tensors.type(operator.inputs[WINDOW - 2]))
        zero = window.zero_point if window.dtype.size_bytes == 1 else 0
        first = np.full(window.shape, zero, window.dtype.numpy).tobytes()
        values.define(place, variables.hold(operator, window, first, identifiers), from_inputs=True)

    def translate(self, site: Site) -> tuple[Translated, ...]:
        return (svdf(site),)

    def kept(self, made: Sequence[Chain], done: Parts) -> tuple[Chain, ...]:
        """None: the window is shifted where it is."""
        del done
        shifted = next(let for let in made[0] if let.call.op is SHIFT)
        self._variables.keep(self._operator, shifted.var)
        return ()


class _Stream(HeldState):
    """The states of one operator of `STREAMING`, of zeros at first."""

    def __init__(
        self, operator: FileOperator, values: Values, variables: Variables, identifiers: Mapping[str, str]
    ) -> None:
        self._operator, self._tensors, self._variables = operator, values.tensors, variables
        self._identifiers = identifiers
        self._held: list[TensorType] = []
        self._next: tuple[Translated, ...] = ()

    def _hold(self, type_: TensorType) -> Var:
        self._held.append(type_)
        zero = type_.zero_point if type_.dtype.size_bytes == 1 else 0
        first = np.full(type_.shape, zero, type_.dtype.numpy).tobytes()
        return self._variables.hold(self._operator, type_, first, self._identifiers, len(self._held) - 1)

    def translate(self, site: Site) -> tuple[Translated, ...]:
        remembered = STREAMING[self._operator.kind](site, self._hold)
        self._next = remembered.states
        return remembered.parts

    def kept(self, made: Sequence[Chain], done: Parts) -> tuple[Chain, ...]:
        """One chain a state."""
        del made
        chains: list[Chain] = []
        for number, (type_, step) in enumerate(zip(self._held, self._next, strict=True)):
            origin, ending = source(self._operator, self._tensors), f"_state{number}"
            chains.append(chain(step, type_, origin, ending, done))
            self._variables.keep(self._operator, chains[-1][-1].var, number)
        return tuple(chains)


def _need_own(values: Values, places: tuple[int, ...]) -> None:
    if any(values.is_computed(index) for index in places):
        raise Refused("E301", "shares its state with another operator", "give each its own")


def held_state(
    operator: FileOperator, values: Values, variables: Variables, identifiers: Mapping[str, str]
) -> HeldState:
    """The held state of an operator of `HOLDERS`. Raises Refused or AlreadyReported if it has none."""
    kinds: Mapping[str, type[_Lstm | _Svdf | _Stream]] = {LSTM: _Lstm, SVDF: _Svdf}
    return kinds.get(operator.kind, _Stream)(operator, values, variables, identifiers)
