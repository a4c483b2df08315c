"""Operators that are one of a family: by operator and type, how to draw a model. `EACH` of every kind.

In: dice. Out: `Drawn`. Start with `rearranged`, whose operators only move elements.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tests.opgen.dice import Dice
from tests.opgen.families import functions, pairwise, rearranged, reduced, resized, signal, weights
from tests.opgen.sketch import Drawn

EACH = 25
"""Models of an operator and type."""

FAMILIES: Mapping[str, Mapping[str, Callable[[Dice], Drawn]]] = MappingProxyType(
    {
        **rearranged.DRAWN,
        **pairwise.DRAWN,
        **functions.DRAWN,
        **reduced.DRAWN,
        **resized.DRAWN,
        **signal.DRAWN,
        **weights.DRAWN,
    }
)
"""By operator under test, by label of the type."""
