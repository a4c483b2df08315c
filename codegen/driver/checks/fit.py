"""Messages for a model that does not fit: the one place that turns shortages into sentences.

Constants may fit their memory but not beside the code, whose size only the linker knows.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from codegen.errors import CodegenError, Message, in_bytes
from codegen.ir import Board
from codegen.problem.shortage import (
    ConstantShortage,
    DoesNotFit,
    DoesNotLink,
    FlashShortage,
    Shortage,
    SmallestLimit,
)
from codegen.program.program import Bundle

if TYPE_CHECKING:
    from codegen.toolchain import RegionsTooSmall

_ADVICE = "a board with more read-only memory, or a smaller model"
"""Help of a message about constants that do not fit, whatever the search has tried."""


class PoolsTooSmall(CodegenError):
    """E401: no plan found within the pools' limits. `shortages` has the figures, one a pool."""

    def __init__(self, shortages: Sequence[Shortage]) -> None:
        self.shortages = tuple(shortages)
        advice = _advice(self.shortages)
        super().__init__([_message(item, advice, alone=len(shortages) == 1) for item in self.shortages])

    @property
    def figures(self) -> Mapping[str, object]:
        """The shortages, as JSON has them."""
        return {"shortages": [_shortage(item) for item in self.shortages]}


def _shortage(item: Shortage) -> dict[str, object]:
    """The figures of an E401."""
    return {
        "pool": item.pool.name,
        "limit_bytes": item.pool.limit_bytes,
        "needed_bytes": item.needed_bytes,
        "missing_bytes": item.missing_bytes,
        "lower_bound_bytes": item.bound_bytes,
        "smallest_budget_bytes": item.budget_bytes,
        "models": [{"name": name, "smallest_bytes": size} for name, size in item.models],
        "peak_step": item.step,
        "alive": [
            {"name": buffer.id, "size_bytes": buffer.size_bytes, "kind": buffer.kind.value}
            for buffer in item.alive
        ],
    }


class ConstantsTooLarge(CodegenError):
    """E402: linked constants exceed the limits of their pools."""

    def __init__(self, missed: FlashShortage) -> None:
        super().__init__([_constants(item, missed) for item in missed.shares])


@contextmanager
def telling() -> Generator[None]:
    """Turn shortages that arise inside into errors for users: PoolsTooSmall, ConstantsTooLarge."""
    try:
        yield
    except DoesNotFit as missed:
        raise PoolsTooSmall(missed.shortages) from missed
    except DoesNotLink as missed:
        raise ConstantsTooLarge(missed.shortage) from missed


def _advice(shortages: Sequence[Shortage]) -> str:
    """Flags that together make the model fit; empty if one limit is unknown or exceeds its region."""
    flags: list[str] = []
    for item in shortages:
        if item.budget_bytes is None or not _is_granted(item):
            return ""
        flags.append(f"--pool {item.pool.name}={item.budget_bytes}")
    return f"{' '.join(flags)}, " if flags else ""


def _is_granted(item: Shortage) -> bool:
    return item.pool.room_bytes is None or (item.budget_bytes or 0) <= item.pool.room_bytes


def _message(item: Shortage, advice: str, *, alone: bool) -> Message:
    return (_of_models if len(item.models) > 1 else _of_one)(item, advice, alone=alone)


def _of_models(item: Shortage, advice: str, *, alone: bool) -> Message:
    """Concurrent models: the smallest plans that were found of each, together."""
    lines = [
        f"lacks {in_bytes(item.missing_bytes)} for models that are concurrent: together they need "
        f"{in_bytes(item.needed_bytes)}, the limit is {item.pool.limit_bytes}",
        *(f"    {in_bytes(size, 9)}  {name}" for name, size in item.models),
        *_budget(item, "limit", alone=alone),
    ]
    help_ = "models that take turns (leave one out of --concurrent), a board with more bytes, smaller models"
    where = f"pool {item.pool.name}, {' and '.join(name for name, _ in item.models)}"
    return Message(code="E401", where=where, text="\n".join(lines), help=f"try {advice}{help_}")


def _of_one(item: Shortage, advice: str, *, alone: bool) -> Message:
    moment = f"time {item.time}" if item.step is None else f"step {item.step}"
    lines = [
        f"lacks {in_bytes(item.missing_bytes)}: the best plan found needs {in_bytes(item.needed_bytes)}, "
        f"the limit is {item.pool.limit_bytes}",
        f"  most is alive at {moment}:",
        *(f"    {in_bytes(b.size_bytes, 9)}  {b.id} ({b.kind.value})" for b in item.alive),
    ]
    if item.bound_bytes > item.pool.limit_bytes:
        lines.append(f"  these buffers need at least {in_bytes(item.bound_bytes)} in any plan")
    if item.whole is not None:
        name, size_bytes = item.whole
        lines.append(f"  no plan can fit: the {name} alone take {in_bytes(size_bytes)}")
    lines += _budget(item, "budget", alone=alone)
    lines += [f"  {item.sizes}"] if item.sizes else []
    help_ = "a board or a --pool limit with more bytes, a smaller model"
    if item.budget_bytes is not None:
        help_ = "a board with that many bytes, a smaller model"
    if item.bound_bytes <= item.pool.limit_bytes:
        advice = f"another --planner, {advice}"
    if item.whole is not None:
        help_ += ", --io caller (the application's bytes hold inputs and outputs)"
    where = f"pool {item.pool.name}" + "".join(f", {name}" for name, _ in item.models)
    return Message(code="E401", where=where, text="\n".join(lines), help=f"try {advice}{help_}")


