"""State that an operator holds itself, in variable tensors of the file: a parameter and a result of the
function, as variables are."""

from collections.abc import Mapping

from codegen.importers.reporting import Refused
from codegen.importers.tflite.file.reader import FileOperator
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
from codegen.importers.tflite.operators.steps import Chain, chain
from codegen.importers.tflite.variables import Variables


class HeldState:
    """The state of one UNIDIRECTIONAL_SEQUENCE_LSTM. Raises Refused or AlreadyReported if there is none."""

    def __init__(
        self, operator: FileOperator, values: Values, variables: Variables, identifiers: Mapping[str, str]
    ) -> None:
        self._operator, self._tensors, self._variables = operator, values.tensors, variables
        if len(operator.inputs) <= CELL:
            raise Refused("E303", f"has {len(operator.inputs)} inputs, needs 24")
        places = operator.inputs[HIDDEN], operator.inputs[CELL]
        hidden, self._cell = (self._tensors.state_type(index) for index in places)
        if any(values.is_computed(index) for index in places):
            raise Refused("E301", "shares its state with another operator", "give each its own")
        self._type = state_type(hidden, self._cell)
        state = variables.hold(operator, self._type, first_state(hidden), identifiers)
        for index in places:
            values.define(index, state, from_inputs=True)

    def translate(self, site: Site) -> Translated:
        """The operator."""
        return lstm(site, self._cell)

    def kept(self, made: Chain) -> Chain:
        """The steps behind those of the operator, which give the state of the next inference."""
        both = next(let for let in made if let.call.op.name == LSTM)
        step = new_state(both.var, self._type)
        steps = chain(step, self._type, source(self._operator, self._tensors), "_state")
        self._variables.keep(self._operator, steps[-1].var)
        return steps
