"""Random models of one operator (and some of two), with inputs and what a reference engine makes of them.

    for case in cases():
        case.model, case.inputs, case.expected

Models and inputs are drawn from a fixed seed; outputs are stored in `goldens.npz`, written by
`python -m tests.opgen.record`. Which engine rules for which operator is in `codegen/engines/ruling.py`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from tests.opgen import catalogue, goldens
from tests.opgen.sketch import Arrays, Drawn


@dataclass(frozen=True, kw_only=True, slots=True)
class OpCase:
    """One model; `inputs[k]` and `expected[k]` are the arrays of its k-th case, in the graph's order."""

    name: str
    """A C identifier, unique."""
    operator: str
    kind: str
    on_targets: bool
    """As in `catalogue.Entry`."""
    engine: str
    """Name of the engine that gave `expected`."""
    sha256: str
    """Digest of the model, as recorded."""
    expected: tuple[Arrays, ...]
    draw: Callable[[], Drawn]
    """Raises ValueError when the model is not the one that was recorded."""

    @property
    def model(self) -> bytes:
        """The `.tflite` file."""
        return self.draw().model

    @property
    def inputs(self) -> tuple[Arrays, ...]:
        """Of every case."""
        return self.draw().inputs


@cache
def cases() -> Sequence[OpCase]:
    """All models with stored outputs, drawn when they are asked for. Raises ValueError when one has none."""
    stored = goldens.read()
    missing = [entry.name for entry in catalogue.entries() if entry.name not in stored]
    if missing:
        raise _drift(len(missing), missing[0])
    return tuple(_case(entry, stored[entry.name]) for entry in catalogue.entries())


def _case(entry: catalogue.Entry, golden: goldens.Golden) -> OpCase:
    @cache
    def drawn() -> Drawn:
        if golden.sha256 != goldens.digest(entry.drawn.model):
            raise _drift(1, entry.name)
        return entry.drawn

    return OpCase(
        name=entry.name,
        operator=entry.operator,
        kind=entry.kind,
        on_targets=entry.on_targets,
        engine=golden.engine,
        sha256=golden.sha256,
        expected=golden.outputs,
        draw=drawn,
    )


def _drift(count: int, first: str) -> ValueError:
    return ValueError(
        f"{count} models differ from the recorded ones (first: {first}): "
        "if that is meant, run `python -m tests.opgen.record`"
    )
