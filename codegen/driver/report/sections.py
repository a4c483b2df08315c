"""Sections of a report: copies between memories, what the reduction took out, the second core."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from codegen.errors import counted
from codegen.ir import Var
from codegen.ir.ops import DEVICE_COPY
from codegen.passes import Reduction, Removal
from codegen.passes.sliding import Sliding
from codegen.program.program import Program, second_core_steps

_SHARES = (
    (0.95, "Nearly all"),
    (0.7, "About three quarters"),
    (0.6, "About two thirds"),
    (0.42, "About half"),
    (0.29, "About a third"),
)
"""Least share, and what it is called at the beginning of a sentence."""
_REASONS = (
    ("zero_weights", "all weights zero"),
    ("constant_input", "constant inputs"),
    ("stuck_at_clamp", "at one limit of the activation"),
    ("unread", "never read"),
)
_MOST_LAYERS = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryCopy:
    """Step `step`, a DEVICE_COPY of `size_bytes` of `value`. None as a pool: the caller's memory."""

    step: int
    value: str
    source: str | None
    target: str | None
    size_bytes: int


def memory_copies(program: Program) -> tuple[MemoryCopy, ...]:
    """Every copy of one inference, in order."""
    return tuple(_copies(program))


def _copies(program: Program) -> Iterator[MemoryCopy]:
    for step, prim in enumerate(program.steps.prim_funcs):
        source = prim.let.call.args[0] if prim.let.call.op is DEVICE_COPY else None
        if isinstance(source, Var):
            yield MemoryCopy(
                step=step,
                value=source.name,
                source=_pool(program, source.name),
                target=_pool(program, prim.let.var.name),
                size_bytes=source.type.size_bytes,
            )


def _pool(program: Program, value: str) -> str | None:
    part = program.memory.slices.get(value)
    return None if part is None else program.memory.plan.placements[part.buffer].pool


def copies_report(program: Program) -> dict[str, object]:
    """The `device_copies` object of report.json."""
    copies = memory_copies(program)
    return {
        "total_bytes": sum(copy.size_bytes for copy in copies),
        "steps": [
            {
                "step": copy.step,
                "value": copy.value,
                "from": copy.source,
                "to": copy.target,
                "bytes": copy.size_bytes,
            }
            for copy in copies
        ],
    }


def copies_line(program: Program) -> str | None:
    """One line about what is copied; None if nothing is."""
    copies = memory_copies(program)
    if not copies:
        return None
    listed = ", ".join(
        f"{copy.value} {copy.source or 'caller'} to {copy.target or 'caller'} {copy.size_bytes:,}"
        for copy in copies
    )
    total = sum(copy.size_bytes for copy in copies)
    return f"copies    {total:,} bytes an inference between memories: {listed}"


def reduction_report(reduction: Reduction | None) -> dict[str, object] | None:
    """The `reduction` object of report.json; None if it was turned off."""
    if reduction is None:
        return None
    return {
        "macs_before": reduction.before.macs,
        "macs_after": reduction.after.macs,
        "weight_bytes_before": reduction.before.weight_bytes,
        "weight_bytes_after": reduction.after.weight_bytes,
        "channels_removed": removed_channels(reduction),
        "share_removed": round(removed_share(reduction), 4),
        "steps": [asdict(removal) for removal in reduction.removed],
    }


def reduction_line(reduction: Reduction | None) -> str | None:
    """One line about what is left; None if nothing was taken out."""
    if reduction is None or not reduction.removed:
        return None
    return (
        f"reduced   to {reduction.after.macs:,} of {reduction.before.macs:,} multiply-accumulates, "
        f"{reduction.after.weight_bytes:,} of {reduction.before.weight_bytes:,} weight bytes "
        f"({removed_channels(reduction):,} channels constant or unread)"
    )


def window_report(sliding: Sliding | None) -> dict[str, object] | None:
    """The `window` object of report.json; None without `--window`."""
    if sliding is None:
        return None
    return {
        "input": sliding.window.name,
        "axis": sliding.window.axis,
        "rows": sliding.window.rows,
        "step": sliding.window.step,
        "ready_calls": sliding.calls,
        "macs_whole": sliding.macs_whole,
        "macs": sliding.macs,
        "state_bytes": sliding.state_bytes,
        "trades": [{"state_bytes": size, "work": round(work, 4)} for size, work in sliding.trades],
        "computed_whole": [asdict(stop) for stop in sliding.stops],
    }


