"""State: which output of a function takes the place of which input, and what keeps that sound.

State are the variables of the file, and what `[[state]]` declares. The input keeps its bytes from the first
step to the next inference, so nothing else ever lies in them. Where a step writes the output into these bytes
(a window that is shifted) that is all; else the output is a value like others, which the last step copies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from codegen.errors import Messages
from codegen.ir import Function, TensorType, Var
from codegen.ir.c_names import identifier, unique
from codegen.ir.rules import StateRule
from codegen.kernels.primfunc import PrimFunc
from codegen.lifetimes.ties import ties
from codegen.program.interface import IoMode, IoTensor, StatePair
from codegen.program.program import Program


def io_tensors(kind: str, variables: Sequence[Var]) -> tuple[IoTensor, ...]:
    """Graph inputs or outputs as firmware sees them; `kind`: `input` or `output`."""
    names = [identifier(var.origin or var.name, f"{kind}{index}") for index, var in enumerate(variables)]
    return tuple(
        IoTensor(field=field_, origin=var.origin, value=var.name, type=var.type)
        for field_, var in zip(unique(names), variables, strict=True)
    )


def state_bytes(function: Function, rules: Sequence[StateRule], alignment: int) -> int:
    """Most bytes of state that `function` keeps or `rules` declare of it and give no pool, each aligned
    so.
    """
    if any(rule.memory is not None and not rule.is_pair for rule in rules):
        return 0
    inputs = io_tensors("input", function.params)
    named = {rule.input for rule in rules if rule.memory is None}
    kept = {state.param for state in function.states}
    kept |= {
        index for index, tensor in enumerate(inputs) if not named.isdisjoint((tensor.origin, tensor.field))
    }
    return sum(-(-inputs[index].type.size_bytes // alignment) * alignment for index in kept)


def of_file(
    function: Function, inputs: Sequence[IoTensor], outputs: Sequence[IoTensor], *, io: IoMode
) -> tuple[StatePair, ...]:
    """The variables of the file that `function` is, with these inputs and outputs. Raises CodegenError E268
    where the caller owns inputs and outputs."""
    pairs = tuple(
        StatePair(
            input=inputs[state.param].field,
            output=outputs[state.result].field,
            initial=state.initial,
            is_files=True,
        )
        for state in function.states
    )
    messages = Messages()
    names = ", ".join(inputs[state.param].origin for state in function.states)
    if pairs and io is IoMode.CALLER:
        text = f"with --io caller no input or output is the model's own, state neither: {names}"
        messages.add("E268", text, help="use --io pool")
    messages.raise_if_any()
    return pairs


def paired(
    rules: Sequence[StateRule], inputs: Sequence[IoTensor], outputs: Sequence[IoTensor], *, io: IoMode
) -> tuple[StatePair, ...]:
    """The states that `rules` declare of a model with these inputs and outputs.

    Raises CodegenError with all that is wrong: E263, E264 for names that there are not, E265 for a pair that
    is not of one type or has no one zero, E266 for what is in two states, E268 where the caller owns inputs
    and outputs or would be left without.
    """
    messages = Messages()
    rules = [rule for rule in rules if rule.is_pair]
    pairs: list[StatePair] = []
    taken: dict[tuple[str, str], str] = {}
    for rule in rules:
        first = _named("input", rule.input, inputs, rule.who, messages)
        second = _named("output", rule.output, outputs, rule.who, messages)
        for kind, tensor in (("input", first), ("output", second)):
            if tensor is None:
                continue
            other = taken.setdefault((kind, tensor.field), rule.who)
            if other != rule.who:
                messages.add(
                    "E266",
                    f"{kind} {tensor.field} is in {other} already",
                    where=rule.who,
                    help="an input takes one output, an output goes to one input",
                )
        if first is not None and second is not None:
            fault = _misfit(first, second)
            if fault:
                help_ = "train or convert the model so that both tensors are alike"
                messages.add("E265", fault, where=rule.who, help=help_)
            initial = _zeros(first.type)
            state = StatePair(input=first.field, output=second.field, initial=initial, memory=rule.memory)
            pairs.append(state)
    if rules:
        _check_callers(rules, pairs, inputs, outputs, io, messages)
    messages.raise_if_any()
    return tuple(pairs)


def check_memories(rules: Sequence[StateRule], pools: Sequence[str]) -> None:
    """Raise CodegenError E242 for a rule whose pool is none of `pools`, or where none is left to other
    values."""
    messages = Messages()
    for rule in rules:
        if rule.memory is not None and rule.memory not in pools:
            help_ = f"pools of this board are {', '.join(pools)}; "
            help_ += f"--pool {rule.memory}=BYTES@ADDRESS makes one of a part of its memory"
            messages.add("E242", f"there is no pool {rule.memory} for state", where=rule.who, help=help_)
    pool_rules = {rule.memory: rule.who for rule in rules if rule.memory is not None}
    if pool_rules and pool_rules.keys() >= set(pools):
        text = "state alone lies in a pool that it is given: none is left for all other values"
        help_ = "--pool retained=BYTES@ADDRESS makes a pool of a part of the board's memory"
        messages.add("E242", text, where=", ".join(pool_rules.values()), help=help_)
    messages.raise_if_any()


def in_memories(
    rules: Sequence[StateRule], states: Sequence[StatePair], *, alone: bool
) -> tuple[StatePair, ...]:
    """`states` of one model in the pool of the rule that names none of them, where their own names no pool.

    `alone`: no other model is built. Raises CodegenError E266 for a second such rule, E263 for one where the
    model has no state.
    """
    messages = Messages()
    nameless = [rule for rule in rules if not rule.is_pair]
    for rule in nameless[1:]:
        text = f"{nameless[0].who} says already where all state of the model lies"
        messages.add("E266", text, where=rule.who, help="leave one of them, or name an input and an output")
    for rule in nameless[:1]:
        if not states and (alone or rule.model is not None):
            help_ = "leave it out, or name an input and an output"
            messages.add("E263", "the model keeps no state", where=rule.who, help=help_)
    messages.raise_if_any()
    if not nameless:
        return tuple(states)
    memory = nameless[0].memory
    return tuple(state if state.memory else replace(state, memory=memory) for state in states)


def _named(
    kind: str, name: str, tensors: Sequence[IoTensor], who: str, messages: Messages
) -> IoTensor | None:
    """The tensor that the file calls `name`, else the one with that C field."""
    for names in ([tensor.origin for tensor in tensors], [tensor.field for tensor in tensors]):
        if name in names:
            return tensors[names.index(name)]
    code = "E263" if kind == "input" else "E264"
    known = ", ".join(tensor.origin or tensor.field for tensor in tensors)
    messages.add(code, f"the model has no {kind} {name}", where=who, help=f"its {kind}s are {known}")
    return None


def _misfit(first: IoTensor, second: IoTensor) -> str | None:
    """Why the bytes of `second` do not mean the same as those of `first`, or cannot be set to zero."""
    one, other = first.type, second.type
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return f"input {first.field} is {one}, output {second.field} {other}"
    if one.quantization != other.quantization:
        scales = [_quantised(tensor) for tensor in (first, second)]
        return f"input {first.field} has {scales[0]}, output {second.field} {scales[1]}"
    if one.quantization is not None and one.quantization.axis is not None:
        return f"input {first.field} is quantised per channel: it has no one zero"
    if one.zero_point and one.dtype.size_bytes > 1:
        return f"input {first.field} is {one.dtype.value} with zero point {one.zero_point}, supported is 0"
    return None


def _zeros(type_: TensorType) -> bytes:
    return np.full(type_.shape, type_.zero_point, type_.dtype.numpy).tobytes()


def _quantised(tensor: IoTensor) -> str:
    quantization = tensor.type.quantization
    if quantization is None:
        return "no quantisation"
    if quantization.axis is not None:
        return f"{len(quantization.scales)} scales"
    return f"scale {quantization.scale:.9g} and zero point {quantization.zero_point}"


def _check_callers(
    rules: Sequence[StateRule],
    pairs: Sequence[StatePair],
    inputs: Sequence[IoTensor],
    outputs: Sequence[IoTensor],
    io: IoMode,
    messages: Messages,
) -> None:
    who = ", ".join(rule.who for rule in rules)
    if io is IoMode.CALLER:
        help_ = "use --io pool"
        messages.add("E268", "with --io caller no input or output is the model's own", where=who, help=help_)
    for kind, tensors, taken in (
        ("input", inputs, {state.input for state in pairs}),
        ("output", outputs, {state.output for state in pairs}),
    ):
        if taken >= {tensor.field for tensor in tensors}:
            help_ = f"leave at least one {kind} to the application"
            messages.add("E268", f"every {kind} of the model is state", where=who, help=help_)


def apart(
    function: Function,
    prim_funcs: Sequence[PrimFunc],
    others: Mapping[int, PrimFunc],
    states: frozenset[str],
) -> dict[int, PrimFunc]:
    """Steps of `others` that make no value lie in the bytes of the inputs `states`, nor these in a
    value's.
    A value that shares bytes with state would change when the new state is copied over it.
    """
    anchors = ties(function, prim_funcs).anchors
    return {
        step: prim
        for step, prim in others.items()
        if not any(isinstance(arg, Var) and anchors[arg.name][0] in states for arg in prim.let.call.args)
    }


def check_apart(program: Program) -> None:
    """Raise CodegenError E267 naming every output that lies in bytes of a state."""
    messages = Messages()
    fields = {tensor.field: tensor for tensor in program.signature.inputs}
    for state in program.signature.states:
        held = program.memory.slices[fields[state.input].value]
        for output in program.signature.outputs:
            part = program.memory.slices[output.value]
            if part.buffer == held.buffer and (output.field != state.output or part != held):
                messages.add(
                    "E267",
                    f"it lies in the bytes of state {state.input}, over which the new state is copied: "
                    "no step (only RESHAPE and the like) makes it of them",
                    where=f"output {output.field}",
                    help="take it out of the model's outputs, or let the model compute it (multiply it by 1)",
                )
    messages.raise_if_any()


def check_named(rules: Sequence[StateRule], models: Sequence[str]) -> None:
    """Raise CodegenError E244 naming every state of a build of several models that is of none of them, or
    does not say of which."""
    messages = Messages()
    for rule in rules if len(models) > 1 else ():
        help_ = f"models of this build are {', '.join(models)}"
        if rule.model is None and rule.is_pair:
            messages.add("E244", "of several models, state says of which it is", where=rule.who, help=help_)
        elif rule.model is not None and rule.model not in models:
            messages.add("E244", f"no model is called {rule.model}", where=rule.who, help=help_)
    messages.raise_if_any()
