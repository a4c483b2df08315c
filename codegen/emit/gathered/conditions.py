"""Arms of `#ifdef` that hold, where the macros are known that a source defines."""

import re
from collections.abc import Iterable, Set

DEFINE = re.compile(r"\s*#\s*define\s+(\w+)[ \t]*(.*)")
_CONDITION = re.compile(r"\s*#\s*(?:el)?if(n?def\s+|\s+defined\()(\w+)\)?\s*$")


def decided(text: str, decidable: Set[str], known: Iterable[str] = ()) -> str:
    """The text without the arms that do not hold of conditions on macros in `decidable`; others stay.

    A macro is defined if it is `known`, or from its `#define` in the text on.
    """
    lines: list[str] = []
    open_: list[tuple[bool, bool] | None] = []  # holds, and whether an arm held; None for one that stays
    defined = set(known)
    for line in text.splitlines():
        word = line.strip()
        condition = _CONDITION.match(line)
        holds = bool(condition) and (condition[2] in defined) != condition[1].startswith("n")
        if word.startswith("#if"):
            open_.append((holds, holds) if condition and condition[2] in decidable else None)
        elif word.startswith("#el") and open_[-1]:
            held = open_[-1][1]
            holds = not held and (holds or word.startswith("#else"))
            open_[-1] = (holds, held or holds)
        elif word.startswith("#endif") and open_.pop():
            continue
        if not (word.startswith(("#if", "#el")) and open_[-1]) and all(
            arm is None or arm[0] for arm in open_
        ):
            define = DEFINE.match(line)
            defined |= {define[1]} if define else set()
            lines.append(line)
    return "\n".join(lines)
