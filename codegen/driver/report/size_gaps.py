"""What reports say of sizes that are known as ranges: the formulas of the peaks, and how near they are to the
least."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from codegen.errors import in_bytes
from codegen.ir.formulas import Formula, Stepwise, constant_of, inside, named, names_of, text
from codegen.plan.draw.sizes_picture import Sizes, sizes_picture
from codegen.program.interface import axes_of
from codegen.program.program import Program
from codegen.program.size_ranges import OpenEnd, Peak, Ranges, breakpoints, looked_at, named_values


@dataclass(frozen=True, kw_only=True, slots=True)
class Gap:
    """Planned bytes over the lower bound, over all sizes that were looked at; 1 is the least there is."""

    mean: float
    worst: float
    at: Peak
    """Where it is worst."""


def gap(peaks: tuple[Peak, ...]) -> Gap | None:
    """The gap of one pool; None where it holds nothing."""
    found = [(peak.planned_bytes / peak.lower_bound_bytes, peak) for peak in peaks if peak.lower_bound_bytes]
    if not found:
        return None
    worst, at = max(found, key=lambda each: each[0])
    return Gap(mean=sum(each for each, _ in found) / len(found), worst=worst, at=at)


@dataclass(frozen=True, kw_only=True, slots=True)
class RangePart:
    """A part of the range with an order of buffers of its own."""

    number: int
    where: str
    """`T < 40`, `40 <= T < 90`, `90 <= T`; empty for the whole range."""
    peaks: Mapping[str, tuple[Peak, ...]]
    """Pool -> its bytes at the sizes of this part."""


def range_parts(ranges: Ranges) -> list[RangePart]:
    """The parts of the range, the smallest sizes first."""
    split = next((each.formula for each in ranges.extents if each.name == ranges.part), None)
    if not isinstance(split, Stepwise):
        return [RangePart(number=0, where="", peaks=ranges.peaks)]
    rows = {
        symbol.name: np.array([sizes[symbol.name] for sizes in looked_at(ranges)], np.int64)
        for symbol in ranges.symbols
    }
    own = named_values(ranges, rows)[ranges.part]
    bounds, said = [None, *split.starts, None], text(split.value)
    found: list[RangePart] = []
    for number, (low, high) in enumerate(itertools.pairwise(bounds)):
        where = (f"{low} <= " if low is not None else "") + said + (f" < {high}" if high is not None else "")
        peaks = {
            pool: tuple(peak for peak, part in zip(every, own.tolist(), strict=True) if part == number)
            for pool, every in ranges.peaks.items()
        }
        found.append(RangePart(number=number, where=where, peaks=peaks))
    return found


def _pools(ranges: Ranges, part: RangePart) -> list[dict[str, object]]:
    """What each pool takes in a part, and how near it is to the least."""
    pools: list[dict[str, object]] = []
    for name, peaks in part.peaks.items():
        found = gap(peaks)
        if found is not None:
            pools.append(
                {
                    "name": name,
                    "formula": text(inside(ranges.pools[name], ranges.part, part.number)),
                    "mean_gap": round(found.mean, 4),
                    "worst_gap": round(found.worst, 4),
                    "worst_at": list(found.at.values),
                }
            )
    return pools


def sizes_report(program: Program) -> dict[str, object] | None:
    """The `sizes` object of report.json; None where all are fixed."""
    ranges = program.ranges
    if ranges is None:
        return None
    parts = range_parts(ranges)
    return {
        "symbols": [
            {"name": symbol.name, "low": symbol.low, "high": symbol.high, "axes": _axes(program, symbol.name)}
            for symbol in ranges.symbols
        ],
        "extents": [{"name": extent.name, "formula": text(extent.formula)} for extent in ranges.extents],
        "combinations": _combinations(ranges),
        "proved": ranges.proved,
        "narrowed": list(ranges.narrowed),
        "open_end": _open_end(ranges.open_end),
        "breakpoints": [list(each.values()) for each in breakpoints(ranges)],
        "pools": _pools(ranges, RangePart(number=-1, where="", peaks=ranges.peaks)),
        "parts": [
            {
                "where": part.where,
                "combinations": len(next(iter(part.peaks.values()))),
                "functions": [
                    {"step": step, "function": symbol} for step, symbol in _functions(program, part.number)
                ],
                "moved": [{"buffer": id_, "pool": pool} for id_, pool in _moved(program, part.number)],
                "pools": _pools(ranges, part),
            }
            for part in parts
            if part.where
        ],
    }


def _functions(program: Program, part: int) -> list[tuple[str, str]]:
    """(step, C function) of the steps that are another function in a part than at the largest sizes."""
    return [
        (prim.name, call.symbol)
        for prim in program.steps.prim_funcs
        for call in prim.elsewhere
        if call.number == part
    ]


def _moved(program: Program, part: int) -> list[tuple[str, str]]:
    """(buffer, pool) of those that lie in another pool in a part than at the largest sizes."""
    ranges = program.ranges
    assert ranges is not None
    return [(id_, pools[part]) for id_, pools in ranges.moved.items() if pools[part] != pools[-1]]


def _linked(program: Program, part: RangePart) -> list[tuple[str, str]]:
    """(step, role) of the constants that are not copied in a part, as they are at the largest sizes."""
    ranges = program.ranges
    assert ranges is not None
    sizes = {copy.user: ranges.buffers[copy.buffer][1] for copy in program.constants.staged}
    return [user for user, size in sizes.items() if constant_of(inside(size, ranges.part, part.number)) == 0]


def _open_end(end: OpenEnd | None) -> dict[str, object] | None:
    if end is None:
        return None
    return {
        "symbol": end.symbol,
        "high": end.high,
        "proved": end.proved,
        "pool": end.pool or None,
        "limit_bytes": end.limit_bytes,
        "next_lower_bound_bytes": end.bound_bytes,
    }


def _ending(end: OpenEnd) -> str:
    """Why an open range ends where it does."""
    next_ = f"{end.symbol}={end.high + 1}"
    if end.refused:
        return f"{next_} is none: {end.refused}"
    if not end.pool:
        return f"{end.symbol}={end.high} is the largest that is tried; it fits"
    least = f"at least {in_bytes(end.bound_bytes)} in any plan"
    found = f"{in_bytes(end.needed_bytes)} in the best plan found; {end.bound_bytes} is the bound"
    needs = least if end.proved else found
    return f"{next_} does not fit: pool {end.pool} has {end.limit_bytes}, it needs {needs}"


def _combinations(ranges: Ranges) -> int:
    return len(next(iter(ranges.peaks.values())))


def _axes(program: Program, symbol: str) -> list[str]:
    found = axes_of(program.signature.inputs, named(symbol))
    return [f"{field}.{axis}" for field, axis in found]


def _named(ranges: Ranges, formula: Formula, part: int) -> Iterator[str]:
    """What the extents are that a formula names, and those that they follow from, the last ones first; in one
    part of the range."""
    wanted = set(names_of(formula))
    for extent in reversed(ranges.extents):
        if extent.name in wanted:
            own = inside(extent.formula, ranges.part, part)
            wanted.update(names_of(own))
            yield f"{extent.name} = {text(own)}"


def sizes_lines(program: Program) -> Iterator[str]:
    """Lines about the sizes; none where all are fixed."""
    ranges = program.ranges
    if ranges is None:
        return
    said = ", ".join(f"{symbol} ({', '.join(_axes(program, symbol.name))})" for symbol in ranges.symbols)
    every = "all" if ranges.proved else "the ends, turns and others at random,"
    yield f"sizes     {said}: {every} {_combinations(ranges):,} looked at"
    for sentence in ranges.narrowed:
        yield f"          {sentence}"
    if ranges.open_end is not None:
        yield f"          {_ending(ranges.open_end)}"
    if ranges.misses_start_up:
        yield "          --stage auto copies no constants at start-up: calls of other sizes need their bytes"
    for part in range_parts(ranges):
        if part.where:
            yield f"          where {part.where}, {len(next(iter(part.peaks.values()))):,} of them:"
        others = [f"{step} calls {symbol}" for step, symbol in _functions(program, part.number)]
        others += [f"{step} reads its {role} where it is linked" for step, role in _linked(program, part)]
        others += [f"{id_} lies in {pool}" for id_, pool in _moved(program, part.number)]
        if others:
            yield f"          {', '.join(others)}"
        for name, peaks in part.peaks.items():
            found = gap(peaks)
            if found is not None:
                own = inside(ranges.pools[name], ranges.part, part.number)
                said = [f"          {name} takes {text(own)}", *_named(ranges, own, part.number)]
                yield ", ".join(said)
                yield f"          {_over(ranges, found)}"


def _over(ranges: Ranges, found: Gap) -> str:
    """How far above the lower bound a pool is, on average and at worst."""
    names = [symbol.name for symbol in ranges.symbols]
    at = ", ".join(f"{name}={value}" for name, value in zip(names, found.at.values, strict=True))
    return f"over the lower bound: {found.mean:.3f} on average, {found.worst:.3f} at {at}"


def peak_picture(program: Program, measured: Mapping[str, Mapping[Sizes, int]]) -> str:
    """The picture of a program's peaks over its sizes; `measured`: pool -> bytes at sizes at which it ran."""
    ranges = program.ranges
    if ranges is None:
        raise ValueError(f"{program.name}: all its sizes are fixed")
    gaps = {pool: gap(peaks) for pool, peaks in ranges.peaks.items()}
    notes = {pool: _over(ranges, found) for pool, found in gaps.items() if found is not None}
    return sizes_picture(program.name, ranges, measured, notes)
