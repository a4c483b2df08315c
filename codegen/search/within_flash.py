"""A missed limit of constant pools is a constraint of the search, as one of RAM is.

Where a program's constants do not fit, other programs are made: searched again with kernels whose constants
are smaller (`smaller.py`), with constants stored compressed (`compressing.py`), with both. The one with the
fewest predicted instructions is taken, RAM that it needs beyond the first program's counted at the price that
`--optimize` puts on flash. A program that fits is never looked at here, and costs nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from codegen.plan.assigning import missing_bytes
from codegen.plan.constant_rules import ConstantRule
from codegen.plan.problem import peak_bytes
from codegen.plan.program import Program
from codegen.plan.shortage import DoesNotFit
from codegen.search.binding import Binder, Caps
from codegen.search.compressing import Choice, CompressMode, pieces_of
from codegen.search.costs import FLASH_WORTH
from codegen.search.flash_shortage import DoesNotLink
from codegen.search.smaller import Smaller, Taken, program_cost

_MORE_SEARCHES = 5
"""Searches with kernels still smaller than before: what is chosen besides may be larger than foreseen."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A program whose constants are not linked yet, and how they are. `finished` raises DoesNotLink."""

    program: Program
    finished: Callable[[CompressMode], Program]


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What decides among programs: `--optimize`, `--compress`, the user's rules for constants."""

    optimize: str
    compress: CompressMode
    rules: tuple[ConstantRule, ...]
    alone: bool
    """No other model has constants in the same pools: a limit that does for this one does."""

    @property
    def may_raise(self) -> bool:
        """Whether buffers may raise peaks wherever that saves instructions."""
        return self.optimize == "speed"


def within_flash(first: Found, again: Callable[[Caps], Found], binder: Binder, asked: Asked) -> Program:
    """The program that `first` finishes to, if its constants fit, else the best that does.

    `again` searches with kernels within caps, and raises CodegenError where there is nothing within other
    limits; `binder` bound the kernels of `first`. Raises DoesNotLink (E402), with the smallest limit that was
    found to do.
    """
    try:
        return first.finished("off")
    except DoesNotLink:
        return _WithinFlash(first, again, binder, asked).best()


class _WithinFlash:
    """Programs instead of one whose constants do not fit."""

    def __init__(self, first: Found, again: Callable[[Caps], Found], binder: Binder, asked: Asked) -> None:
        self._first, self._again, self._binder, self._asked = first, again, binder, asked
        self._smaller = Smaller(first.program, binder, asked.rules)
        self._need = missing_bytes(pieces_of(first.program), first.program.constant_pools)
        self._missed: list[DoesNotLink] = []

    def best(self) -> Program:
        """The cheapest program that fits. Raises DoesNotLink."""
        found = [*self._compressed(self._first), *self._by_kernels()]
        if self._asked.compress == "auto":
            found += [*self._by_both(), *self._by_rest()]
        if not found:
            found = [*self._least()]
        if not found:
            raise self._complaint()
        return min(found, key=self._price)

    def _price(self, program: Program) -> int:
        """Instructions, and RAM beyond the first program's at the price of flash, as where kernels are
        selected."""
        raised = FLASH_WORTH[self._asked.optimize] * self._raised_bytes(program)
        return program_cost(program, self._binder) + raised

    def _raised_bytes(self, program: Program) -> int:
        first = self._first.program
        return sum(
            max(0, peak_bytes(program.problem, program.plan, pool.name) - peak)
            for pool in program.problem.pools
            for peak in [peak_bytes(first.problem, first.plan, pool.name)]
        )

    def _compressed(self, found: Found) -> Iterator[Program]:
        try:
            yield found.finished(self._asked.compress)
        except DoesNotLink as missed:
            self._missed.append(missed)

    def _by_kernels(self) -> Iterator[Program]:
        """With smaller kernels alone."""
        need = self._need
        for _ in range(_MORE_SEARCHES):
            found = self._searched(self._smaller.alone(need))
            if found is None:
                return
            try:
                yield found.finished("off")
                return
            except DoesNotLink:
                need += missing_bytes(pieces_of(found.program), found.program.constant_pools)

    def _by_both(self) -> Iterator[Program]:
        """With some steps' kernels smaller and the constants of others compressed, chosen together."""
        choice = Choice(self._first.program, optimize=self._asked.optimize, may_grow=True)
        need = self._need
        for _ in range(_MORE_SEARCHES):
            taken = self._smaller.beside(choice.options(may_raise=self._asked.may_raise), need)
            if taken is None and not self._asked.may_raise:
                taken = self._smaller.beside(choice.options(may_raise=True), need)
            found = self._searched(taken)
            if found is None:
                return
            try:
                yield found.finished("auto")
                return
            except DoesNotLink as missed:
                need += missed.lacking_bytes

    def _by_rest(self) -> Iterator[Program]:
        """With kernels smaller by what is left over when all is compressed: of other kernels' constants other
        ones are compressible."""
        need = self._missed[0].lacking_bytes if self._missed else 0
        for _ in range(_MORE_SEARCHES if need else 0):
            taken = self._smaller.saving(need)
            found = self._searched(taken)
            if taken is None or found is None:
                return
            try:
                yield found.finished("auto")
                return
            except DoesNotLink as missed:
                need = self._smaller.saved_bytes(taken) + missed.lacking_bytes

    def _least(self) -> Iterator[Program]:
        """With the smallest kernels there are, and what compressing them gains: whatever it costs."""
        found = self._searched(self._smaller.least())
        if found is not None:
            yield from self._compressed(found)

    def _searched(self, taken: Taken | None) -> Found | None:
        """What is found with kernels as small as `taken` has them; None if nothing is. Slow ones are looked
        for where RAM permits no other."""
        if not taken:
            return None
        for predicted in (True, False):
            found = self._within(self._smaller.caps(taken, predicted=predicted))
            if found is not None:
                return found
        return None

    def _within(self, caps: Caps) -> Found | None:
        try:
            return self._again(caps)
        except DoesNotFit:
            return None

    def _complaint(self) -> DoesNotLink:
        """What the first program lacks, and the smallest limit that any program that does not depend on the
        limit would do with."""
        known = [missed.least for missed in self._missed if missed.least and self._asked.alone]
        least = min(known, key=lambda each: each.limit_bytes, default=None)
        return self._missed[0].with_least(least)
