"""Operators that are one of a family: by operator and type, how to draw a model. `EACH` of every kind.

In: dice. Out: `Drawn`. Start with `rearranged`, whose operators only move elements.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tests.opgen.dice import Dice
from tests.opgen.families import (
    compressed,
    control,
    conversions,
    detection,
    folded,
    functions,
    more,
    moved,
    others,
    pairwise,
    rearranged,
    reduced,
    resized,
    signal,
    unsigned,
    weights,
)
from tests.opgen.sketch import Drawn

EACH = 25
"""Models of an operator and type."""

_Draws = Mapping[str, Callable[[Dice], Drawn]]


def _joined(*families: Mapping[str, _Draws]) -> Mapping[str, _Draws]:
    names = dict.fromkeys(name for family in families for name in family)
    return {
        name: {label: draw for family in families for label, draw in family.get(name, {}).items()}
        for name in names
    }


FAMILIES: Mapping[str, _Draws] = MappingProxyType(
    _joined(
        rearranged.DRAWN,
        moved.DRAWN,
        more.DRAWN,
        pairwise.DRAWN,
        functions.DRAWN,
        reduced.DRAWN,
        resized.DRAWN,
        signal.DRAWN,
        weights.DRAWN,
        control.DRAWN,
        compressed.DRAWN,
        unsigned.DRAWN,
        others.DRAWN,
        conversions.DRAWN,
        detection.DRAWN,
        folded.DRAWN,
    )
)
"""By operator under test, by label of the type."""
