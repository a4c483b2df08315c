"""Gives values the devices that a user wants: named ones right after import, inputs and outputs at the end.

What names a value of the file is applied before any pass, so that no pass takes the value away unseen or
merges it with one elsewhere. Inputs and outputs are the caller's edge, whatever passes make of it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from codegen.errors import Message, Messages, listed
from codegen.ir import Arg, DeviceConflict, Function, Let, Module, Var, VirtualDevice
from codegen.ir.ops.user import operator_name
from codegen.ir.rules import Place
from codegen.passes.pipeline import with_function


@dataclass(frozen=True, kw_only=True, slots=True)
class Placed:
    """A module some of whose values have devices, and by which places they got them."""

    module: Module
    by: Mapping[str, tuple[Place, ...]]
    missed: Mapping[Place, Message] = field(default_factory=dict[Place, Message])
    """Places for all of several models that name nothing in this one, and what is to be said about it."""

    @property
    def reads(self) -> Mapping[str, tuple[str, str]]:
        """Value -> memory scope from which the step that computes it reads, and who wants that."""
        return {
            value: (place.reads, place.who)
            for value, places in self.by.items()
            for place in places
            if place.reads is not None
        }

    @property
    def who(self) -> Mapping[str, str]:
        """Value -> who gave it its device, in words."""
        askers = {
            value: [place.who for place in places if not place.device.is_free]
            for value, places in self.by.items()
        }
        return {value: " and ".join(words) for value, words in askers.items() if words}


def place_values(
    module: Module, places: Sequence[Place], pools: Sequence[str], *, among_others: bool = False
) -> Placed:
    """`module` with the devices that `places` of tensors and operators give; `pools`: memory scopes.

    `among_others`: this is one of several models, and what a place for all of them names may be in another.
    Raises CodegenError with everything that is wrong: E240 (no such tensor), E241 (no such operator), E242
    (no such pool), E320 (two places contradict each other).
    """
    messages = Messages()
    for place in places:
        _check_pool(place, pools, messages)
    function = module.main
    missed: dict[Place, Message] = {}
    values: dict[Place, Sequence[Var]] = {}
    for place in places:
        values[place] = _named(module, place)
        if not values[place] and (place.tensor is not None or place.op is not None):
            miss = _no_tensor(module, place) if place.op is None else _no_operator(function, place)
            _miss(place, miss, among_others, missed, messages)
    placed = _given(Placed(module=module, by={}, missed=missed), function, values, messages)
    messages.raise_if_any()
    return placed


def place_edges(
    placed: Placed, module: Module, places: Sequence[Place], *, among_others: bool = False
) -> Placed:
    """`module`, which passes made of `placed`, with devices on its inputs and outputs too.

    `among_others` as `place_values` has it. Raises CodegenError E320 (contradicting places), E243 (a
    place that no value is left of).
    """
    messages = Messages()
    function = module.main
    missed = dict(placed.missed)
    left = {var.name for var in function.variables()}
    for place in places:
        gone = [value for value, by in placed.by.items() if place in by]
        if gone and left.isdisjoint(gone):
            values = listed(gone)
            text = f"nothing of it is there at run time: {values} became constant, part of another operator, "
            text += "or is not needed"
            help_ = "leave it out, or place what reads it"
            miss = Message(code="E243", text=text, where=place.who, help=help_, of_one_model=True)
            _miss(place, miss, among_others, missed, messages)
    state_pairs = [
        (state.param, state.result) for state in function.states
    ]  # the application sees nothing of it
    params = [
        param for index, param in enumerate(function.params) if index not in {old for old, _ in state_pairs}
    ]
    others = [
        result
        for index, result in enumerate(function.results)
        if index not in {new for _, new in state_pairs}
    ]
    edges = {place: tuple(params) for place in places if place.inputs}
    edges |= {
        place: tuple(result for result in others if isinstance(result, Var))
        for place in places
        if place.outputs
    }
    with_edges = _given(replace(placed, module=module, missed=missed), function, edges, messages)
    messages.raise_if_any()
    return with_edges


def _check_pool(place: Place, pools: Sequence[str], messages: Messages) -> None:
    for scope in (place.device.memory_scope, place.reads):
        if scope is not None and scope not in pools:
            messages.add(
                "E242",
                f"there is no pool {scope} to plan in",
                where=place.who,
                help=f"pools of this board are {', '.join(pools)}",
            )


def _miss(
    place: Place, miss: Message, among_others: bool, missed: dict[Place, Message], messages: Messages
) -> None:
    """A place for all of several models may be for another of them; any other one is wrong."""
    if among_others and place.model is None:
        missed[place] = miss
    else:
        messages.take(miss)


def _named(module: Module, place: Place) -> tuple[Var, ...]:
    """The values that a place of a tensor or an operator means."""
    function = module.main
    if place.tensor is not None:
        return tuple(var for var in function.variables() if place.tensor in (var.origin, var.name))
    op = place.op
    return () if op is None else tuple(let.var for let in function.body if _is_of(let, op))


def _is_of(let: Let, op: int | str) -> bool:
    if isinstance(op, int):
        return let.source is not None and let.source.op_index == op
    return op == operator_name(let.call) or (let.source is not None and let.source.op_name == op)


def _no_tensor(module: Module, place: Place) -> Message:
    constants = {constant.origin for constant in module.constants.values()} | set(module.constants)
    names = [var.origin or var.name for var in module.main.variables()]
    text = f"no value of the model is called {place.tensor!r}"
    if place.tensor in constants:
        text = f"{place.tensor!r} is a constant, which is linked, not placed"
    help_ = f"its values are {listed(names)}"
    return Message(code="E240", text=text, where=place.who, help=help_, of_one_model=True)


def _no_operator(function: Function, place: Place) -> Message:
    indices = [let.source.op_index for let in function.body if let.source is not None]
    names = Counter(operator_name(let.call) for let in function.body)
    kinds = listed([f"{name} ({count})" for name, count in names.items()])
    return Message(
        code="E241",
        text=f"the model has no operator {place.op}"
        + (" with a result" if isinstance(place.op, int) else ""),
        where=place.who,
        help=f"it has {kinds}, numbered from {min(indices, default=0)} to {max(indices, default=0)}",
        of_one_model=True,
    )


def _given(
    placed: Placed, function: Function, values: Mapping[Place, Sequence[Var]], messages: Messages
) -> Placed:
    """`placed` with the devices of these places on these values as well."""
    if not values:
        return placed
    devices = {var.name: var.device for var in function.variables()}
    by = dict(placed.by)
    for place, variables in values.items():
        for var in variables:
            other = next((p for p in by.get(var.name, ()) if p.reads not in (None, place.reads)), None)
            if place.reads is not None and other is not None:
                messages.add(
                    "E320",
                    f"what computes {var.name} is to read from {other.reads} by {other.who}, and from "
                    f"{place.reads} by {place.who}",
                    where=f"value {var.origin or var.name}",
                    help="take it out of one of these",
                )
            try:
                devices[var.name] = devices[var.name].unify(place.device)
            except DeviceConflict as conflict:
                earlier = (
                    " and ".join(earlier_place.who for earlier_place in by.get(var.name, ())) or "the model"
                )
                messages.add(
                    "E320",
                    f"{var.name} is given a device by {earlier} and by {place.who}: {conflict}",
                    where=f"value {var.origin or var.name}",
                    help="take it out of one of these",
                )
            else:
                by[var.name] = (*by.get(var.name, ()), place)
    module = with_function(placed.module, _with_devices(function, devices))
    return Placed(module=module, by=by, missed=placed.missed)


def _with_devices(function: Function, devices: Mapping[str, VirtualDevice]) -> Function:
    def var(old: Var) -> Var:
        return old if old.device == devices[old.name] else replace(old, device=devices[old.name])

    def arg(old: Arg | None) -> Arg | None:
        return var(old) if isinstance(old, Var) else old

    def let(old: Let) -> Let:
        call = replace(old.call, args=tuple(arg(operand) for operand in old.call.args))
        return replace(old, var=var(old.var), call=call)

    return replace(
        function,
        params=tuple(var(param) for param in function.params),
        body=tuple(let(step) for step in function.body),
        results=tuple(var(result) if isinstance(result, Var) else result for result in function.results),
    )
