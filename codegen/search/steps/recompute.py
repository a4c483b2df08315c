"""Recomputation: a value that only waits for a late use is computed a second time in front of that use.

Between its other uses and the late one its bytes are then free; what it is computed from has to live longer,
or is computed again too. The steps that run again cost their multiply-accumulates a second time: a variant
says how many. Duplicates are ordinary steps, whose constants linking merges with those of the originals.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise

from codegen.ir import Arg, Function, Let, Var
from codegen.ir.ops import DEVICE_COPY
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.clock import Clock

MOST_STEPS = 8
"""Steps that one late use may run again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """A function that computes what the first one does, some of its steps twice."""

    function: Function
    prim_funcs: tuple[PrimFunc, ...]
    steps: tuple[PrimFunc | None, ...]
    """Per step, how a block would run it (`row_blocks.row_steps`)."""
    extra_macs: int = 0
    """Multiply-accumulates executed beyond those of the first function."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Need:
    """Bytes that have to be there at some time in steps [start, stop)."""

    start: int
    stop: int
    bytes: int


Profile = Callable[[Variant, int | None], Sequence[Need]]
"""Needs of the steps of a function; several times of one step may be listed.
If the largest need is above the number of bytes given, any needs of which one is above will do.
"""

_Height = tuple[int, int]
"""Largest need, number of times it is reached."""


def variants(
    first: Variant,
    profile: Profile,
    *,
    once: Collection[str] = (),
    effort: int,
    clock: Clock | None = None,
) -> Iterator[Variant]:
    """Variants of `first`, each with a lower largest need than the one before, and more extra work.

    Every one takes, from the one before, the recomputations that lower the need at the peak most;
    among equals those with the fewest extra multiply-accumulates, then the earliest. Steps that read
    a value of `once` never run twice. `effort`: steps of all functions whose needs are looked at, which
    ends the search (a count, so that answers repeat), as does `clock` once it is late.
    """
    clock = clock or Clock()
    if clock.late():
        return
    now, needs = first, profile(first, None)
    reported = _height(needs)[0]
    while needs:
        best: tuple[_Height, int, Variant, Sequence[Need]] | None = None
        for other in _next(now, needs, once):
            if effort <= 0 or clock.late():
                break
            effort -= len(other.prim_funcs)
            other_needs = profile(other, best[0][0] if best else _height(needs)[0])
            rank = _height(other_needs), other.extra_macs
            if rank[0] < _height(needs) and (best is None or rank < best[:2]):
                best = (*rank, other, other_needs)
        if best is None:
            return
        now, needs = best[2:]
        if best[0][0] < reported:
            reported = best[0][0]
            yield now


def _height(needs: Sequence[Need]) -> _Height:
    most = max((need.bytes for need in needs), default=0)
    return most, sum(need.bytes == most for need in needs)


def _next(variant: Variant, needs: Sequence[Need], once: Collection[str]) -> Iterator[Variant]:
    """Variants with one more late use served by recomputation, of values that wait through a peak."""
    most = _height(needs)[0]
    peaks = [need for need in needs if need.bytes == most]
    graph = _UseGraph(variant, once)
    for step in range(len(variant.prim_funcs)):
        uses = graph.uses(step)
        for early, late in pairwise(uses):
            if any(max(peak.start, early + 1) < min(peak.stop, late) for peak in peaks):
                for chain in graph.chains(step, late):
                    yield _again(variant, chain, late)


class _UseGraph:
    """Who computes what, and until when it is needed."""

    def __init__(self, variant: Variant, once: Collection[str]) -> None:
        body = variant.function.body
        self._prims = variant.prim_funcs
        self._results = {result.name for result in variant.function.results if isinstance(result, Var)}
        self._step = {let.var.name: step for step, let in enumerate(body)}
        self._uses = variant.function.uses()
        self._once = frozenset(once)

    def uses(self, step: int) -> list[int]:
        """Steps that read the result of `step`, itself or through views; none if it cannot run again."""
        if not self._may_repeat(step) or self._prims[step].view is not None:
            return []
        readers = sorted(self._reads(step))
        # A result stays to the end whatever is computed again.
        return [] if len(self._prims) in readers else readers

    def _reads(self, step: int) -> set[int]:
        readers: set[int] = set()
        for user in self._uses[self._prims[step].let.var.name]:
            is_view = user < len(self._prims) and self._prims[user].view is not None
            readers |= self._reads(user) if is_view else {user}
        return readers

    def _may_repeat(self, step: int) -> bool:
        prim = self._prims[step]
        return (
            prim.block is None
            # A copy costs no multiply-accumulate, but a copy: where it is needed it is made once.
            and prim.let.call.op is not DEVICE_COPY
            and prim.let.var.name not in self._results
            and self._once.isdisjoint(var.name for var in _variables(prim.let))
        )

    def chains(self, step: int, late: int) -> Iterator[tuple[int, ...]]:
        """Steps to run again in front of step `late`, which reads `step`: first as few as possible, what
        they read kept alive; then more and more of what they read computed again too."""
        chain = {step, *self._views(step, late)}
        while len(chain) <= MOST_STEPS:
            yield tuple(sorted(chain))
            before = {
                self._step[var.name]
                for member in chain
                for var in _variables(self._prims[member].let)
                if var.name in self._step and max(self._uses[var.name]) < late
            }
            more = {member for member in before - chain if self._may_repeat(member)}
            if not more:
                return
            chain |= more

    def _views(self, step: int, late: int) -> set[int]:
        """Views of the result of `step` through which `late` reads it."""
        views: set[int] = set()
        for user in self._uses[self._prims[step].let.var.name]:
            if user < late and self._prims[user].view is not None and late in self._reads(user):
                views |= {user, *self._views(user, late)}
        return views


def _variables(let: Let) -> list[Var]:
    return [arg for arg in let.call.args if isinstance(arg, Var)]


def _again(variant: Variant, chain: Sequence[int], late: int) -> Variant:
    """`variant` with the steps of `chain` a second time in front of step `late`, for it and all after it."""
    taken = {var.name for var in variant.function.variables()}
    renamed: dict[str, Var] = {}
    prims = list(variant.prim_funcs[:late])
    rows = list(variant.steps[:late])
    for step in chain:
        prim = variant.prim_funcs[step]
        repeats = prim.let.repeats or prim.let.var.name
        var = replace(prim.let.var, name=_name(repeats, taken))
        source = prim.let.source and replace(prim.let.source, op_name=f"{prim.let.source.op_name} again")
        let = replace(_reading(prim.let, renamed), var=var, source=source, repeats=repeats)
        renamed[prim.let.var.name] = var
        prims.append(replace(prim, name=var.name, let=let))
        rows.append(_bound(variant.steps[step], var.name, let))
    for prim, row in zip(variant.prim_funcs[late:], variant.steps[late:], strict=True):
        let = _reading(prim.let, renamed)
        prims.append(replace(prim, let=let))
        rows.append(_bound(row, prim.name, let))
    return Variant(
        function=replace(variant.function, body=tuple(prim.let for prim in prims)),
        prim_funcs=tuple(prims),
        steps=tuple(rows),
        extra_macs=variant.extra_macs + sum(variant.prim_funcs[step].macs for step in chain),
    )


def _bound(row: PrimFunc | None, name: str, let: Let) -> PrimFunc | None:
    return None if row is None else replace(row, name=name, let=let)


def _reading(let: Let, renamed: Mapping[str, Var]) -> Let:
    def arg(old: Arg | None) -> Arg | None:
        return renamed.get(old.name, old) if isinstance(old, Var) else old

    return replace(let, call=replace(let.call, args=tuple(arg(old) for old in let.call.args)))


def _name(repeated: str, taken: set[str]) -> str:
    """`conv0_again`, `conv0_again2`, ...; noted in `taken`."""
    candidates = (f"{repeated}_again{number if number > 1 else ''}" for number in count(1))
    name = next(candidate for candidate in candidates if candidate not in taken)
    taken.add(name)
    return name
