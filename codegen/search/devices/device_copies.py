"""Takes the copies between memories out of a function, and puts those in that it needs.

Without its copies a function says which value a step reads and, as a wish, where; with the copies that
`scopes.solve` found each use reads the value or a copy of it. A view of a copy is made anew as a view of
whatever serves its uses, so that one copy serves uses under several types.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_not

from codegen.ir import Arg, Call, Function, Let, Source, Var, VirtualDevice
from codegen.ir.operator import Attrs
from codegen.ir.ops import DEVICE_COPY
from codegen.kernels.portable.inserted import DEVICE_COPY_KERNEL
from codegen.kernels.primfunc import PrimFunc

Site = tuple[int, int]
"""Step and argument of a use; step `len(prim_funcs)` stands for the results."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """A use of a value: it reads `content` through `views`, in that order."""

    content: Var
    views: tuple[PrimFunc, ...] = ()
    wish: str | None = None
    """The memory scope that a copy in the given function had for it."""
    copied: Var | None = None
    """That copy."""

    @property
    def key(self) -> tuple[str, ...]:
        """Equal for uses of the same bytes under the same type."""
        return (self.content.name, *(view.name for view in self.views))


@dataclass(frozen=True, kw_only=True, slots=True)
class Bare:
    """A function without copies, and without views of copies."""

    params: tuple[Var, ...]
    prim_funcs: tuple[PrimFunc, ...]
    results: tuple[Arg, ...]
    readings: Mapping[Site, Reading]
    """Readings of all uses of run-time values, by the steps left and by the results.
    Views that stay are read under their own name too: `values` says which.
    """
    values: Mapping[str, tuple[str, ...]]
    """Key of a reading's last member that is a value of this function -> see `Reading.key`."""


def bare(function: Function, prim_funcs: Sequence[PrimFunc]) -> Bare:
    """`function` without its copies. Raises ValueError for a copy whose very bytes a later step replaces or
    joins: kernels that do are chosen after devices are planned."""
    readings: dict[str, Reading] = {param.name: Reading(content=param) for param in function.params}
    values = {param.name: readings[param.name].key for param in function.params}
    kept: list[PrimFunc] = []
    for prim in prim_funcs:
        for arg in _taken_over(prim):
            if readings[arg.name].copied is not None:
                raise ValueError(f"{prim.name}: takes over the bytes of the copy {arg.name}")
        reading = _reading(prim, readings)
        readings[prim.let.var.name] = reading
        if reading.copied is None:
            values[prim.let.var.name] = reading.key
            kept.append(prim)
    used = [(step, prim.let.call.args) for step, prim in enumerate(kept)]
    used.append((len(kept), function.results))
    return Bare(
        params=function.params,
        prim_funcs=tuple(kept),
        results=function.results,
        readings={
            (step, index): readings[arg.name]
            for step, args in used
            for index, arg in enumerate(args)
            if isinstance(arg, Var)
        },
        values=values,
    )


def _reading(prim: PrimFunc, readings: Mapping[str, Reading]) -> Reading:
    """The reading of whoever reads the result of `prim`."""
    var, source = prim.let.var, _source(prim)
    if source is None:
        return Reading(content=var)
    before = readings[source.name]
    if prim.view is None:
        return replace(before, wish=var.device.memory_scope or before.wish, copied=var)
    wish = before.wish if before.copied is None else var.device.memory_scope or before.wish
    return replace(before, views=(*before.views, prim), wish=wish)


def _source(prim: PrimFunc) -> Var | None:
    """The argument of a copy or a view; None of other steps, which compute something."""
    index = prim.view.argument if prim.view is not None else 0 if prim.let.call.op is DEVICE_COPY else None
    source = None if index is None else prim.let.call.args[index]
    return source if isinstance(source, Var) else None


def _taken_over(prim: PrimFunc) -> list[Var]:
    """Arguments whose bytes become the result's, views aside."""
    replaced = None if prim.in_place is None else prim.let.call.args[prim.in_place]
    return [*([replaced] if isinstance(replaced, Var) else []), *(arg for arg, _ in prim.joins)]


@dataclass(frozen=True, kw_only=True, slots=True)
class WantedCopy:
    """A copy to make: of `content`, with this memory scope (None: the planner chooses), for these uses."""

    content: str
    scope: str | None
    word: str
    """Last word of the copy's name: `<content>_<word>`."""
    sites: tuple[Site, ...]


def filled(
    function: Function, stripped: Bare, scopes: Mapping[str, str | None], copies: Sequence[WantedCopy]
) -> tuple[Function, tuple[PrimFunc, ...]]:
    """The function again, its values at home in `scopes` (None: as they are), every use served by the value
    or by one of `copies`; a copy is made right in front of the first step that reads it. Views that nothing
    reads any more are left out."""
    return _Filler(function, stripped, scopes, copies).filled()


