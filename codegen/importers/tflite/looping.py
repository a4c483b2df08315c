"""Loops that are not unrolled: two subgraphs become one iteration, and the operator one step that runs it
(docs/decisions/082-a-loop-is-one-step.md)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tflite.WhileOptions import WhileOptions

from codegen.errors import CodegenError
from codegen.importers.graph_inputs import Extents
from codegen.importers.limits import MAX_LOOP_STEPS
from codegen.importers.reporting import AlreadyReported, ImportProblem, Refused
from codegen.importers.tflite.control import InlinedGraph
from codegen.importers.tflite.control.inlining import FIXED, SMALLER, UNKNOWN_COUNT
from codegen.importers.tflite.control.trip_counts import Counters, TripCount
from codegen.importers.tflite.file.reader import FileModel, FileOperator
from codegen.importers.tflite.operators.rearranging import reshaped, sliced
from codegen.importers.tflite.operators.site import Site, Translated
from codegen.importers.tflite.operators.steps import Chain, Parts, check_types
from codegen.importers.tflite.translation import Translation
from codegen.ir import Arg, Constant, ConstRef, Function, Let, Module, TensorType, Var
from codegen.ir.ops import LOOP, LoopAttrs, UserKernel
from codegen.ir.ops.inserted import constants_of
from codegen.passes import FoldConstants, FoldPad, FuseActivations, Legalise, RemoveDead, run_passes
from codegen.passes.pipeline import substitute, substitute_let

Graph = Callable[[int], tuple[Function, Mapping[str, Constant]]]
"""A subgraph of the file as a function, by number, and its constants."""

_PASSES = (FoldConstants(), FoldPad(), FuseActivations(), RemoveDead(), Legalise())
_SHAPES = "convert the model so that what the loop carries keeps its shape, type and quantisation"
_ALIKE = "let one value leave the loop, or several of one element type and quantisation"
_VARIABLES = "assign variables outside of the loop"
_CONSTANT = "convert the model with the result as a constant"
_COMPUTED = "let an operator in the loop compute it from a value that the loop carries"


class LoopTranslation(Translation):
    """The import of one subgraph with its loops."""

    def __init__(
        self,
        flat: InlinedGraph,
        kernels: Sequence[UserKernel],
        subgraph: Callable[[int], FileModel],
        extents: Extents,
        graph: Graph,
        number: int = 0,
    ) -> None:
        """`graph`: what loops run; `number`: of this subgraph."""
        super().__init__(flat, kernels, subgraph, extents)
        self._loops, self._graph, self._number = flat.loops, graph, number
        self._is_inner = number != 0
        self._inner_constants: dict[str, Constant] = {}

    @property
    def constants(self) -> dict[str, Constant]:
        """Constants that steps use, those of loops among them, by id."""
        return {**self.tensors.used_constants, **self._inner_constants}

    def iteration(self) -> Function:
        """The subgraph as what a loop runs: its outputs may be anything. Raises as `run` does."""
        params = self._params()
        for operator in self._model.operators:
            self._step(operator)
        found: list[Arg] = []
        for position, index in enumerate(self._model.outputs):
            try:
                found.append(self._values.read(index))
            except Refused as refused:
                self._report.add(refused.problem, where=f"output {position}")
            except AlreadyReported:
                pass
        if self._variables.names:
            text = "reads or assigns variables in a loop that is not unrolled"
            self._report.add(ImportProblem(code="E301", text=text, advice=_VARIABLES))
        self._report.raise_if_any(params, self._body)
        name = f"graph{self._number}"
        return Function(name=name, params=params, body=tuple(self._body), results=tuple(found))

    def _is_done_otherwise(self, operator: FileOperator, where: str) -> bool:
        """A loop that is not unrolled becomes one step, of which its results are parts."""
        if operator.index not in self._loops:
            return False
        kinds = [self._new_value(index, where) for index in operator.outputs]
        site = Site(operator, self._values, self._report, kinds)
        made: list[Chain] = []
        try:
            done: Parts = {}
            for number, part in enumerate(self._parts_of(site)):
                result = site.results[number]
                made.append(() if part is None else self._chain(site, number, part, result, done))
            check_types(site, made)
        except Refused as refused:
            site.refuse(refused.problem)
        except AlreadyReported:
            pass
        if site.complained or len(made) != len(kinds):
            made = [()] * len(kinds)
        for index, kind, steps in zip(operator.outputs, kinds, made, strict=True):
            unread = None if kind is None else Var(name=f"unread{operator.index}_{index}", type=kind)
            self._body.extend(steps)
            self._values.define(index, steps[-1].var if steps else unread, from_inputs=True)
        return True

    def _parts_of(self, site: Site) -> tuple[Translated | None, ...]:
        """What a loop gives, for each output that anything reads."""
        options: Any = site.options(WhileOptions)
        numbers = int(options.CondSubgraphIndex()), int(options.BodySubgraphIndex())
        condition, body = (self._function(number) for number in numbers)
        firsts = [arg for arg in site.all_args() if arg is not None]
        _need_alike(site, firsts, condition, body)
        loop = _CarriedValues(
            condition, body, firsts, {**self.tensors.used_constants, **self._inner_constants}
        )
        given = [number for number, index in enumerate(site.operator.outputs) if self._is_read(index)]
        return self._given(site, loop, given)

    def _is_read(self, index: int) -> bool:
        operators = self._model.operators
        return index in self._model.outputs or any(index in each.inputs for each in operators)

    def _function(self, number: int) -> Function:
        """A subgraph, its constants under names of their own. Raises Refused with the first mistake."""
        try:
            function, constants = self._graph(number)
        except CodegenError as error:
            first = error.messages[0]
            text = f"subgraph {number}, {first.where}: {first.text}" if first.where else first.text
            raise Refused(first.code, text, first.help) from None
        names = {id_: f"g{number}_{id_}" for id_ in constants}
        module = Module(functions={function.name: function}, constants=constants)
        function, renamed = _renamed(module, names)
        self._inner_constants.update(renamed)
        return function

    def _given(
        self, site: Site, loop: "_CarriedValues", given: Sequence[int]
    ) -> tuple[Translated | None, ...]:
        """The parts of the loop's result; what the loop leaves as it is needs no loop."""
        parts: list[Translated | None] = [None] * len(site.operator.outputs)
        computed = [number for number in given if number not in loop.constant_values]
        for number in given:
            if number in loop.constant_values:
                parts[number] = reshaped(loop.firsts[number], site.results[number].shape)
        if not computed:
            return tuple(parts)
        if all(isinstance(first, ConstRef) for first in loop.firsts):
            raise Refused("E301", "depends on no input of the model: its result is a constant", _CONSTANT)
        types = [loop.firsts[number].type for number in computed]
        if len({(type_.dtype, type_.quantization) for type_ in types}) != 1:
            shown = ", ".join(str(type_) for type_ in types)
            raise Refused("E301", f"gives values of several element types or quantisations ({shown})", _ALIKE)
        attrs, args, constants = loop.step(computed)
        self._inner_constants.update(constants)
        elements = sum(type_.elements for type_ in types)
        flat = TensorType(shape=(elements,), dtype=types[0].dtype, quantization=types[0].quantization)
        both = Translated(op=LOOP.name, args=args, attrs=attrs).giving(flat)
        at = 0
        for number, type_ in zip(computed, types, strict=True):
            own = both if len(computed) == 1 else sliced(both, (at,), (type_.elements,), (type_.elements,))
            parts[number] = reshaped(own, type_.shape)
            at += type_.elements
        return tuple(parts)


