"""The search of a model whose sizes are ranges: one program for all, and the largest size that fits."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from codegen.constants.copying import misses_start_up
from codegen.errors import CodegenError, Message
from codegen.ir import Board, Module
from codegen.ir.formulas import Symbol
from codegen.ir.ranged import Unlike
from codegen.plan.place import planners
from codegen.problem.shortage import DoesNotFit
from codegen.program.program import Program
from codegen.program.size_ranges import OpenEnd
from codegen.progress import Progress
from codegen.search.choices import Choices
from codegen.search.kernels.cycle_costs import CycleCosts
from codegen.search.ranges.members import Members
from codegen.search.ranges.narrowing import looked_at
from codegen.search.ranges.ranged import ranged, turning
from codegen.search.ranges.sizes import KernelUnlike, LookedAt, Sizes
from codegen.search.search import check, search


def _among_calls(choices: Choices) -> Choices:
    """A call of other sizes is another one in the model's pools: copies at start-up would not outlast it. The
    first rows of bands are no formulas."""
    return replace(choices, alone=False, patches=False)


def search_sizes(
    module: Module, board: Board, choices: Choices, sizes: Sizes, *, name: str, progress: Progress
) -> Program:
    """The program of a model for all its sizes; `module` is it at the largest.

    Raises CodegenError as `search` does, E308 where the model's structure depends on its sizes.
    """
    asked, choices = choices, _among_calls(choices)
    excluded: frozenset[tuple[str, str]] = frozenset()
    sizes, looked = looked_at(name, sizes, progress)
    while True:
        try:
            program = search(module, board, choices, name=name, excluded=excluded)
        except DoesNotFit as missed:
            raise missed.with_sizes(_fitting(sizes, board, choices, name, progress)) from missed
        try:
            return _told(_ranged(program, sizes, looked, choices, progress), asked)
        except Unlike as unlike:
            if isinstance(unlike, KernelUnlike) and unlike.kernel not in excluded:
                excluded |= {unlike.kernel}
                continue
            if choices.blocks:  # What goes row by row at the largest sizes may not at all of them.
                choices, excluded = replace(choices, blocks=False), frozenset()
                continue
            said = ", ".join(str(symbol) for symbol in sizes.symbols)
            help_ = (
                "give a narrower range, leave channels in (--no-reduce), or build the model at fixed sizes"
            )
            raise CodegenError(Message(code="E308", where=said, text=str(unlike), help=help_)) from unlike


def _ranged(
    program: Program,
    sizes: Sizes,
    looked: LookedAt,
    choices: Choices,
    progress: Progress,
) -> Program:
    """`program` for all its sizes, looked at wherever its formulas turn. Raises Unlike as `ranged` does."""
    planner, made = planners.find(choices.planner), Members(program, _costs(program, choices))

    def check_members(programs: Sequence[Program]) -> None:
        for index, member in enumerate(programs):
            progress(f"check {program.name} at its sizes", index, len(programs))
            check(member)

    while True:
        for_all = ranged(program, sizes, looked, made, planner, check_members)
        wider = turning(program.name, sizes, looked, for_all.ranges, progress)
        if wider is None:
            return for_all
        looked = wider


def _costs(program: Program, choices: Choices) -> CycleCosts | None:
    """Prices of cycles, with constants where `program` has them; None without a memory model."""
    if choices.memory is None:
        return None
    costs = CycleCosts(core=program.board.target.cpu, memory=choices.memory, is_staged=True)
    return replace(costs, is_staged=False) if costs.linked_waits(program) else costs


def _told(program: Program, asked: Choices) -> Program:
    """`program`, which says whether it goes without copies at start-up that were `asked` for."""
    if not asked.alone or asked.stage != "auto" or program.ranges is None:
        return program
    missed = misses_start_up(program, may_raise=asked.optimize == "speed")
    return replace(program, ranges=replace(program.ranges, misses_start_up=missed))


def _fitting(sizes: Sizes, board: Board, choices: Choices, name: str, progress: Progress) -> str:
    """Which sizes do fit, where the largest do not, in words; of the last symbol, the others at theirs."""
    symbol = sizes.symbols[-1]
    others = "".join(f", {other.name}={other.high}" for other in sizes.symbols[:-1])
    try:
        end = largest_size(sizes, symbol, board, choices, name=name, progress=progress)
    except (DoesNotFit, CodegenError):
        return f"no size fits, not even {symbol.name}={symbol.low}{others}"
    return f"sizes up to {symbol.name}={end.high}{others} fit: --dim {symbol.name}={symbol.low}..{end.high}"


def largest_size(
    sizes: Sizes, symbol: Symbol, board: Board, choices: Choices, *, name: str, progress: Progress
) -> OpenEnd:
    """The largest value of `symbol` that fits, below its upper end, the other symbols at theirs.

    Bisection: what needs more bytes at a larger size fits up to one size and not beyond. It begins at the
    first size that no operator forbids. Raises DoesNotFit or CodegenError for the lower end, as `search`
    does, E281 where the upper end fits: then nothing says where the range ends.
    """
    choices = _among_calls(choices)

    def lacking(value: int) -> DoesNotFit | CodegenError | None:
        """Why a size is none: what it lacks, or why nothing imports it; None where it fits."""
        progress(f"largest {symbol.name} of {name}: {value}")
        values: Mapping[str, int] = {**sizes.largest, symbol.name: value}
        try:
            search(sizes.module(values), board, choices, name=name)
        except (DoesNotFit, CodegenError) as error:
            return error
        return None

    low = high = _lowest(sizes, symbol)
    over = lacking(low)
    if over is not None:
        raise over
    while over is None and high < symbol.high:
        low, high = high, min(2 * high, symbol.high)
        over = lacking(high)
    if over is None:
        raise CodegenError(_unbounded(symbol, board, choices))
    while high - low > 1:
        middle = (low + high) // 2
        lack = lacking(middle)
        if lack is None:
            low = middle
        else:
            high, over = middle, lack
    if isinstance(over, CodegenError):
        return OpenEnd(symbol=symbol.name, high=low, refused=str(over).splitlines()[0])
    [short, *_] = over.shortages
    return OpenEnd(
        symbol=symbol.name,
        high=low,
        pool=short.pool.name,
        limit_bytes=short.pool.limit_bytes,
        bound_bytes=short.bound_bytes,
        needed_bytes=short.needed_bytes,
    )


def _unbounded(symbol: Symbol, board: Board, choices: Choices) -> Message:
    """Error for an open range that no limit ends."""
    roomy = ", ".join(pool.name for pool in choices.pools(board) if pool.limit_bytes)
    return Message(
        code="E281",
        where=f"--dim {symbol.name}={symbol.low}..",
        text=f"nothing ends this range: {symbol.name}={symbol.high} fits in what is left of {roomy}",
        help=f"give its upper end (--dim {symbol.name}={symbol.low}..100), or a limit to each of these "
        "pools: buffers go where there is room (--pool NAME=BYTES, 0 for none)",
    )


def _lowest(sizes: Sizes, symbol: Symbol) -> int:
    """The first value of `symbol` that operators permit, by doubling, then halving; its lower end where they
    permit none that is tried."""

    def is_possible(value: int) -> bool:
        try:
            sizes.reference({**sizes.largest, symbol.name: value})
        except CodegenError:
            return False
        return True

    below, possible = symbol.low - 1, symbol.low
    while not is_possible(possible):
        if possible >= symbol.high:
            return symbol.low
        below, possible = possible, min(2 * possible, symbol.high)
    while possible - below > 1:
        middle = (below + possible) // 2
        below, possible = (below, middle) if is_possible(middle) else (middle, possible)
    return possible