class _Filler:
    def __init__(
        self,
        function: Function,
        stripped: Bare,
        scopes: Mapping[str, str | None],
        copies: Sequence[WantedCopy],
    ) -> None:
        self._function, self._given, self._scopes = function, stripped, scopes
        self._by_site = {site: index for index, copy in enumerate(copies) for site in copy.sites}
        self._copies = copies
        self._taken = set(stripped.values)
        self._vars: dict[str, Var] = {}
        """Values of the bare function, with their scopes."""
        self._seen: dict[tuple[int | None, tuple[str, ...]], Var] = {}
        """(copy, key of a reading) -> the variable that holds it."""
        self._prims: list[PrimFunc] = []

    def filled(self) -> tuple[Function, tuple[PrimFunc, ...]]:
        params = tuple(self._at_home(param) for param in self._given.params)
        for step, prim in enumerate(self._given.prim_funcs):
            let = prim.let
            args = tuple(
                self._read(step, index, let) if isinstance(arg, Var) else arg
                for index, arg in enumerate(let.call.args)
            )
            var = self._at_home(let.var)
            if var is not let.var or any(map(is_not, args, let.call.args)):
                prim = replace(prim, let=replace(let, var=var, call=replace(let.call, args=args)))
            self._prims.append(prim)
        last = len(self._given.prim_funcs)
        results = tuple(
            self._read(last, index, None) if isinstance(result, Var) else result
            for index, result in enumerate(self._given.results)
        )
        prims = _without_dead_views(self._prims, results)
        body = tuple(prim.let for prim in prims)
        return replace(self._function, params=params, body=body, results=results), prims

    def _at_home(self, var: Var) -> Var:
        scope = self._scopes.get(var.name)
        at_home = var if scope is None else replace(var, device=replace(var.device, memory_scope=scope))
        self._vars[var.name] = at_home
        self._seen[None, self._given.values[var.name]] = at_home
        return at_home

    def _read(self, step: int, index: int, reader: Let | None) -> Var:
        """The value or copy that serves a use, made now if it is not there yet."""
        reading, copy = self._given.readings[step, index], self._by_site.get((step, index))
        if (copy, reading.key) not in self._seen:
            content = self._vars[reading.content.name]
            if copy is not None:
                content = self._copy(copy, reading, content, reader)
            self._view(copy, reading, content)
        return self._seen[copy, reading.key]

    def _copy(self, index: int, reading: Reading, content: Var, reader: Let | None) -> Var:
        key = (content.name,)
        if (index, key) not in self._seen:
            copy = self._copies[index]
            before = reading.copied if reading.copied and reading.copied.type == content.type else None
            name = self._name(before, f"{content.name}_{copy.word}")
            var = replace(content, name=name, device=VirtualDevice(memory_scope=copy.scope))
            call = Call(op=DEVICE_COPY, args=(content,), attrs=Attrs())
            let = Let(var=var, call=call, source=_for(reader, content))
            self._prims.append(DEVICE_COPY_KERNEL.bind(let, {}, name))
            self._seen[index, key] = var
        return self._seen[index, key]

    def _view(self, copy: int | None, reading: Reading, content: Var) -> None:
        """The views of a reading, on top of what serves its content."""
        now = content
        for count, view in enumerate(reading.views, start=1):
            key = reading.key[: count + 1]
            if (copy, key) not in self._seen:
                word = "" if copy is None else f"_{self._copies[copy].word}"
                name = self._name(view.let.var, f"{view.let.var.name}{word}")
                device = replace(view.let.var.device, memory_scope=now.device.memory_scope)
                var = replace(view.let.var, name=name, device=device)
                let = replace(view.let, var=var, call=replace(view.let.call, args=_viewing(view, now)))
                self._prims.append(replace(view, name=name, let=let))
                self._seen[copy, key] = var
            now = self._seen[copy, key]

    def _name(self, before: Var | None, fallback: str) -> str:
        """The name it had, if nobody else has it; else another."""
        stem = fallback if before is None or before.name in self._taken else before.name
        name, number = stem, 1
        while name in self._taken:
            number += 1
            name = f"{stem}{number}"
        self._taken.add(name)
        return name


def _viewing(view: PrimFunc, source: Var) -> tuple[Arg | None, ...]:
    """The arguments of a view, of `source` instead."""
    assert view.view is not None
    args = view.let.call.args
    return (*args[: view.view.argument], source, *args[view.view.argument + 1 :])


def _for(reader: Let | None, content: Var) -> Source | None:
    """The source that messages name for a copy: the first step that reads it."""
    if reader is None or reader.source is None:
        return None
    name = f"{DEVICE_COPY.name} for {reader.source.op_name}"
    return replace(reader.source, op_name=name, tensor_name=content.origin or content.name)


def _without_dead_views(prim_funcs: Sequence[PrimFunc], results: Sequence[Arg]) -> tuple[PrimFunc, ...]:
    live = {result.name for result in results if isinstance(result, Var)}
    kept: list[PrimFunc] = []
    for prim in reversed(prim_funcs):
        if prim.view is None or prim.let.var.name in live:
            kept.append(prim)
            live.update(_names(prim))
    return tuple(reversed(kept))


def _names(prim: PrimFunc) -> Iterator[str]:
    for arg in prim.let.call.args:
        if isinstance(arg, Var):
            yield arg.name
