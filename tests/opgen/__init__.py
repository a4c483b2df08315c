"""Random models of one operator (and some of two), with inputs and what a reference engine makes of them.

    for case in cases():
        case.model, case.inputs, case.expected

Models and inputs are drawn from a fixed seed; outputs are stored in `goldens.npz`, written by
`python -m tests.opgen.record`. Which engine rules for which operator is in `tests/engines/rules.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from tests.opgen import catalogue, goldens
from tests.opgen.sketch import Arrays


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
    model: bytes
    """The `.tflite` file."""
    inputs: tuple[Arrays, ...]
    expected: tuple[Arrays, ...]


@cache
def cases() -> Sequence[OpCase]:
    """All models with stored outputs. Raises ValueError when a model is not the one that was recorded."""
    stored = goldens.read()
    drifted = [
        entry.name
        for entry in catalogue.entries()
        if entry.name not in stored or stored[entry.name].sha256 != goldens.digest(entry.drawn.model)
    ]
    if drifted:
        raise ValueError(
            f"{len(drifted)} models differ from the recorded ones (first: {drifted[0]}): "
            "if that is meant, run `python -m tests.opgen.record`"
        )
    return tuple(
        OpCase(
            name=entry.name,
            operator=entry.operator,
            kind=entry.kind,
            on_targets=entry.on_targets,
            engine=stored[entry.name].engine,
            model=entry.drawn.model,
            inputs=entry.drawn.inputs,
            expected=stored[entry.name].outputs,
        )
        for entry in catalogue.entries()
    )
