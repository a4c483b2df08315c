"""Which variables share bytes: views, results that replace an argument, arguments joined in a result.

`Replaceable` says when a step may write its result over the very bytes of an argument.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from codegen.ir import DeviceConflict, Function, Var
from codegen.kernels.primfunc import PrimFunc
from codegen.program.interface import Edge


@dataclass(frozen=True, kw_only=True, slots=True)
class Ties:
    """Place of each variable inside the variable whose bytes hold it, its root."""

    anchors: Mapping[str, tuple[str, int]]
    """Variable -> (root, offset in bytes from the first of all that shares bytes with it)."""
    variables: Mapping[str, Var]
    sizes: Mapping[str, int]
    """Root -> bytes of all that lies in its bytes, itself included."""
    faults: tuple[str, ...]
    """Ties that cannot be, in sentences; anchors leave those out."""

    def members(self) -> dict[str, list[str]]:
        """Root -> the variables in it, in order of definition."""
        members: dict[str, list[str]] = {}
        for name, (root, _) in self.anchors.items():
            members.setdefault(root, []).append(name)
        return members


def ties(function: Function, prim_funcs: Sequence[PrimFunc]) -> Ties:
    """The ties of `prim_funcs`, which may be the first few steps of `function` only.

    An argument joined in a result brings along all that shares bytes with it. In a result without inlets it
    has to be all of that: then nothing sticks out.
    """
    variables = {param.name: param for param in function.params}
    anchors = {param.name: (param.name, 0) for param in function.params}
    members = {name: [name] for name in anchors}
    faults: list[str] = []
    for prim in prim_funcs:
        result = prim.let.var
        variables[result.name] = result
        anchors[result.name] = (result.name, 0)
        members[result.name] = [result.name]
        if prim.tied is not None:
            source = prim.let.call.args[prim.tied[0]]
            start = prim.tied[1]
            if not isinstance(source, Var):
                faults.append(f"{prim.name}: a view of a constant must be folded before planning")
            elif start < 0 or start + result.type.size_bytes > source.type.size_bytes:
                faults.append(f"{prim.name}: the view leaves the bytes of {source.name}")
            else:
                root, offset = anchors[source.name]
                anchors[result.name] = (root, offset + start)
                members[root] += members.pop(result.name)
        for arg, start in prim.joins:
            root, inside = anchors[arg.name]
            if root == result.name and prim.inlets:
                if inside != start:
                    faults.append(f"{prim.name}: {arg.name} is at byte {inside} of it, not at {start}")
                continue
            is_whole = variables[root].type.size_bytes == arg.type.size_bytes
            if root == result.name or not (is_whole or prim.inlets):
                faults.append(
                    f"{prim.name}: {arg.name} is not all of the bytes of {root}, it cannot be joined"
                )
                continue
            moved = members.pop(root)
            shift = start - inside
            anchors.update((name, (result.name, shift + anchors[name][1])) for name in moved)
            members[result.name] += moved
    sizes = _from_zero(anchors, members, variables)
    return Ties(
        anchors=MappingProxyType(anchors),
        variables=MappingProxyType(variables),
        sizes=MappingProxyType(sizes),
        faults=tuple(faults),
    )


def _from_zero(
    anchors: dict[str, tuple[str, int]], members: Mapping[str, Sequence[str]], variables: Mapping[str, Var]
) -> dict[str, int]:
    """Let offsets in each root begin at 0; the bytes of all that lies in each."""
    sizes: dict[str, int] = {}
    for root, names in members.items():
        low = min(anchors[name][1] for name in names)
        if low:
            anchors.update((name, (root, anchors[name][1] - low)) for name in names)
        sizes[root] = max(anchors[name][1] + variables[name].type.size_bytes for name in names)
    return sizes


def demands(tied: Ties, prim_funcs: Sequence[PrimFunc]) -> dict[str, int]:
    """Alignment in bytes that dtype and kernels demand of each variable."""
    needed = {name: var.type.dtype.size_bytes for name, var in tied.variables.items()}
    for prim in prim_funcs:
        if prim.is_call:
            touched = [arg.name for arg in prim.let.call.args if isinstance(arg, Var)]
            for name in (*touched, prim.let.var.name):
                needed[name] = max(needed[name], prim.argument_alignment)
        needed[prim.let.var.name] = max(needed[prim.let.var.name], prim.result_alignment)
    return needed


def confined(tied: Ties, prim_funcs: Sequence[PrimFunc]) -> dict[str, frozenset[str]]:
    """Pools in which a root may lie by the devices of what is in it and by what kernels demand; only roots
    that somebody restricts. An empty set: there is no such pool."""
    pools: dict[str, frozenset[str]] = {}

    def restrict(name: str, allowed: frozenset[str] | None) -> None:
        root = tied.anchors[name][0]
        if allowed is not None:
            pools[root] = pools.get(root, allowed) & allowed

    for name, var in tied.variables.items():
        scope = var.device.memory_scope
        restrict(name, None if scope is None else frozenset({scope}))
    for prim in prim_funcs:
        restrict(prim.let.var.name, prim.allowed())
        for index, arg in enumerate(prim.let.call.args):
            if isinstance(arg, Var):
                restrict(arg.name, prim.allowed(argument=index))
    return pools


def misfits(tied: Ties, prim_funcs: Sequence[PrimFunc]) -> list[str]:
    """Variables that do not fit where they are tied to, by alignment or device, in sentences."""
    texts: list[str] = []
    needed = demands(tied, prim_funcs)
    devices = {name: var.device for name, var in tied.variables.items()}
    for name, (root, offset) in tied.anchors.items():
        if offset % needed[name]:
            texts.append(f"{name}: at byte {offset} of {root}, needs alignment {needed[name]}")
        try:
            devices[root] = devices[root].unify(devices[name])
        except DeviceConflict as conflict:
            texts.append(f"{name} and {root} share bytes, but {conflict}")
    if not texts:
        nowhere = [root for root, pools in confined(tied, prim_funcs).items() if not pools]
        texts += [f"{root}: no memory suits all that read or write its bytes" for root in nowhere]
    return texts


def part_outputs(function: Function, tied: Ties) -> list[tuple[str, str]]:
    """(output, what is wrong with it) where the caller cannot own an output: it must be exactly one value's
    bytes, and not an input's."""
    inputs = {param.name for param in function.params}
    problems: list[tuple[str, str]] = []
    seen: dict[str, str] = {}
    for result in function.results:
        if not isinstance(result, Var):
            continue
        root, offset = tied.anchors[result.name]
        if root in inputs:
            problems.append((result.name, f"is the bytes of input {root}"))
        elif root in seen:
            problems.append((result.name, f"is the bytes of output {seen[root]} too"))
        elif offset or result.type.size_bytes != tied.sizes[root]:
            problems.append((result.name, f"is a part of the bytes of {root}"))
        seen[root] = result.name
    return problems


