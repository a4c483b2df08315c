"""Names from a model file: fit for a terminal, fit for C."""

import re
from collections.abc import Iterable

from codegen.ir.c_names import is_taken

_MAX_PRINTED = 200
_MAX_IDENTIFIER = 32

_COMPUTED = re.compile(r"^([a-z]+)\d+(_\d+)?$")
"""Form of the names of computed variables (`conv0`, `slice3_1`), see `codegen.ir.operator.Op.short`."""


def uncontrolled(text: str) -> str:
    """`text` without control characters: a file must not steer a terminal."""
    return "".join(character if character.isprintable() else "?" for character in text)


def printable(text: str) -> str:
    """`text` without control characters, cut at 200 characters."""
    clean = uncontrolled(text)
    return clean if len(clean) <= _MAX_PRINTED else clean[: _MAX_PRINTED - 1] + "…"


def identifiers(names: Iterable[str], stems: Iterable[str]) -> tuple[str, ...]:
    """C and C++ identifiers for graph inputs, in order: at most 32 characters, unlike even in upper case.

    None of them can be the name of a computed variable, which is one of `stems` and numbers.
    """
    reserved_stems = frozenset(stems)
    taken: set[str] = set()
    numbers: dict[str, int] = {}
    identifiers_: list[str] = []
    for index, name in enumerate(names):
        identifier = _identifier(name, f"input{index}")
        computed = _COMPUTED.match(identifier)
        if is_taken(identifier) or (computed and computed[1] in reserved_stems):
            identifier = f"x_{identifier}"[:_MAX_IDENTIFIER]
        unique = _unique(identifier, taken, numbers)
        taken.add(unique.lower())
        identifiers_.append(unique)
    return tuple(identifiers_)


def _identifier(name: str, nameless: str) -> str:
    plain = name.removeprefix("serving_default_")
    plain = re.sub(r":\d+$", "", plain)
    scopes = [scope for scope in (_words(part) for part in plain.split("/")) if scope]
    while len(scopes) > 1 and len("_".join(scopes)) > _MAX_IDENTIFIER:
        del scopes[0]
    joined = "_".join(scopes) or nameless
    if joined[0].isdigit():
        joined = f"x_{joined}"
    return joined[:_MAX_IDENTIFIER].rstrip("_")


def _words(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")


def _unique(identifier: str, taken: set[str], numbers: dict[str, int]) -> str:
    """Make `identifier` unlike all of `taken` by a number from 2 on.

    `numbers` holds the last number of each, so that thousands of equal names take no longer than unlike ones.
    """
    candidate, number = identifier, numbers.get(identifier.lower(), 1)
    while candidate.lower() in taken:
        number += 1
        suffix = f"_{number}"
        candidate = identifier[: _MAX_IDENTIFIER - len(suffix)] + suffix
    numbers[identifier.lower()] = number
    return candidate