def _need_alike(site: Site, firsts: Sequence[Arg], condition: Function, body: Function) -> None:
    """What a loop carries is of the same types everywhere."""
    counts = {len(firsts), len(condition.params), len(body.params), len(body.results), len(site.results)}
    if len(counts) != 1 or len(condition.results) != 1:
        raise Refused("E303", "its subgraphs take or give other numbers of values than it carries")
    for number, first in enumerate(firsts):
        values = (condition.params[number], body.params[number], body.results[number])
        types = [first.type, *(value.type for value in values), site.results[number]]
        other = next((type_ for type_ in types if type_ != first.type), None)
        if other is not None:
            text = f"carries a value (input {number}) that is {first.type} and {other}"
            raise Refused("E301", text, _SHAPES)


@dataclass(frozen=True, slots=True)
class _CarriedValues:
    """A loop that carries these values, which begin with `firsts`."""

    condition: Function
    body: Function
    firsts: Sequence[Arg]
    constants: Mapping[str, Constant]

    @property
    def constant_values(self) -> frozenset[int]:
        """Values that no iteration changes."""
        pairs = zip(self.body.params, self.body.results, strict=True)
        return frozenset(number for number, (param, after) in enumerate(pairs) if param == after)

    def step(self, given: Sequence[int]) -> tuple[LoopAttrs, tuple[Arg, ...], Mapping[str, Constant]]:
        """Attributes and arguments of the step that gives these values, and the constants that it reads.
        Raises Refused where nothing of the file says how often the loop runs."""
        carried = [number for number in range(len(self.firsts)) if number not in self.constant_values]
        same = [
            number for number in sorted(self.constant_values) if not isinstance(self.firsts[number], ConstRef)
        ]
        function, arrays = self._iteration(carried, same)
        nexts = dict(zip((param.name for param in function.params), function.results[1:], strict=False))
        found = self._bound(function, nexts, carried, arrays)
        if found.is_exact:
            function = replace(function, results=function.results[1:])
            module = Module(functions={function.name: function}, constants=arrays)
            function = run_passes(module, (RemoveDead(),)).main
        steps = max(1, found.trips) * steps_of(function)
        if steps > MAX_LOOP_STEPS:
            text = f"runs up to {steps:,} steps in all its iterations, up to {MAX_LOOP_STEPS:,} are imported"
            raise Refused("E305", text, SMALLER)
        for after in nexts.values():
            if isinstance(after, ConstRef):
                text = "an iteration sets a value that the loop carries to a constant"
                raise Refused("E301", text, _COMPUTED)
        attrs = LoopAttrs(
            function=function,
            carried=len(carried),
            trips=max(1, found.trips),
            decided=not found.is_exact,
            given=tuple(carried.index(number) for number in given),
        )
        constants = constants_of(function)
        args = (*(self.firsts[number] for number in (*carried, *same)), *constants)
        return attrs, args, {ref.id: arrays[ref.id] for ref in constants}

    def _iteration(
        self, carried: Sequence[int], same: Sequence[int]
    ) -> tuple[Function, Mapping[str, Constant]]:
        """Condition and body as one function, and its constants; results: the condition, carried values."""
        params = {number: self.body.params[number] for number in (*carried, *same)}
        values: dict[str, Arg] = {
            self.body.params[number].name: params.get(number, self.firsts[number])
            for number in range(len(self.firsts))
        }
        inner: dict[str, Arg] = {
            param.name: values[self.body.params[number].name]
            for number, param in enumerate(self.condition.params)
        }
        steps: list[Let] = []
        for let in self.condition.body:
            var = replace(let.var, name=f"{let.var.name}_condition")
            steps.append(replace(substitute_let(let, inner), var=var))
            inner[let.var.name] = var
        steps += [substitute_let(let, values) for let in self.body.body]
        results = [substitute(self.condition.results[0], inner)]
        results += [substitute(self.body.results[number], values) for number in carried]
        function = Function(
            name=self.body.name,
            params=tuple(params.values()),
            body=tuple(steps),
            results=tuple(each for each in results if each is not None),
        )
        used = {ref.id: self.constants[ref.id] for ref in constants_of(function)}
        used |= {ref.id: self.constants[ref.id] for ref in function.results if isinstance(ref, ConstRef)}
        module = run_passes(Module(functions={function.name: function}, constants=used), _PASSES)
        names = {id_: f"{function.name}_{id_}" for id_ in module.constants if id_ not in used}
        return _renamed(module, names)

    def _bound(
        self,
        function: Function,
        nexts: Mapping[str, Arg],
        carried: Sequence[int],
        constants: Mapping[str, Constant],
    ) -> TripCount:
        firsts: dict[str, int] = {}
        for param, number in zip(function.params, carried, strict=False):
            first = self.firsts[number]
            if isinstance(first, ConstRef) and first.type.elements == 1 and first.type.dtype.is_integer:
                firsts[param.name] = int(self.constants[first.id].data.reshape(-1)[0])
        arrays: dict[str, np.ndarray] = {id_: constant.data for id_, constant in constants.items()}
        counters = Counters(function=function, nexts=nexts, firsts=firsts, constants=arrays)
        found = counters.bound(function.results[0])
        if found is None:
            raise Refused("E301", UNKNOWN_COUNT, FIXED)
        return found


def steps_of(function: Function) -> int:
    """How many steps it runs at most, those of loops in it for each iteration."""
    inner = [let.call.attrs for let in function.body if isinstance(let.call.attrs, LoopAttrs)]
    return len(function.body) + sum(attrs.trips * steps_of(attrs.function) for attrs in inner)


def _renamed(module: Module, names: Mapping[str, str]) -> tuple[Function, Mapping[str, Constant]]:
    """The module's function and constants, some of them under other ids."""

    def arg(value: Arg | None) -> Arg | None:
        return replace(value, id=names.get(value.id, value.id)) if isinstance(value, ConstRef) else value

    function = module.main
    body = tuple(
        replace(let, call=replace(let.call, args=tuple(arg(each) for each in let.call.args)))
        for let in function.body
    )
    results = tuple(found for each in function.results if (found := arg(each)) is not None)
    constants = {
        names.get(id_, id_): replace(constant, id=names.get(id_, id_))
        for id_, constant in module.constants.items()
    }
    return replace(function, body=body, results=results), constants
