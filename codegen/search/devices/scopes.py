"""Which memory each value may lie in: constraints as plain values, solved with the fewest copies.

Values that share bytes are tied and share one home, a set of pools: what everybody who is bound to the value
itself agrees on. A use that wants its value elsewhere does not restrict the home but may choose among its
pools; where no pool of the home suits a use, a copy serves it. The number of copies is the least there is.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

Scopes = frozenset[str]
"""Names of pools, and `CALLER`."""

CALLER = "the caller's memory"
"""Stands for memory that is not the plan's: of what `--io caller` or a streamed input leave to the caller."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """`value` itself has to lie in one of `scopes`; `who` says that, in a sentence for people."""

    value: str
    scopes: Scopes
    who: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Tie:
    """`value` and `other` lie in the same bytes, because `how` (a sentence)."""

    value: str
    other: str
    how: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Use:
    """Argument `argument` of step `step` reads `value`, and wants its bytes in one of `scopes`."""

    step: int
    argument: int
    value: str
    scopes: Scopes


@dataclass(frozen=True, kw_only=True, slots=True)
class Clash:
    """Claims that no pool meets: they meet at `value`, and `chain` says step by step how they get there."""

    value: str
    chain: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Copy:
    """`content` is needed in one of `scopes` too, by `uses`."""

    content: str
    scopes: Scopes
    uses: tuple[Use, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Solution:
    """Home of every value; copies, those of one content in the order of their first use."""

    homes: Mapping[str, Scopes]
    copies: tuple[Copy, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "homes", MappingProxyType(dict(self.homes)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Scoping:
    """All there is to decide.

    `pools`: where a value may lie if nobody claims anything, best first; those of `givable`, and what is tied
    to them, may also be the caller's. `contents`: value -> the value whose bytes it reads under another type
    (itself, if it is no view); a copy of that serves uses of either. What views another value is tied to it.
    """

    values: tuple[str, ...]
    pools: tuple[str, ...]
    givable: frozenset[str]
    contents: Mapping[str, str]
    ties: tuple[Tie, ...]
    claims: tuple[Claim, ...]
    uses: tuple[Use, ...]


def solve(scoping: Scoping) -> Solution | tuple[Clash, ...]:
    """Homes and the fewest copies; or every clash, if there is one."""
    groups = _groups(scoping)
    clashes = [clash for group in groups for clash in _clashes(scoping, group)]
    if clashes:
        return tuple(clashes)
    homes: dict[str, Scopes] = {}
    copies: list[Copy] = []
    for group in groups:
        home, needed = _assigned_scopes(scoping, group)
        homes |= dict.fromkeys(group, home)
        copies += needed
    order = {content: index for index, content in enumerate(scoping.values)}
    copies.sort(key=lambda copy: (order[copy.content], copy.uses[0].step, copy.uses[0].argument))
    return Solution(homes=homes, copies=tuple(copies))


def _groups(scoping: Scoping) -> list[list[str]]:
    """Values by ties, both in order."""
    leader = {value: value for value in scoping.values}

    def find(value: str) -> str:
        while leader[value] != value:
            value = leader[value]
        return value

    for tie in scoping.ties:
        leader[find(tie.value)] = find(tie.other)
    groups: dict[str, list[str]] = {}
    for value in scoping.values:
        groups.setdefault(find(value), []).append(value)
    return list(groups.values())


# ---- clashes ----------------------------------------------------------------------------


def _agreed(scoping: Scoping, group: Sequence[str], claims: Sequence[Claim]) -> Scopes:
    """Scopes in which all claims let the group lie; without claims those that its values allow."""
    agreed: Scopes | None = None
    for claim in claims:
        agreed = claim.scopes if agreed is None else agreed & claim.scopes
    if agreed is not None:
        return agreed
    return frozenset(_free(scoping, group))


def _free(scoping: Scoping, group: Sequence[str]) -> tuple[str, ...]:
    """Scopes in which a group may lie if nobody claims anything, best first."""
    return scoping.pools if scoping.givable.isdisjoint(group) else (CALLER, *scoping.pools)


def _clashes(scoping: Scoping, group: Sequence[str]) -> Iterator[Clash]:
    """Sets of claims, each as small as can be, that contradict each other; what is left when one claim of
    each is put aside does not."""
    members = set(group)
    claims = [claim for claim in scoping.claims if claim.value in members]
    while not _agreed(scoping, group, claims):
        against = claims
        for claim in claims:
            fewer = [other for other in against if other is not claim]
            if not _agreed(scoping, group, fewer):
                against = fewer
        yield Clash(value=against[-1].value, chain=tuple(_chain(scoping, against)))
        claims = [claim for claim in claims if claim is not against[-1]]


def _chain(scoping: Scoping, claims: Sequence[Claim]) -> Iterator[str]:
    """The claims, and between each two of them the ties that lead from one value to the other."""
    for index, claim in enumerate(claims):
        if index:
            yield from _path(scoping.ties, claims[index - 1].value, claim.value)
        yield claim.who


def _path(ties: Sequence[Tie], start: str, stop: str) -> list[str]:
    """The fewest ties from one value to another, as sentences."""
    reached: dict[str, list[str]] = {start: []}
    front = [start]
    while stop not in reached:
        behind: list[str] = []
        for value in front:
            for tie in ties:
                for here, there in ((tie.value, tie.other), (tie.other, tie.value)):
                    if here == value and there not in reached:
                        reached[there] = [*reached[value], tie.how]
                        behind.append(there)
        front = behind
    return reached[stop]


# ---- homes and copies -------------------------------------------------------------------


def _assigned_scopes(scoping: Scoping, group: Sequence[str]) -> tuple[Scopes, list[Copy]]:
    """The home that needs the fewest copies, the earliest pool among equals, as many pools as that leaves."""
    members = set(group)
    claims = [claim for claim in scoping.claims if claim.value in members]
    uses = [use for use in scoping.uses if use.value in members]
    agreed = _agreed(scoping, group, claims)
    order = _free(scoping, group)
    ranked = [*(pool for pool in order if pool in agreed), *sorted(agreed - set(order))]
    home, copies = agreed, list[Copy]()
    for rank, pool in enumerate(ranked):
        needed = _copies(scoping, [use for use in uses if pool not in use.scopes])
        if rank and len(needed) >= len(copies):
            continue
        served = [use.scopes for use in uses if pool in use.scopes]
        home, copies = frozenset[str].intersection(agreed, *served), needed
    return home, copies


def _copies(scoping: Scoping, uses: Sequence[Use]) -> list[Copy]:
    """The fewest copies that serve these uses."""
    contents: dict[str, list[Use]] = {}
    for use in uses:
        contents.setdefault(scoping.contents[use.value], []).append(use)
    copies: list[Copy] = []
    for content, reading in contents.items():
        served: dict[str, list[Use]] = {}
        chosen = _fewest([use.scopes for use in reading])
        for use in reading:
            served.setdefault(next(pool for pool in chosen if pool in use.scopes), []).append(use)
        for those in served.values():
            scopes = frozenset[str].intersection(*(use.scopes for use in those))
            copies.append(Copy(content=content, scopes=scopes, uses=tuple(those)))
    return copies


def _fewest(scope_sets: Sequence[Scopes]) -> tuple[str, ...]:
    """The fewest pools of which every set has one, the first of these in the pools' order of mention."""
    pools = list(dict.fromkeys(pool for scopes in scope_sets for pool in sorted(scopes)))
    for count in range(1, len(pools)):
        for chosen in combinations(pools, count):
            if all(not scopes.isdisjoint(chosen) for scopes in scope_sets):
                return chosen
    return tuple(pools)