def _budget(item: Shortage, word: str, *, alone: bool) -> list[str]:
    """Lines about the smallest limit for which a plan is known. Not `alone`: other messages name other
    limits."""
    if item.budget_bytes is None:
        return []
    plans = "plans of all models were" if item.is_budget_for_all else "a plan was"
    beside = "" if alone else ", with those of the other pools"
    lines = [f"  the smallest {word} for which {plans} found is {in_bytes(item.budget_bytes)}{beside}"]
    return lines if _is_granted(item) else [*lines, f"  this board has {item.pool.room_bytes}"]


def _constants(item: ConstantShortage, missed: FlashShortage) -> Message:
    missing = item.missing_bytes
    short = f"lacks {in_bytes(missing)}" if missing > 0 else "its pieces do not fit side by side"
    names = ", ".join(f"{name} {size}" for name, size in item.biggest)
    limits = " + ".join(str(limit) for limit in item.limits_bytes)
    text = f"{short}: constants need {in_bytes(item.needed_bytes)}, the limit is {limits}; "
    lines = [f"{text}the biggest are {names}"]
    help_ = f"try {_ADVICE}"
    if missed.smallest is not None:
        lines += _smallest(missed.smallest)
        if _has_room(missed.smallest):
            help_ = f"try --pool {missed.smallest.pool}={missed.smallest.limit_bytes}, {_ADVICE}"
    if missed.excluded:
        help_ += f"; constants are not compressed with {missed.excluded}"
    where = f"constant pool {', '.join(item.pools)}"
    if missed.model is not None:
        where = f"{missed.model}: {where}"
    return Message(code="E402", where=where, text="\n".join(lines), help=help_)


def _smallest(smallest: SmallestLimit) -> list[str]:
    lines = [f"  the smallest limit for which a plan was found is {smallest.limit_bytes} bytes"]
    if not _has_room(smallest):
        lines.append(f"  there is room for {smallest.room_bytes}")
    if smallest.prices is not None:
        limited, unlimited = smallest.prices
        lines.append(
            f"  that plan takes {limited.ram_bytes:,} bytes of RAM and about {limited.instructions:,} "
            f"instructions, the one without the limit {unlimited.ram_bytes:,} and {unlimited.instructions:,}"
        )
    return lines + [f"  {size} bytes are not compressed: {why}" for why, size in smallest.kept.items()]


def _has_room(smallest: SmallestLimit) -> bool:
    return smallest.room_bytes is None or smallest.limit_bytes <= smallest.room_bytes


_MORE_LINKS = 3
"""With constants as small as the link before asked for; what decodes them is code as well."""

_Built = TypeVar("_Built")


class LinkedTooLarge(CodegenError):
    """E410 of the firmware of `bundle`."""

    def __init__(self, missed: "RegionsTooSmall", bundle: Bundle) -> None:
        super().__init__(missed.messages)
        self.lacking, self.bundle = missed.lacking, bundle


def beside_code(build: Callable[[Mapping[str, int]], _Built], board: Board) -> _Built:
    """Call `build`, if need be again with constants limited to the bytes that the code leaves them.

    `build` takes limits in bytes by pool. Raises CodegenError as `build` does; if constants cannot shrink
    enough, the linker's message comes first.
    """
    try:
        return build({})
    except LinkedTooLarge as missed:
        first = missed
    limits = _limits(first, board)
    for _ in range(_MORE_LINKS):
        if any(limit <= 0 for limit in limits.values()) or not limits:
            break
        try:
            with telling():
                return build(limits)
        except LinkedTooLarge as missed:
            # Decoding needs code too.
            limits = _limits(missed, board)
        except CodegenError as missed:
            raise CodegenError((*first.messages, *missed.messages)) from None
    raise first


def _limits(missed: LinkedTooLarge, board: Board) -> dict[str, int]:
    """Bytes that the constants of the code region may take, if nothing else lacks any."""
    region = board.region(board.code_region)
    if set(missed.lacking) != {region.name} or region.writable:
        return {}
    sizes = {pool.name: pool.size_bytes for pool in missed.bundle.constants if pool.region == region.name}
    return {name: size - missed.lacking[region.name] for name, size in sizes.items()}
