"""One iteration of a loop, or one branch, as a function, and the attributes of the step that runs it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from codegen.importers.limits import MAX_LOOP_STEPS
from codegen.importers.reporting import Refused
from codegen.importers.tflite.control.trip_counts import (
    FIXED,
    SMALLER,
    UNKNOWN_COUNT,
    Counters,
    TripCount,
)
from codegen.ir import Arg, Call, Constant, ConstRef, Function, Let, Module, Var
from codegen.ir.ops import OPS, Attrs, LoopAttrs
from codegen.ir.ops.inserted import constants_of
from codegen.passes import FoldConstants, FoldPad, FuseActivations, Legalise, RemoveDead, run_passes
from codegen.passes.pipeline import substitute, substitute_let

_PASSES = (FoldConstants(), FoldPad(), FuseActivations(), RemoveDead(), Legalise())
_COMPUTED = "let an operator in the loop compute it from a value that the loop carries"
_COMPUTED_THERE = "let an operator in the branch compute it from a value that the branch takes"


@dataclass(frozen=True, slots=True)
class CarriedValues:
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

    def step(self, outputs: Sequence[int]) -> tuple[LoopAttrs, tuple[Arg, ...], Mapping[str, Constant]]:
        """Attributes and arguments of the step that gives these values, and the constants that it reads.
        Raises Refused where nothing of the file says how often the loop runs."""
        carried = [number for number in range(len(self.firsts)) if number not in self.constant_values]
        same = [
            number for number in sorted(self.constant_values) if not isinstance(self.firsts[number], ConstRef)
        ]
        function, arrays = self._iteration(carried, same)
        nexts = dict(zip((param.name for param in function.params), function.results[1:], strict=False))
        count = self._bound(function, nexts, carried, arrays)
        if count.is_exact:
            function = replace(function, results=function.results[1:])
            module = Module(functions={function.name: function}, constants=arrays)
            function = run_passes(module, (RemoveDead(),)).main
        steps = max(1, count.trips) * steps_of(function)
        if steps > MAX_LOOP_STEPS:
            text = f"runs up to {steps:,} steps in all its iterations, up to {MAX_LOOP_STEPS:,} are imported"
            raise Refused("E305", text, SMALLER)
        for after in nexts.values():
            if isinstance(after, ConstRef):
                text = "an iteration sets a value that the loop carries to a constant"
                raise Refused("E301", text, _COMPUTED)
        function, read = _without_unread(function, len(carried))
        attrs = LoopAttrs(
            function=function,
            carried=len(carried),
            trips=max(1, count.trips),
            decided=not count.is_exact,
            returned=tuple(carried.index(number) for number in outputs),
        )
        constants = constants_of(function)
        args = (*(self.firsts[number] for number in (*carried, *(same[index] for index in read))), *constants)
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
            results=tuple(result for result in results if result is not None),
        )
        return _prepared(function, _used(function, self.constants))

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
        count = counters.bound(function.results[0])
        if count is None:
            raise Refused("E301", UNKNOWN_COUNT, FIXED)
        return count


def steps_of(function: Function) -> int:
    """Most steps that a run of `function` takes: a loop's steps count once for each iteration."""
    inner = [let.call.attrs for let in function.body if isinstance(let.call.attrs, LoopAttrs)]
    return len(function.body) + sum(attrs.trips * steps_of(attrs.function) for attrs in inner)


def renamed(module: Module, names: Mapping[str, str]) -> tuple[Function, Mapping[str, Constant]]:
    """The module's function and constants, some of them under other ids."""

    def arg(value: Arg | None) -> Arg | None:
        return replace(value, id=names.get(value.id, value.id)) if isinstance(value, ConstRef) else value

    function = module.main
    body = tuple(
        replace(let, call=replace(let.call, args=tuple(arg(operand) for operand in let.call.args)))
        for let in function.body
    )
    results = tuple(result_arg for result in function.results if (result_arg := arg(result)) is not None)
    constants = {
        names.get(id_, id_): replace(constant, id=names.get(id_, id_))
        for id_, constant in module.constants.items()
    }
    return replace(function, body=body, results=results), constants


def branch_step(
    branch: Function,
    args: Sequence[Arg],
    outputs: Sequence[int],
    constants: Mapping[str, Constant],
    *,
    is_other: bool,
) -> tuple[LoopAttrs, tuple[Var, ...], Mapping[str, Constant]]:
    """A loop of one iteration that gives these results of a branch if the condition, the first of `args`,
    holds, or, with `is_other`, if it does not; values of `args` and constants that it reads.

    Its parameters are the results as they are without it, then these values. Raises Refused for a
    result that is a constant."""
    variables = dict.fromkeys(arg for arg in args if isinstance(arg, Var))
    params = {arg: replace(arg, name=f"given{number}") for number, arg in enumerate(variables)}
    values: dict[str, Arg] = {
        param.name: params[arg] if isinstance(arg, Var) else arg
        for param, arg in zip(branch.params, args[1:], strict=True)
    }
    carried = [Var(name=f"before{number}", type=branch.results[number].type) for number in outputs]
    condition = args[0]
    assert isinstance(condition, Var), "a known condition is followed"
    decision, steps = params[condition], [substitute_let(let, values) for let in branch.body]
    if is_other:
        decision = Var(name="otherwise", type=condition.type)
        call = Call(op=OPS["LOGICAL_NOT"], args=(params[condition],), attrs=Attrs())
        steps.insert(0, Let(var=decision, call=call))
    results = [substitute(branch.results[number], values) for number in outputs]
    function = Function(
        name=branch.name,
        params=(*carried, *params.values()),
        body=tuple(steps),
        results=(decision, *(result for result in results if result is not None)),
    )
    used = _used(function, constants)
    function, arrays = _prepared(function, used)
    if any(isinstance(result, ConstRef) for result in function.results):
        raise Refused("E301", "a branch gives a constant", _COMPUTED_THERE)
    count = len(carried)
    function, read = _without_unread(function, count)
    attrs = LoopAttrs(function=function, carried=count, trips=1, decided=True, returned=tuple(range(count)))
    return attrs, tuple([*variables][index] for index in read), _used(function, arrays)


def _without_unread(function: Function, carried: int) -> tuple[Function, tuple[int, ...]]:
    """The function without parameters behind the `carried` ones that no step reads, and which are left."""
    uses = function.uses()
    kept = tuple(index for index, param in enumerate(function.params[carried:]) if uses[param.name])
    params = (*function.params[:carried], *(function.params[carried + index] for index in kept))
    return replace(function, params=params), kept


def _used(function: Function, constants: Mapping[str, Constant]) -> Mapping[str, Constant]:
    used = {ref.id: constants[ref.id] for ref in constants_of(function)}
    return used | {ref.id: constants[ref.id] for ref in function.results if isinstance(ref, ConstRef)}


def _prepared(function: Function, used: Mapping[str, Constant]) -> tuple[Function, Mapping[str, Constant]]:
    """A function as networks are prepared, and its constants; those that are new under names of their own."""
    module = run_passes(Module(functions={function.name: function}, constants=used), _PASSES)
    names = {id_: f"{function.name}_{id_}" for id_ in module.constants if id_ not in used}
    return renamed(module, names)
