"""Loops that are not unrolled: two subgraphs become one iteration, and the operator one step that runs it
(docs/decisions/066-control-flow.md)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import CodegenError
from codegen.importers.graph_inputs import Extents
from codegen.importers.limits import ByteLimits
from codegen.importers.reporting import AlreadyReported, ImportProblem, Refused
from codegen.importers.tflite.control import InlinedGraph
from codegen.importers.tflite.file.reader import FileModel, FileOperator
from codegen.importers.tflite.iterating import CarriedValues, branch_step, renamed
from codegen.importers.tflite.operators.rearranging import reshaped, sliced
from codegen.importers.tflite.operators.site import InnerStep, Site, Translated
from codegen.importers.tflite.operators.steps import Chain, Parts, check_types
from codegen.importers.tflite.translation import Translation
from codegen.ir import Arg, Constant, ConstRef, Function, Module, TensorType, Var
from codegen.ir.ops import LOOP, LoopAttrs, UserKernel
from codegen.ir.ops.inserted import constants_of

Graph = Callable[[int], tuple[Function, Mapping[str, Constant]]]
"""A subgraph of the file as a function, by number, and its constants."""

_SHAPES = "convert the model so that what the loop carries keeps its shape, type and quantisation"
_ALIKE = "let one value leave the loop, or several of one element type and quantisation"
_VARIABLES = "assign variables outside of the loop"
_CONSTANT = "convert the model with the result as a constant"


class LoopTranslation(Translation):
    """The import of one subgraph with its loops."""

    def __init__(
        self,
        flat: InlinedGraph,
        kernels: Sequence[UserKernel],
        subgraph: Callable[[int], FileModel],
        extents: Extents,
        limits: ByteLimits,
        graph: Graph,
    ) -> None:
        """`graph`: what loops run."""
        super().__init__(flat, kernels, subgraph, extents, limits)
        self._loops, self._graph, self._number = flat.loops, graph, flat.number
        self._is_inner = flat.number != 0
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
        results: list[Arg] = []
        for position, index in enumerate(self._model.outputs):
            try:
                results.append(self._values.read(index))
            except Refused as refused:
                self._report.add(refused.problem, where=f"output {position}")
            except AlreadyReported:
                pass
        if self._variables.names:
            text = "reads or assigns variables in a loop that is not unrolled"
            self._report.add(ImportProblem(code="E301", text=text, advice=_VARIABLES))
        self._report.raise_if_any(params, self._body)
        name = f"graph{self._number}"
        return Function(name=name, params=params, body=tuple(self._body), results=tuple(results))

    def _is_done_otherwise(self, operator: FileOperator, where: str) -> bool:
        """A loop that is not unrolled becomes one step, of which its results are parts."""
        if operator.index not in self._loops:
            return False
        kinds = [self._new_value(index, where) for index in operator.outputs]
        site = Site(operator, self._values, self._report, kinds)
        made: list[Chain] = []
        try:
            done: Parts = {}
            parts = self._branches_of(site) if operator.name == "IF" else self._parts_of(site)
            for number, part in enumerate(parts):
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
        """Steps of a WHILE: for each output that anything reads, the part of the loop's result; else None."""
        options = site.options()
        numbers = options.integer("cond_subgraph_index"), options.integer("body_subgraph_index")
        condition, body = (self._function(number) for number in numbers)
        firsts = [arg for arg in site.all_args() if arg is not None]
        _need_alike(site, firsts, condition, body)
        loop = CarriedValues(
            condition, body, firsts, {**self.tensors.used_constants, **self._inner_constants}
        )
        outputs = [number for number, index in enumerate(site.operator.outputs) if self._is_read(index)]
        return self._given(site, loop, outputs)

    def _branches_of(self, site: Site) -> tuple[Translated | None, ...]:
        """Results of an IF: a loop of one iteration for each branch, of which one takes place.
        The second one begins with the values that the first one leaves.
        """
        options = site.options()
        numbers = options.integer("then_subgraph_index"), options.integer("else_subgraph_index")
        args = [arg for arg in site.all_args() if arg is not None]
        outputs = [number for number, index in enumerate(site.operator.outputs) if self._is_read(index)]
        firsts: list[Arg | InnerStep] = [self._any_value(site, args, number) for number in outputs]
        for is_other, branch in enumerate(self._function(number) for number in numbers):
            _need_branch(site, args, branch)
            constants = {**self.tensors.used_constants, **self._inner_constants}
            attrs, read, used = branch_step(branch, args, outputs, constants, is_other=bool(is_other))
            self._inner_constants.update(used)
            firsts = [*self._divided(attrs, (*firsts, *read, *constants_of(attrs.function)))]
        parts: list[Translated | None] = [None] * len(site.results)
        for number, first in zip(outputs, firsts, strict=True):
            assert isinstance(first, InnerStep)
            parts[number] = first
        return tuple(parts)

    def _any_value(self, site: Site, args: Sequence[Arg], number: int) -> Arg:
        """A value of the type of a result: its bytes are written before anybody reads them."""
        type_ = site.results[number]
        like = next((arg for arg in args if arg.type == type_), None)
        return like or replace(
            site.made(np.zeros(type_.shape, type_.dtype.numpy), type_.quantization), type=type_
        )

    def _divided(self, attrs: LoopAttrs, args: tuple[Arg | InnerStep, ...]) -> tuple[InnerStep, ...]:
        """The values that a loop gives."""
        types = [attrs.function.params[index].type for index in attrs.returned]
        if len({(type_.dtype, type_.quantization) for type_ in types}) != 1:
            shown = ", ".join(str(type_) for type_ in types)
            raise Refused("E301", f"gives values of several element types or quantisations ({shown})", _ALIKE)
        elements = sum(type_.elements for type_ in types)
        flat = TensorType(shape=(elements,), dtype=types[0].dtype, quantization=types[0].quantization)
        both = Translated(op=LOOP.name, args=args, attrs=attrs).giving(flat)
        parts: list[InnerStep] = []
        at = 0
        for type_ in types:
            flat_part = both if len(types) == 1 else sliced(both, (at,), (type_.elements,), (type_.elements,))
            parts.append(reshaped(flat_part, type_.shape))
            at += type_.elements
        return tuple(parts)

    def _is_read(self, index: int) -> bool:
        operators = self._model.operators
        return index in self._model.outputs or any(index in operator.inputs for operator in operators)

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
        function, renamed_constants = renamed(module, names)
        self._inner_constants.update(renamed_constants)
        return function

    def _given(
        self, site: Site, loop: CarriedValues, outputs: Sequence[int]
    ) -> tuple[Translated | None, ...]:
        """The parts of the loop's result; what the loop leaves as it is needs no loop."""
        parts: list[Translated | None] = [None] * len(site.operator.outputs)
        computed = [number for number in outputs if number not in loop.constant_values]
        for number in outputs:
            if number in loop.constant_values:
                parts[number] = reshaped(loop.firsts[number], site.results[number].shape)
        if not computed:
            return tuple(parts)
        if all(isinstance(first, ConstRef) for first in loop.firsts):
            raise Refused("E301", "depends on no input of the model: its result is a constant", _CONSTANT)
        attrs, args, constants = loop.step(computed)
        self._inner_constants.update(constants)
        for number, part in zip(computed, self._divided(attrs, args), strict=True):
            parts[number] = part
        return tuple(parts)


def _need_alike(site: Site, firsts: Sequence[Arg], condition: Function, body: Function) -> None:
    """Refuse a loop that carries values of other types in one place than in another."""
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


def _need_branch(site: Site, args: Sequence[Arg], branch: Function) -> None:
    """A branch takes what the IF passes, and gives what it gives."""
    if (len(branch.params), len(branch.results)) != (len(args) - 1, len(site.results)):
        text = f"passes {len(args) - 1} values and gives {len(site.results)}"
        text += f", a branch takes {len(branch.params)} and gives {len(branch.results)}"
        raise Refused("E303", text)
    pairs = [(arg.type, param.type) for arg, param in zip(args[1:], branch.params, strict=True)]
    pairs += [(one, other.type) for one, other in zip(site.results, branch.results, strict=True)]
    other = next((pair for pair in pairs if pair[0] != pair[1]), None)
    if other is not None:
        raise Refused(
            "E301", f"passes or gives a value that is {other[0]} and, in a branch, {other[1]}", _SHAPES
        )
