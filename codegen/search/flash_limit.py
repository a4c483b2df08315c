"""A missed limit of constant pools is a constraint of the search, as one of RAM is.

Where a program's constants do not fit, other programs are made: searched again with kernels whose constants
are smaller (`smaller_constants.py`), with constants stored compressed (`compressing.py`), with both. The one
with the fewest predicted instructions is taken, RAM that it needs beyond the first program's counted at the
price that `--optimize` puts on flash. A program that fits is never looked at here, and costs nothing.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from codegen.constants.compressing import CompressionChoice, pieces_of
from codegen.constants.linking import missing_bytes
from codegen.errors import CodegenError
from codegen.ir.rules import ConstantRule
from codegen.problem.problem import Pool, limited
from codegen.problem.shortage import DoesNotFit, DoesNotLink, ProgramPrice, SmallestLimit
from codegen.program.program import Program
from codegen.search.kernels.binding import Binder, Cap, Caps
from codegen.search.kernels.costs import FLASH_WORTH
from codegen.search.kernels.smaller_constants import Smaller, Taken, program_cost
from codegen.settings import CompressMode

_MORE_SEARCHES = 5
"""Searches with kernels still smaller than before: what is chosen besides may be larger than foreseen."""

_SHARES_BELOW = (256, 64, 16)
"""Besides one byte less, a need less by these shares of it is tried.
A sum of savings is an estimate, so a larger need may find a program that a smaller one did not.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A program whose constants are not linked yet, and how they are. `finish` raises DoesNotLink."""

    program: Program
    finish: Callable[[Program, CompressMode], Program]
    number: int = 0
    """Which search found it: the first one, or one with kernels within caps."""

    def finished(self, compress: CompressMode) -> Program:
        """The program with its constants linked. Raises DoesNotLink."""
        return self.finish(self.program, compress)

    def within(self, pools: tuple[Pool, ...]) -> "Found":
        """Return a copy whose constants have other limits."""
        constants = replace(self.program.constants, candidates=pools)
        return replace(self, program=replace(self.program, constants=constants))


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """Options that decide among programs: `--optimize`, `--compress`, the user's rules for constants."""

    optimize: str
    compress: CompressMode
    rules: tuple[ConstantRule, ...]
    alone: bool
    """No other model has constants in the same pools: a limit that does for this one does."""

    @property
    def may_raise(self) -> bool:
        """True if buffers may raise peaks wherever that saves instructions."""
        return self.optimize == "speed"


def within_flash(first: Found, again: Callable[[Caps], Found], binder: Binder, asked: Asked) -> Program:
    """The program that `first` finishes to, if its constants fit, else the best that does.

    `again` searches with kernels within caps, and raises DoesNotFit or CodegenError where there is nothing
    within them and other limits; `binder` bound the kernels of `first`. Raises DoesNotLink, with the
    smallest limit that was found to do.
    """
    try:
        return first.finished("off")
    except DoesNotLink:
        return _WithinFlash(_Searches(first, again, binder, asked)).best()


class _Searches:
    """Searches with kernels within caps, each once whatever limit it is for."""

    def __init__(self, first: Found, again: Callable[[Caps], Found], binder: Binder, asked: Asked) -> None:
        self.first, self.binder, self.asked = first, binder, asked
        self._again = again
        self._known: dict[frozenset[tuple[str, Cap]], Found | None] = {}

    def within(self, caps: Caps) -> Found | None:
        """Search with kernels within `caps`, once; None if nothing is found."""
        key = frozenset(caps.items())
        if key not in self._known:
            try:
                self._known[key] = replace(self._again(caps), number=len(self._known) + 1)
            except (CodegenError, DoesNotFit):
                # Nothing was wrong with the first program: this is about these caps.
                self._known[key] = None
        return self._known[key]


