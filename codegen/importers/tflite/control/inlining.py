"""Puts operators of called subgraphs in the place of IF and WHILE (docs/decisions/066-control-flow.md)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tflite.TensorType import TensorType as TypeCode

from codegen.errors import CodegenError
from codegen.importers.limits import MAX_OPERATORS, MAX_TENSORS
from codegen.importers.reporting import ImportProblem, Refused
from codegen.importers.tflite.control import known
from codegen.importers.tflite.control.filled import Filled, Rows, cut, cut_of, is_whole, joined, joins_rows
from codegen.importers.tflite.control.trip_counts import FIXED, SMALLER, UNKNOWN_COUNT
from codegen.importers.tflite.file.reader import FileModel, FileOperator, FileTensor
from codegen.importers.tflite.operators.stored_options import options_of
from codegen.importers.tflite.operators.translators import CONTROL_OPS, HOLDERS, STATE_OPS

_MAX_DEPTH = 8
_MAX_BYTES = 8 * known.MAX_KNOWN
MAX_VISITS = 4096
"""Operators of all iterations and branches together, those with them that are known."""
FEW_VISITS = 1024
"""So many are unrolled where the loop could be one step: more of them take minutes to plan."""
_MAX_TRIPS = 1024
"""Most iterations of one loop that are unrolled."""
_WEIGHTED = ("BATCH_MATMUL", "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV")
_NO_STATE = "assign variables outside of the branches"


@dataclass(frozen=True, kw_only=True, slots=True)
class InlinedGraph:
    """A subgraph without calls of others, and what is wrong with those that are left, by operator."""

    model: FileModel
    refusals: Mapping[int, ImportProblem]
    loops: frozenset[int] = frozenset()
    """Operators that become steps: WHILEs whose unrolling would be too long or has no known end, and IFs
    of layers with weights.
    """
    number: int = 0
    """Number of the subgraph in the file."""


class _NotUnrolled(Refused):
    """A loop has more iterations than are unrolled, or nobody knows how many; a branch is a step."""


def inlined(model: FileModel, subgraph: Callable[[int], FileModel], most: int = MAX_VISITS) -> InlinedGraph:
    """`model` with IF and WHILE replaced by what they run; `subgraph`: any of the file by its number; `most`
    operators of all iterations and branches together."""
    if not any(operator.name in CONTROL_OPS for operator in model.operators):
        return InlinedGraph(model=model, refusals={})
    return _Inliner(model, subgraph, most).run()


class _Inliner:
    """Records of the result so far. Tensors of the first subgraph keep their numbers."""

    def __init__(self, model: FileModel, subgraph: Callable[[int], FileModel], most: int) -> None:
        self._model, self._subgraph, self._most = model, subgraph, most
        self._tensors = list(model.tensors)
        self._buffers = list(model.buffers)
        self._operators: list[FileOperator] = []
        self._so_far = replace(model, tensors=self._tensors, operators=(), buffers=self._buffers)
        """Tensors and buffers as they grow: a copy of them for each operator is quadratic."""
        self._next_operator = 1 + max((operator.index for operator in model.operators), default=0)
        self._known: dict[int, np.ndarray] = {}
        self._graphs: dict[int, FileModel] = {}
        self._constants: dict[tuple[int, int], int] = {}
        """Tensors of subgraphs that nothing there computes, by subgraph and number."""
        self._refusals: dict[int, ImportProblem] = {}
        self._loops: set[int] = set()
        self._visits = 0
        self._filled: dict[int, Filled] = {}
        """Lists whose rows are followed, by tensor."""
        self._joined: set[int] = set()
        """Filled lists that an operator computes."""

    def run(self) -> InlinedGraph:
        """Put the operators of called subgraphs in place of the calls; see `inlined`."""
        mapping = {index: index for index in range(len(self._model.tensors))}
        for operator in self._model.operators:
            mark = len(self._operators)
            before = self._marks()
            try:
                self._step(operator, mapping, None, 0)
            except _NotUnrolled as refused:
                if operator.name not in CONTROL_OPS:
                    self._refuse(operator, refused.problem, mark)
                    continue
                self._drop(mark)
                self._restore(before)
                inputs = tuple(self._whole(mapping.get(index, index)) for index in operator.inputs)
                self._operators.append(replace(operator, inputs=inputs))
                self._loops.add(operator.index)
            except Refused as refused:
                self._refuse(operator, refused.problem, mark)
            except CodegenError as error:
                first = error.messages[0]
                self._refuse(
                    operator, ImportProblem(code=first.code, text=first.text, advice=first.help), mark
                )
        outputs = tuple(self._whole(mapping.get(index, index)) for index in self._model.outputs)
        for index, tensor in zip(self._model.outputs, outputs, strict=True):
            if tensor != index:
                self._tensors[tensor] = replace(self._tensors[tensor], name=self._model.tensors[index].name)
        model = replace(
            self._model,
            tensors=tuple(self._tensors),
            operators=tuple(self._operators),
            outputs=outputs,
            buffers=tuple(self._buffers),
        )
        return InlinedGraph(model=model, refusals=self._refusals, loops=frozenset(self._loops))

    def _marks(self) -> tuple[int, int, int, tuple[dict[Any, Any], ...]]:
        """Sizes and copies of all records that unrolling a loop in vain adds to."""
        records = (self._known, self._constants, self._filled)
        return len(self._tensors), len(self._buffers), self._visits, tuple(dict(record) for record in records)

    def _restore(self, marks: tuple[int, int, int, tuple[dict[Any, Any], ...]]) -> None:
        tensors, buffers, self._visits, (self._known, self._constants, self._filled) = marks
        del self._tensors[tensors:]
        del self._buffers[buffers:]

    def _refuse(self, operator: FileOperator, problem: ImportProblem, mark: int) -> None:
        self._drop(mark)
        self._operators.append(operator)
        self._refusals[operator.index] = problem

    def _drop(self, mark: int) -> None:
        """Forget the operators from number `mark` on."""
        self._joined -= {index for operator in self._operators[mark:] for index in operator.outputs}
        del self._operators[mark:]

    def _step(
        self, operator: FileOperator, mapping: dict[int, int], graph: FileModel | None, depth: int
    ) -> None:
        """One operator of `graph` (None: the first subgraph), whose tensors are found by `mapping`, which
        learns where its results are."""
        self._visits += 1
        if self._visits > self._most:
            raise _NotUnrolled("E305", f"runs more than {self._most} operators", SMALLER)
        inputs = tuple(mapping.get(index, index) for index in operator.inputs)
        if operator.name in CONTROL_OPS:
            values = self._if(operator, inputs, depth) if operator.name == "IF" else None
            values = self._while(operator, inputs, depth) if values is None else values
            if len(values) != len(operator.outputs):
                raise Refused("E303", f"gives {len(operator.outputs)} values, its subgraphs {len(values)}")
            mapping.update(zip(operator.outputs, values, strict=True))
            return
        here = replace(operator, inputs=inputs)
        if graph is not None:
            outputs = tuple(self._copied(self._tensor(graph, index)) for index in operator.outputs)
            mapping.update(zip(operator.outputs, outputs, strict=True))
            here = replace(here, outputs=outputs, index=self._next_operator)
            self._next_operator += 1
            if self._follows(here):
                return
        inputs = tuple(self._whole(index) for index in inputs)
        here = replace(here, inputs=inputs)
        is_known = all(index == -1 or self._look_up(index) for index in inputs)
        numbers = known.results(self._so_far, here, self._known) if is_known else None
        if numbers is not None:
            self._known.update(zip(here.outputs, numbers, strict=True))
        if numbers is None or graph is None:
            self._append(here)
        else:
            self._hold(here.outputs, numbers)

    def _append(self, operator: FileOperator) -> None:
        if len(self._operators) >= MAX_OPERATORS:
            text = f"becomes more than {MAX_OPERATORS} operators"
            raise _NotUnrolled("E305", text, SMALLER)
        self._operators.append(operator)

    def _look_up(self, index: int) -> bool:
        """Look up a tensor's few numbers, as those of constants are; False if they are not known."""
        if index in self._known:
            return True
        buffer = self._tensors[index].buffer if 0 <= index < len(self._tensors) else 0
        if not buffer < len(self._buffers) or not 0 < len(self._buffers[buffer]) <= _MAX_BYTES:
            return False
        data = known.stored(self._so_far, index)
        if data is not None:
            self._known[index] = data
        return data is not None

    def _hold(self, outputs: Sequence[int], numbers: Sequence[np.ndarray]) -> None:
        """Let computed numbers be constants of the file."""
        for index, data in zip(outputs, numbers, strict=True):
            little_endian = np.ascontiguousarray(data).astype(data.dtype.newbyteorder("<"), copy=False)
            self._tensors[index] = replace(
                self._tensors[index], buffer=len(self._buffers), shape=data.shape, signature=()
            )
            self._buffers.append(np.frombuffer(little_endian.tobytes(), np.uint8))

    def _copied(self, tensor: FileTensor) -> int:
        """A tensor of another subgraph as one more of this; its number."""
        if len(self._tensors) >= MAX_TENSORS:
            raise _NotUnrolled("E305", f"becomes more than {MAX_TENSORS} tensors", SMALLER)
        self._tensors.append(replace(tensor, index=len(self._tensors)))
        return len(self._tensors) - 1

    def _tensor(self, graph: FileModel, index: int) -> FileTensor:
        if not 0 <= index < len(graph.tensors):
            raise Refused("E303", f"a subgraph has no tensor {index}")
        return graph.tensors[index]

    def _call(self, number: int, arguments: Sequence[int], depth: int) -> tuple[int, ...]:
        """Run subgraph `number` on tensors; the tensors of its results."""
        if depth >= _MAX_DEPTH:
            raise Refused("E305", f"calls subgraphs {_MAX_DEPTH} deep")
        if any(not 0 <= tensor < len(self._tensors) for tensor in arguments):
            raise Refused("E303", "passes a tensor that the file does not have")
        if number not in self._graphs:
            self._graphs[number] = self._subgraph(number)
        graph = self._graphs[number]
        if len(graph.inputs) != len(arguments):
            text = f"passes {len(arguments)} values to subgraph {number}, which takes {len(graph.inputs)}"
            raise Refused("E303", text)
        for inner, outer in zip(graph.inputs, arguments, strict=True):
            _need_alike(self._tensor(graph, inner), self._tensors[outer])
        mapping = dict(zip(graph.inputs, arguments, strict=True))
        computed = {index for operator in graph.operators for index in operator.outputs}
        for index in _read(graph):
            if index not in mapping and index not in computed:
                mapping[index] = self._constant(number, graph, index)
        for operator in graph.operators:
            self._step(operator, mapping, graph, depth + 1)
        if any(index not in mapping for index in graph.outputs):
            raise Refused("E303", f"subgraph {number} gives a value that nothing there computes")
        return tuple(mapping[index] for index in graph.outputs)

    def _constant(self, number: int, graph: FileModel, index: int) -> int:
        if (number, index) not in self._constants:
            self._constants[number, index] = self._copied(self._tensor(graph, index))
        return self._constants[number, index]

    def _value(self, index: int) -> bool | None:
        """The truth of a condition, None where that shows only while the model runs."""
        self._look_up(index)
        data = self._known.get(index)
        return None if data is None or data.size != 1 else bool(data.reshape(-1)[0])

    def _if(self, operator: FileOperator, inputs: Sequence[int], depth: int) -> tuple[int, ...]:
        options = options_of(operator)
        branches = options.integer("then_subgraph_index"), options.integer("else_subgraph_index")
        if not inputs:
            raise Refused("E303", "has no condition")
        chosen = self._value(inputs[0])
        if chosen is not None:
            return self._call(branches[0] if chosen else branches[1], inputs[1:], depth)
        if depth == 0 and self._most == FEW_VISITS and any(self._multiplies(branch) for branch in branches):
            raise _NotUnrolled("E301", "runs one of two branches")
        mark = len(self._operators)
        results = [self._call(branch, inputs[1:], depth) for branch in branches]
        for operator_ in self._operators[mark:]:
            if operator_.name in (*STATE_OPS, *HOLDERS):
                text = f"a branch runs {operator_.name}, and both branches run here"
                raise Refused("E301", text, _NO_STATE)
        if len(results[0]) != len(results[1]):
            raise Refused("E303", f"one branch gives {len(results[0])} values, the other {len(results[1])}")
        pairs = zip(*results, strict=True)
        return tuple(one if one == other else self._selected(inputs[0], one, other) for one, other in pairs)

    def _multiplies(self, number: int) -> bool:
        """True if a subgraph has layers with weights, so that a step of its own that may not run is worth
        it.
        """
        return any(operator.name in _WEIGHTED for operator in self._subgraph(number).operators)

    def _selected(self, condition: int, one: int, other: int) -> int:
        one, other = self._whole(one), self._whole(other)
        _need_alike(self._tensors[one], self._tensors[other])
        result = self._copied(replace(self._tensors[one], buffer=0))
        self._new("SELECT_V2", (condition, one, other), result)
        return result

    def _new(self, name: str, inputs: tuple[int, ...], result: int) -> None:
        """Append an operator that has no options."""
        self._append(
            FileOperator(
                index=self._next_operator,
                name=name,
                custom_name="",
                inputs=inputs,
                outputs=(result,),
                options_kind=0,
                options=None,
            )
        )
        self._next_operator += 1

    def _follows(self, operator: FileOperator) -> bool:
        """Follow an operator of a loop that only says which rows of lists come where; False for any other."""
        if len(operator.outputs) != 1:
            return False
        [result] = operator.outputs
        filled: Filled | None = None
        if operator.name == "SLICE" and len(operator.inputs) == 3:
            filled = self._cut(operator, self._tensors[result])
        elif any(index in self._filled for index in operator.inputs) and joins_rows(
            operator, self._tensors[result].rank
        ):
            pieces = [piece for index in operator.inputs for piece in self._rows(index)]
            filled = Filled(pieces=joined(pieces), joint=operator)
        if filled is None:
            return False
        self._filled[result] = filled
        rest = self._tensors[operator.inputs[0]].shape[1:]
        shape = (filled.count, *rest)
        self._tensors[result] = replace(self._tensors[result], shape=shape, signature=(), rank=len(shape))
        return True

    def _cut(self, operator: FileOperator, result: FileTensor) -> Filled | None:
        source, begin, size = operator.inputs
        if not (0 <= source < len(self._tensors) and self._look_up(begin) and self._look_up(size)):
            return None
        rows = cut_of(operator, result, self._tensors[source], self._known[begin], self._known[size])
        if rows is None:
            return None
        joint = self._filled[source].joint if source in self._filled else None
        return Filled(pieces=cut(self._rows(source), *rows), joint=joint)

    def _rows(self, index: int) -> tuple[Rows, ...]:
        """Rows that make up a tensor."""
        if index in self._filled:
            return self._filled[index].pieces
        return (Rows(tensor=index, start=0, count=self._tensors[index].shape[0]),)

    def _whole(self, index: int) -> int:
        """The tensor of a value that an operator reads: a list is joined now."""
        filled = self._filled.get(index)
        if filled is None or index in self._joined:
            return index
        parts = tuple(self._part(piece) for piece in filled.pieces)
        if len(parts) == 1:
            return parts[0]
        if filled.joint is None:
            raise Refused("E303", "takes no row of a list")
        self._append(replace(filled.joint, index=self._next_operator, inputs=parts, outputs=(index,)))
        self._next_operator += 1
        self._joined.add(index)
        return index

    def _part(self, piece: Rows) -> int:
        """The tensor that is these rows."""
        tensor = self._tensors[piece.tensor]
        if is_whole(piece, tensor):
            return piece.tensor
        shape = (piece.count, *tensor.shape[1:])
        begin, size = np.zeros(len(shape), np.int32), np.array(shape, np.int32)
        begin[0] = piece.start
        meaning = tensor.quantization
        plain = replace(
            tensor,
            name="rows",
            rank=1,
            type_code=TypeCode.INT32,
            quantization=replace(meaning, scales=meaning.scales[:0], zero_points=meaning.zero_points[:0]),
        )
        numbers = tuple(self._copied(plain) for _ in range(2))
        self._hold(numbers, (begin, size))
        result = self._copied(replace(tensor, buffer=0, shape=shape, signature=()))
        self._new("SLICE", (piece.tensor, *numbers), result)
        return result

    def _while(self, operator: FileOperator, inputs: Sequence[int], depth: int) -> tuple[int, ...]:
        options = options_of(operator)
        carried = tuple(inputs)
        for _ in range(_MAX_TRIPS):
            mark = len(self._operators)
            conditions = self._call(options.integer("cond_subgraph_index"), carried, depth)
            self._drop(mark)
            goes_on = self._value(conditions[0]) if len(conditions) == 1 else None
            if goes_on is None:
                raise _NotUnrolled("E301", UNKNOWN_COUNT, FIXED)
            if not goes_on:
                return carried
            carried = self._call(options.integer("body_subgraph_index"), carried, depth)
        raise _NotUnrolled("E305", f"makes more than {_MAX_TRIPS} iterations", SMALLER)


def _read(graph: FileModel) -> Iterator[int]:
    """Every tensor that operators or callers read."""
    for operator in graph.operators:
        yield from (index for index in operator.inputs if index != -1)
    yield from graph.outputs


def _need_alike(one: FileTensor, other: FileTensor) -> None:
    """Bytes go from one to the other as they are."""
    same_scales = np.array_equal(one.quantization.scales, other.quantization.scales)
    same_zeros = np.array_equal(one.quantization.zero_points, other.quantization.zero_points)
    if one.type_code != other.type_code or not (same_scales and same_zeros):
        text = f"{one} of a subgraph and {other} have different types or quantisation"
        raise Refused("E301", text, "convert the model so that both have one type and one quantisation")
