"""Sizes as ranges in reports: formulas of the peaks, and how near the peaks are to the least possible."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codegen.draw.sizes_picture import Sizes, sizes_picture
from codegen.errors import in_bytes
from codegen.ir.formulas import Formula, names_of, text
from codegen.program.interface import axes_of
from codegen.program.program import Program
from codegen.program.size_ranges import OpenEnd, Peak, Ranges, breakpoints


@dataclass(frozen=True, kw_only=True, slots=True)
class Gap:
    """Planned bytes over the lower bound, over all sizes that were looked at; 1 is the least there is."""

    mean: float
    worst: float
    at: Peak
    """Sizes at which the peak is farthest from the least."""


def gap(peaks: tuple[Peak, ...]) -> Gap | None:
    """The gap of one pool; None where it holds nothing."""
    ratios = [(peak.planned_bytes / peak.lower_bound_bytes, peak) for peak in peaks if peak.lower_bound_bytes]
    if not ratios:
        return None
    worst, at = max(ratios, key=lambda ratio: ratio[0])
    return Gap(mean=sum(ratio for ratio, _ in ratios) / len(ratios), worst=worst, at=at)


def _pools(ranges: Ranges) -> list[dict[str, object]]:
    """Peak formula of each pool, and its distance from the least."""
    pools: list[dict[str, object]] = []
    for name, peaks in ranges.peaks.items():
        pool_gap = gap(peaks)
        if pool_gap is not None:
            pools.append(
                {
                    "name": name,
                    "formula": text(ranges.pools[name]),
                    "mean_gap": round(pool_gap.mean, 4),
                    "worst_gap": round(pool_gap.worst, 4),
                    "worst_at": list(pool_gap.at.values),
                }
            )
    return pools


def sizes_report(program: Program) -> dict[str, object] | None:
    """The `sizes` object of report.json; None where all are fixed."""
    ranges = program.ranges
    if ranges is None:
        return None
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
        "breakpoints": [list(sizes.values()) for sizes in breakpoints(ranges)],
        "pools": _pools(ranges),
    }


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
    best = f"{in_bytes(end.needed_bytes)} in the best plan found; {end.bound_bytes} is the bound"
    needs = least if end.proved else best
    return f"{next_} does not fit: pool {end.pool} has {end.limit_bytes}, it needs {needs}"


def _combinations(ranges: Ranges) -> int:
    return len(next(iter(ranges.peaks.values())))


def _axes(program: Program, symbol: str) -> list[str]:
    axes = axes_of(program.signature.inputs, symbol)
    return [f"{field}.{axis}" for field, axis in axes]


def _named(ranges: Ranges, formula: Formula) -> Iterator[str]:
    """Formulas of the extents that `formula` names, and of those that they depend on, the last ones first."""
    named = set(names_of(formula))
    for extent in reversed(ranges.extents):
        if extent.name in named:
            named.update(names_of(extent.formula))
            yield f"{extent.name} = {text(extent.formula)}"


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
    for name, peaks in ranges.peaks.items():
        pool_gap = gap(peaks)
        if pool_gap is not None:
            formula = ranges.pools[name]
            yield ", ".join([f"          {name} takes {text(formula)}", *_named(ranges, formula)])
            yield f"          {_over(ranges, pool_gap)}"


def _over(ranges: Ranges, pool_gap: Gap) -> str:
    """How far above the lower bound a pool is, on average and at worst."""
    names = [symbol.name for symbol in ranges.symbols]
    at = ", ".join(f"{name}={value}" for name, value in zip(names, pool_gap.at.values, strict=True))
    return f"over the lower bound: {pool_gap.mean:.3f} on average, {pool_gap.worst:.3f} at {at}"


def peak_picture(program: Program, measured: Mapping[str, Mapping[Sizes, int]]) -> str:
    """The picture of a program's peaks over its sizes; `measured`: pool -> bytes at sizes at which it ran."""
    ranges = program.ranges
    if ranges is None:
        raise ValueError(f"{program.name}: all its sizes are fixed")
    gaps = {pool: gap(peaks) for pool, peaks in ranges.peaks.items()}
    notes = {pool: _over(ranges, pool_gap) for pool, pool_gap in gaps.items() if pool_gap is not None}
    return sizes_picture(program.name, ranges, measured, notes)