class _WithinFlash:
    """Programs instead of one whose constants do not fit."""

    def __init__(self, searches: _Searches) -> None:
        self._searches = searches
        self._smallest_limits: dict[tuple[int, str], SmallestLimit | None] = {}

    def best(self) -> Program:
        """The cheapest program that fits. Raises DoesNotLink."""
        first = self._searches.first
        pools = first.program.constants.candidates
        trial = _Trial(self._searches, pools)
        cheapest = trial.cheapest()
        if cheapest is not None:
            return cheapest
        missed = trial.missed[0].shortage
        smallest = None
        if missed.smallest is not None and self._searches.asked.alone:
            smallest = self._smallest(missed.smallest.pool)
        if smallest is None:
            raise DoesNotLink(replace(missed, smallest=None))
        least, program = smallest
        if least.limit_bytes <= next(pool.limit_bytes for pool in pools if pool.name == least.pool):
            return program.within(pools).finished(self._searches.asked.compress)
        limits = self._limited(least.pool, least.limit_bytes)
        fit = _Fit(unlinked=program, program=program.within(limits).finished(self._searches.asked.compress))
        prices = self._program_price(fit), self._program_price(_Fit(unlinked=first, program=first.program))
        raise DoesNotLink(replace(missed, smallest=replace(least, prices=prices)))

    def _program_price(self, fit: "_Fit") -> ProgramPrice:
        return ProgramPrice(
            ram_bytes=sum(fit.program.memory.peaks.values()),
            instructions=fit.instructions(self._searches.binder),
        )

    def _smallest(self, pool: str) -> tuple[SmallestLimit, Found] | None:
        """The smallest limit of `pool` that a program is found for, and that: less is asked for until nothing
        is found. What the user asked for has no say in it."""
        best = self._lowest(pool, 0)
        while best is not None:
            most = best[0].limit_bytes
            less = (1, *(1 + most // share for share in _SHARES_BELOW))
            below = (self._lowest(pool, max(most - step_bytes, 0)) for step_bytes in less)
            lower = next((limit for limit in below if limit and limit[0].limit_bytes < most), None)
            if lower is None:
                return best
            best = lower
        return None

    def _lowest(self, pool: str, limit: int) -> tuple[SmallestLimit, Found] | None:
        """The smallest limit of `pool` among the programs looked at for one limit, and the program with
        it.
        """
        trial = _Trial(self._searches, self._limited(pool, limit))
        trial.cheapest()
        known = [
            (least, fit) for fit in trial.programs for least in [self._smallest_limit(fit, pool)] if least
        ]
        return min(known, key=lambda pair: pair[0].limit_bytes, default=None)

    def _smallest_limit(self, fit: Found, pool: str) -> SmallestLimit | None:
        """The smallest limit of `pool` that this program does with; None if no limit of it alone does."""
        key = fit.number, pool  # limits of constants change no step
        if key not in self._smallest_limits:
            try:
                fit.within(self._limited(pool, 0)).finished(self._searches.asked.compress)
                self._smallest_limits[key] = None
            except DoesNotLink as missed:
                self._smallest_limits[key] = missed.shortage.smallest
        return self._smallest_limits[key]

    def _limited(self, pool: str, limit: int) -> tuple[Pool, ...]:
        return limited(self._searches.first.program.constants.candidates, {pool: limit})


class _Trial:
    """Programs for one set of limits."""

    def __init__(self, searches: _Searches, pools: tuple[Pool, ...]) -> None:
        self._searches, self._asked, self._pools = searches, searches.asked, pools
        self._first = searches.first.within(pools)
        self._smaller = Smaller(self._first.program, searches.binder, self._asked.rules)
        self._need = missing_bytes(pieces_of(self._first.program), pools)
        self.missed: list[DoesNotLink] = []
        self.programs: list[Found] = [self._first]

    def cheapest(self) -> Program | None:
        """The cheapest program that fits. None if none does: then `missed` says what the first one lacks."""
        fits = [*self._compressed(self._first), *self._by_kernels()]
        if self._asked.compress == "auto":
            fits += [*self._by_both(), *self._by_rest()]
        if not fits:
            fits = [*self._with_smallest_kernels()]
        return min(fits, key=self._price).program if fits else None

    def _price(self, fit: "_Fit") -> int:
        """Instructions, and RAM beyond the first program's at the price of flash, as where kernels are
        selected."""
        raised = FLASH_WORTH[self._asked.optimize] * self._raised_bytes(fit.program)
        return fit.instructions(self._searches.binder) + raised

    def _raised_bytes(self, program: Program) -> int:
        first, peaks = self._first.program.memory.peaks, program.memory.peaks
        return sum(max(0, peak - first[pool]) for pool, peak in peaks.items())

    def _compressed(self, fit: Found) -> Iterator["_Fit"]:
        try:
            yield _Fit(unlinked=fit, program=fit.finished(self._asked.compress))
        except DoesNotLink as missed:
            self.missed.append(missed)

    def _by_kernels(self) -> Iterator["_Fit"]:
        """With smaller kernels alone."""
        need = self._need
        for _ in range(_MORE_SEARCHES):
            fit = self._searched(self._smaller.alone(need))
            if fit is None:
                return
            try:
                yield _Fit(unlinked=fit, program=fit.finished("off"))
                return
            except DoesNotLink:
                need += missing_bytes(pieces_of(fit.program), self._pools)

    def _by_both(self) -> Iterator["_Fit"]:
        """With some steps' kernels smaller and the constants of others compressed, chosen together."""
        choice = CompressionChoice(self._first.program, optimize=self._asked.optimize, may_grow=True)
        need = self._need
        for _ in range(_MORE_SEARCHES):
            taken = self._smaller.beside(choice.options(may_raise=self._asked.may_raise), need)
            if taken is None and not self._asked.may_raise:
                taken = self._smaller.beside(choice.options(may_raise=True), need)
            fit = self._searched(taken)
            if fit is None:
                return
            try:
                yield _Fit(unlinked=fit, program=fit.finished("auto"))
                return
            except DoesNotLink as missed:
                need += missed.shortage.lacking_bytes

    def _by_rest(self) -> Iterator["_Fit"]:
        """With kernels smaller by what is left over when all is compressed: of other kernels' constants other
        ones are compressible."""
        need = self.missed[0].shortage.lacking_bytes if self.missed else 0
        for _ in range(_MORE_SEARCHES if need else 0):
            taken = self._smaller.saving(need)
            fit = self._searched(taken)
            if taken is None or fit is None:
                return
            try:
                yield _Fit(unlinked=fit, program=fit.finished("auto"))
                return
            except DoesNotLink as missed:
                need = self._smaller.saved_bytes(taken) + missed.shortage.lacking_bytes

    def _with_smallest_kernels(self) -> Iterator["_Fit"]:
        """With the smallest kernels there are, and what compressing them gains; and with those only where
        that leaves fewer bytes than compressing the first program's: whatever it costs."""
        fit = self._searched(self._smaller.least())
        if fit is None:
            return
        yield from self._compressed(fit)
        if self._asked.compress == "auto":
            taken = self._smaller.lesser(self._compressed_bytes(self._first), self._compressed_bytes(fit))
            fit = self._searched(taken)
            yield from () if fit is None else self._compressed(fit)

    def _compressed_bytes(self, fit: Found) -> Mapping[str, int]:
        return CompressionChoice(fit.program, optimize=self._asked.optimize, may_grow=True).least_bytes()

    def _searched(self, taken: Taken | None) -> Found | None:
        """Search with kernels as small as those of `taken`; None if nothing is found.
        Kernels without a prediction are tried where RAM permits no other.
        """
        if not taken:
            return None
        for predicted in (True, False):
            fit = self._searches.within(self._smaller.caps(taken, predicted=predicted))
            if fit is not None:
                fit = fit.within(self._pools)
                self.programs.append(fit)
                return fit
        return None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Fit:
    """A program that fits, before and after its constants were linked."""

    unlinked: Found
    program: Program

    def instructions(self, binder: Binder) -> int:
        """Instructions of an inference, those that decode constants included."""
        copies = (copy.unpacking for copy in self.program.constants.unpacked)
        decoded = sum(unpacking.instructions for unpacking in copies if unpacking)
        return program_cost(self.unlinked.program, binder) + decoded
