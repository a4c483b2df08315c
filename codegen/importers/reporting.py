"""Collects what is wrong with a file while translation goes on."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from codegen.errors import Message
from codegen.importers.limits import MAX_MESSAGES
from codegen.ir import Let, Var
from codegen.ir.refusal import ModelRefused


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportProblem:
    """Something that is wrong, as it is said of one place, and what it has in common with others."""

    code: str
    text: str
    advice: str | None = None
    reason: str | None = None
    """Text for all places of this kind together; None: `text`, which names no single place."""
    subject: str = ""
    """The tensor that `text` names; empty: the place itself is what is wrong."""


class Refused(Exception):
    """Ends the translation of one operator; never leaves the importer."""

    def __init__(
        self, code: str, text: str, advice: str | None = None, *, reason: str | None = None, subject: str = ""
    ) -> None:
        super().__init__(text)
        self.problem = ImportProblem(code=code, text=text, advice=advice, reason=reason, subject=subject)


def whole_number(rounded: Callable[[float], int], value: float, name: str) -> int:
    """`rounded(value)` of a number from a file; raises Refused where it is not finite.

    `name`: how the message calls the number. Python's rounding raises for NaN and infinity, NumPy's
    conversion gives any integer.
    """
    if not math.isfinite(value):
        raise Refused("E303", f"{name} is {value:g}, it has to be a finite number")
    return rounded(value)


class AlreadyReported(Exception):
    """Ends the translation of one operator whose operand was reported before; never leaves the importer."""


@dataclass(kw_only=True, slots=True)
class _ReasonGroup:
    """One reason and its places, in order of discovery."""

    rank: int
    where: str
    first: ImportProblem
    places: dict[str, None] = field(default_factory=dict[str, None])

    def message(self, file_name: str) -> Message:
        """The problem at its place or, of several, what they have in common."""
        code, advice = self.first.code, self.first.advice
        if len(self.places) == 1:
            return Message(code=code, text=self.first.text, where=self.where, help=advice)
        text = f"{self.first.reason or self.first.text} ({len(self.places):,} times)"
        return Message(code=code, text=text, where=file_name, help=advice, places=tuple(self.places))


class ImportReport:
    """Problems by reason: operators that are missing, then what is wrong with others, then with tensors.

    Every place is there once; beyond a limit reasons are only counted.
    """

    def __init__(self, file_name: str) -> None:
        self._file_name = file_name
        self._groups: dict[tuple[str, str, str | None], _ReasonGroup] = {}
        self._dropped = 0
        self._reads: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self._groups) + self._dropped

    def add(
        self,
        problem: ImportProblem,
        *,
        where: str | None = None,
        missing: bool = False,
        reads: Sequence[str] = (),
    ) -> None:
        """Record a problem of the file or, with `where`, of one place; `missing`: a whole operator is.

        `reads`: the variables that the operator there reads.
        """
        self._reads = self._reads if self._groups else tuple(reads)
        key = problem.code, problem.reason or problem.text, problem.advice
        place = where or self._file_name
        if key not in self._groups:
            if len(self._groups) == MAX_MESSAGES:
                self._dropped += 1
                return
            rank = 0 if missing else 2 if problem.subject else 1
            self._groups[key] = _ReasonGroup(rank=rank, where=place, first=problem)
        self._groups[key].places[f"{place}: {problem.subject}" if problem.subject else place] = None

    @property
    def messages(self) -> tuple[Message, ...]:
        """Everything recorded, a message for each reason."""
        groups = sorted(self._groups.values(), key=lambda group: group.rank)
        messages = tuple(group.message(self._file_name) for group in groups)
        if not self._dropped:
            return messages
        text = f"and {self._dropped} more problems"
        return (*messages, Message(code="E301", where=self._file_name, text=text))

    def raise_if_any(self, params: Sequence[Var] = (), steps: Sequence[Let] = ()) -> None:
        """Raise ModelRefused with everything recorded; `params` and `steps`: what was translated."""
        if self._groups:
            raise ModelRefused(self.messages, params, steps, self._reads)