_FEW_TRADES = 4
"""So many ways with less state are printed, or one more; report.json has all."""


def window_lines(sliding: Sliding | None) -> list[str]:
    """Lines on work that a sliding window saves, its state, and steps that are computed whole."""
    if sliding is None:
        return []
    window = sliding.window
    share = sliding.macs / sliding.macs_whole if sliding.macs_whole else 1.0
    lines = [
        f"window    {window.name}: {counted(window.step, 'new row')} of {window.rows} along axis "
        f"{window.axis} a call, {sliding.macs:,} of {sliding.macs_whole:,} multiply-accumulates "
        f"({100 * share:.1f} %), {sliding.state_bytes:,} bytes of state; right from call {sliding.calls} on"
    ]
    smaller = [
        f"{size:,} bytes {100 * work:.0f} %" for size, work in sliding.trades if size < sliding.state_bytes
    ]
    if smaller:
        some = smaller[:-1][:: -(-len(smaller) // _FEW_TRADES)]
        lines.append(f"          with less state: {', '.join([*some, smaller[-1]])} of the work")
    if sliding.keeps_nothing:
        lines.append("          no layer's rows can be kept: only the input's are")
    lines += [f"          whole: {stop.where}, {stop.reason} ({stop.macs:,})" for stop in sliding.stops]
    return lines


def removed_channels(reduction: Reduction) -> int:
    """Channels that were left out, of all steps."""
    return sum(map(_lost, reduction.removed))


def removed_share(reduction: Reduction) -> float:
    """The part of the multiply-accumulates that was left out, 0 to 1."""
    before, after = reduction.before.macs, reduction.after.macs
    return (before - after) / before if before else 0.0


def reduction_news(reduction: Reduction | None) -> str | None:
    """A sentence about a network of which a third or more computes constants; None for any other."""
    if reduction is None:
        return None
    share = removed_share(reduction)
    words = next((words for least, words in _SHARES if share >= least), None)
    if words is None:
        return None
    channels = counted(removed_channels(reduction), "channel")
    steps = counted(len(reduction.removed), "step")
    return (
        f"{words} of this network computes constants: {channels} of {steps}\n"
        "are the same for every input, or nothing reads them. They are left out, results stay\n"
        f"equal: {reduction.after.macs:,} of {reduction.before.macs:,} multiply-accumulates remain. "
        "Training or\n"
        "quantisation left them dead: a smaller network may do. --no-reduce keeps them."
    )


def reduction_rows(reduction: Reduction) -> Iterator[list[str]]:
    """The layers that lost most channels, in their order: name, channels, those left, why; then the rest."""
    most = sorted(reduction.removed, key=_lost, reverse=True)[:_MOST_LAYERS]
    for removal in reduction.removed:
        if removal in most:
            yield [
                removal.name,
                f"{removal.channels_before:,}",
                f"{removal.channels_after:,}",
                ", ".join(
                    f"{count:,} {words}" for name, words in _REASONS if (count := getattr(removal, name))
                ),
            ]
    others = [removal for removal in reduction.removed if removal not in most]
    if others:
        before, after = (
            sum(removal.channels_before for removal in others),
            sum(removal.channels_after for removal in others),
        )
        yield [f"{counted(len(others), 'more step')}", f"{before:,}", f"{after:,}", "report.json: reduction"]


def _lost(removal: Removal) -> int:
    return removal.channels_before - removal.channels_after


def core1_line(program: Program) -> str | None:
    """One line naming the steps that core 1 runs, by the numbers and names of the memory map; None if it runs
    none."""
    steps = second_core_steps(program)
    if not steps:
        return None
    named = ", ".join(f"{step} {program.steps.prim_funcs[step].name}" for step in steps)
    return f"core 1    {len(steps)} of {counted(len(program.steps.prim_funcs), 'step')}: {named}"