def foreign_joins(function: Function, prim_funcs: Sequence[PrimFunc], tied: Ties, edge: Edge) -> list[str]:
    """Joins in bytes that are not the plan's, in sentences: the caller's may lie anywhere, and a streamed
    input has none."""
    roots = {tied.anchors[name][0] for name in edge.unplanned(function)}
    return [
        f"{prim.name}: joins its arguments in bytes of the caller"
        for prim in prim_funcs
        if prim.joined and tied.anchors[prim.let.var.name][0] in roots
    ]


def may_replace(
    function: Function,
    prim_funcs: Sequence[PrimFunc],
    step: int,
    *,
    argument: int | None = None,
    edge: Edge,
) -> bool:
    """True if step `step` may replace its argument; a `Replaceable` answers for many steps."""
    return Replaceable(function, prim_funcs, edge).may(step, argument=argument)


class Replaceable:
    """Which arguments the steps of a function may replace, looked up for many steps."""

    def __init__(self, function: Function, prim_funcs: Sequence[PrimFunc], edge: Edge) -> None:
        self._function, self._prim_funcs = function, prim_funcs
        self._kept = {result.name for result in function.results if isinstance(result, Var)}
        self._kept |= edge.unwritten(function)
        self._joins = [step for step, prim in enumerate(prim_funcs) if prim.joins]
        self._ties: dict[int, Ties] = {}
        self._alive: list[list[str]] | None = None

    def may(self, step: int, *, argument: int | None = None) -> bool:
        """True if step `step` may replace its argument `argument` (default: the one its PrimFunc names).

        That is so if nobody reads a byte of it later: not under its own name, not through a view of the
        bytes it lies in, not as a result, not as an input that must stay as it is.
        """
        prim = self._prim_funcs[step]
        index = prim.in_place if argument is None else argument
        replaced = None if index is None else prim.let.call.args[index]
        if not isinstance(replaced, Var):
            return False
        tied = self._tied(step)
        read = {arg.name for i, arg in enumerate(prim.let.call.args) if i != index and isinstance(arg, Var)}
        later = [*read, *self._alive_behind(step)]
        return not any(_meet(tied, replaced.name, name) for name in later)

    def _tied(self, step: int) -> Ties:
        """Ties before a step: only joins move variables once they are there."""
        number = bisect_left(self._joins, step)
        if number not in self._ties:
            stop = self._joins[number] if number < len(self._joins) else len(self._prim_funcs)
            self._ties[number] = ties(self._function, self._prim_funcs[:stop])
        return self._ties[number]

    def _alive_behind(self, step: int) -> list[str]:
        """Variables that are there before a step and read behind it."""
        if self._alive is None:
            self._alive = self._lives()
        return self._alive[step]

    def _lives(self) -> list[list[str]]:
        count = len(self._prim_funcs)
        births = {param.name: -1 for param in self._function.params}
        lasts: dict[str, int] = {}
        for step, prim in enumerate(self._prim_funcs):
            births[prim.let.var.name] = step
            lasts.update((arg.name, step) for arg in prim.let.call.args if isinstance(arg, Var))
        lasts.update((name, count) for name in self._kept)
        alive: list[list[str]] = [[] for _ in range(count)]
        for name, last in lasts.items():
            for step in range(births[name] + 1, last):
                alive[step].append(name)
        return alive


def _meet(tied: Ties, one: str, other: str) -> bool:
    """True if two variables have bytes in common."""
    (root, first), (same, second) = tied.anchors[one], tied.anchors[other]
    sizes = [tied.variables[name].type.size_bytes for name in (one, other)]
    return root == same and second < first + sizes[0] and first < second + sizes[1]
