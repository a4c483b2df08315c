"""Which mutants there are: number N of a seed is always the same file."""

import random
from dataclasses import dataclass
from functools import cache

from tests import opgen
from tests.importers.fuzz.mutations import mutant
from tests.importers.samples import everything
from tests.networks import drawn

_NETWORKS = ("two_images", "dense_chain")
_MAX_BYTES = 6000
_EACH = 7
"""Every so many of the generated models are changed."""

BOARDS = ("host", "host", "host", "stm32", "mps3-an547", "microbit")
"""Whose kernels are bound; half of all files are for the host, where they can run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mutant:
    """A changed file, of which model and how, and the board that it is planned for."""

    number: int
    base: str
    change: str
    data: bytes
    board: str
    runs: bool
    """Whether it is to be compiled with sanitizers and compared, if it is accepted: one in a hundred."""


@cache
def bases() -> tuple[tuple[str, bytes], ...]:
    """Sound models: one of every operator, small networks, generated ones."""
    networks = [(name, drawn(name).model) for name in _NETWORKS]
    generated = [(case.name, case.model) for case in opgen.cases()[::_EACH]]
    small = [(name, data) for name, data in generated if len(data) <= _MAX_BYTES]
    return (*(("everything", everything()),) * (1 + len(small) // 10), *networks, *small)


def draw(seed: int, number: int) -> Mutant:
    """Mutant `number` of `seed`."""
    rng = random.Random(f"{seed} {number}")
    base, data = rng.choice(bases())
    changed, change = mutant(data, rng)
    board = rng.choice(BOARDS)
    return Mutant(
        number=number,
        base=base,
        change=change,
        data=changed,
        board=board,
        runs=board == "host" and rng.random() < 0.02,
    )
