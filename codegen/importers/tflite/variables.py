"""Variables of a file: state that operators read and assign, as parameters and results of the function.

A variable that is read before it is assigned is a parameter; what it holds when the last operator is done
is a result, which the next inference finds in the parameter. In between it is whatever was assigned last:
reading and assigning are no steps. CALL_ONCE runs when the file is read: what it assigns are the first bytes.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from codegen.importers.printable_names import printable
from codegen.importers.reporting import AlreadyReported, Refused
from codegen.importers.tflite.file.reader import FileModel, FileOperator
from codegen.importers.tflite.operators.custom.streaming import MAX_STATES, STREAMING
from codegen.importers.tflite.operators.stored_options import options_of
from codegen.importers.tflite.operators.translators import ASSIGN, HANDLE, HOLDERS
from codegen.importers.tflite.tensors import Tensors
from codegen.ir import Arg, Constant, ConstRef, StateValue, TensorType, Var

_HELP = "let the model assign a value that an operator computes"
_CONSTANTS = "convert the model so that variables begin with constants"


def handle_name(operator: FileOperator) -> str:
    """The name of the variable that a VAR_HANDLE names."""
    options = options_of(operator, required=False)
    parts = options.text("container"), options.text("shared_name")
    texts = [printable(part.decode("utf-8", errors="replace")) for part in parts if part]
    return "/".join(texts) or f"variable{operator.index}"


def _assigned(graph: FileModel) -> Mapping[str, Constant]:
    """Constants that an initialiser assigns, by variable."""
    tensors = Tensors(graph)
    names: dict[int, str] = {}
    constants: dict[str, Constant] = {}
    for operator in graph.operators:
        if operator.name == HANDLE and len(operator.outputs) == 1:
            names[operator.outputs[0]] = handle_name(operator)
        elif operator.name == ASSIGN and len(operator.inputs) == 2 and operator.inputs[0] in names:
            value = operator.inputs[1]
            if not tensors.has_data(value):
                text = f"the initialiser assigns {tensors.tensor(value)}, which is no constant"
                raise Refused("E301", text, _CONSTANTS)
            constants[names[operator.inputs[0]]] = tensors.constant(value)
        else:
            text = f"the initialiser runs {operator.name}, supported is assigning constants"
            raise Refused("E301", text, _CONSTANTS)
    return constants


class Variables:
    """Values of all variables, while the operators of the file are translated one after the other."""

    def __init__(self, operators: Sequence[FileOperator]) -> None:
        self._handles: dict[int, str] = {}
        self._assigned: set[str] = set()
        for operator in operators:
            if operator.name == HANDLE and len(operator.outputs) == 1:
                self._handles[operator.outputs[0]] = handle_name(operator)
            elif operator.name == ASSIGN and operator.inputs:
                self._assigned.add(self._handles.get(operator.inputs[0], ""))
        self._firsts: dict[str, Constant] = {}
        """Constants that initialisers assign."""
        self._params: dict[str, Var] = {}
        self._now: dict[str, Var | None] = {}
        self._starts: dict[str, bytes] = {}
        """First bytes of what operators hold themselves."""
        self._held = {
            (operator.index, number): f"state{operator.index}{'' if number == 0 else f'_{number}'}"
            for operator in operators
            if operator.kind in HOLDERS
            for number in range(MAX_STATES if operator.kind in STREAMING else 1)
        }

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, each once."""
        return tuple(dict.fromkeys((*self._handles.values(), *self._held.values())))

    @property
    def params(self) -> tuple[Var, ...]:
        """Parameters of variables that are read before they are assigned."""
        return tuple(self._params.values())

    def call_once(self, operator: FileOperator, subgraph: Callable[[int], FileModel]) -> None:
        """Let variables begin with what a CALL_ONCE assigns; `subgraph`: the file's, by number."""
        if self._now:
            raise Refused("E301", "runs behind operators that read or assign variables", "let it run first")
        options = options_of(operator)
        self._firsts.update(_assigned(subgraph(options.integer("init_subgraph_index"))))

    def read(self, operator: FileOperator, type_: TensorType, identifier: Mapping[str, str]) -> Var | bytes:
        """Result of a READ_VARIABLE of this type: a value, or the bytes of one that is never assigned."""
        name = self._name(operator, 1, 1)
        if name not in self._assigned:
            return self._first(name, type_)
        if name not in self._now:
            self._now[name] = None  # and so it stays where its first bytes do not fit
            self._first(name, type_)
            self._now[name] = self._params[name] = Var(name=identifier[name], type=type_, origin=name)
        held = self._now[name]
        if held is None:
            raise AlreadyReported
        _need_alike(name, held.type, type_, "read")
        return held

    def assign(self, operator: FileOperator, value: Callable[[int], Arg]) -> None:
        """Let the variable of an ASSIGN_VARIABLE hold what `value` gives for the tensor."""
        name = self._name(operator, 2, 0)
        self._now.setdefault(name, None)
        held = value(operator.inputs[1])
        if isinstance(held, ConstRef):
            raise Refused("E301", f"assigns a constant to variable {name}", _HELP)
        if name in self._params:
            _need_alike(name, self._params[name].type, held.type, "assigned")
        self._now[name] = held

    def hold(
        self,
        operator: FileOperator,
        type_: TensorType,
        first: bytes,
        identifier: Mapping[str, str],
        number: int = 0,
    ) -> Var:
        """State `number` of an operator that has its own, as it is before."""
        name = self._held[operator.index, number]
        self._now[name], self._starts[name] = None, first
        self._params[name] = Var(name=identifier[name], type=type_, origin=name)
        return self._params[name]

    def keep(self, operator: FileOperator, value: Var, number: int = 0) -> None:
        """State `number` of such an operator is `value` from now on."""
        self._now[self._held[operator.index, number]] = value

    def _name(self, operator: FileOperator, inputs: int, outputs: int) -> str:
        if (len(operator.inputs), len(operator.outputs)) != (inputs, outputs):
            text = f"has {len(operator.inputs)} inputs and {len(operator.outputs)} outputs"
            raise Refused("E303", f"{text}, needs {inputs} and {outputs}")
        if operator.inputs[0] not in self._handles:
            raise Refused("E303", f"tensor {operator.inputs[0]} is no variable: no VAR_HANDLE gives it")
        return self._handles[operator.inputs[0]]

    def _first(self, name: str, type_: TensorType) -> bytes:
        """First bytes of a variable: zeros where no initialiser assigns any, as tflite-micro has them."""
        if name in self._starts:
            return self._starts[name]
        first = self._firsts.get(name)
        if first is None:
            return np.full(type_.shape, type_.zero_point, type_.dtype.numpy).tobytes()
        _need_alike(name, first.type, type_, "read")
        return first.data.tobytes()

    def states(self, inputs: int, results: int) -> tuple[tuple[Var, ...], tuple[StateValue, ...]]:
        """Further results of the function, and the pairs, behind so many parameters and results."""
        results_: list[Var] = []
        pairs: list[StateValue] = []
        for index, (name, param) in enumerate(self._params.items()):
            held = self._now[name]
            if held is None:
                raise AlreadyReported
            if held in self._params.values() and held != param:
                text = f"variable {name} is assigned what variable {held.origin} held before"
                raise Refused("E301", text, _HELP)
            results_.append(held)
            initial = self._first(name, param.type)
            pairs.append(StateValue(param=inputs + index, result=results + index, initial=initial))
        return tuple(results_), tuple(pairs)


def _need_alike(name: str, one: TensorType, other: TensorType, verb: str) -> None:
    if (one.shape, one.dtype) != (other.shape, other.dtype):
        raise Refused("E303", f"variable {name} is {one}, here {verb} as {other}")
    if one.quantization != other.quantization:
        text = f"variable {name} is {verb} with another scale or zero point than it has"
        raise Refused("E301", text, "convert the model so that the variable has one quantisation")
