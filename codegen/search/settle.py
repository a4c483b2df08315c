"""Kernels that steps share: code is paid once, so a kernel that few steps want may not be worth its bytes."""

from collections.abc import Iterator, Sequence

from codegen.kernels.code_sizes import code_bytes
from codegen.kernels.primfunc import PrimFunc
from codegen.search.costs import cheapest, cost

Candidates = Sequence[Sequence[PrimFunc]]
"""Per step the PrimFuncs of all kernels that can run it."""


def settled(candidates: Candidates, flash_worth: int) -> tuple[PrimFunc, ...]:
    """Per step one of its candidates: a low sum of all steps' `cost` and `flash_worth` a byte of code.

    Begins with every step's cheapest kernel. Then, as long as that lowers the sum, the best of two kinds of
    moves is made: a kernel goes, and its steps take the cheapest of the others, or a kernel takes over every
    step that it can run. Deterministic; the best sum of all is not promised.
    """
    left = [list(each) for each in candidates]
    best = _total(left, flash_worth)
    while flash_worth:
        ways = [(_total(way, flash_worth), way) for way in _moves(left) if all(way)]
        if not ways:
            break
        total, way = min(ways, key=lambda found: found[0])
        if total >= best:
            break
        best, left = total, way
    return tuple(cheapest(each, flash_worth) for each in left)


def _moves(left: Candidates) -> Iterator[list[list[PrimFunc]]]:
    for kernel in sorted({prim.kernel for each in left for prim in each}):
        yield [[prim for prim in each if prim.kernel != kernel] for each in left]
        yield [[prim for prim in each if prim.kernel == kernel] or list(each) for each in left]


def _total(left: Candidates, flash_worth: int) -> float:
    chosen = [cheapest(each, flash_worth) for each in left]
    known = [cost(prim, flash_worth) for prim in chosen if prim.instructions is not None]
    code = code_bytes(source for prim in chosen for source in prim.sources)
    return sum(known) + flash_worth * code + (len(chosen) - len(known)) * _UNKNOWN


_UNKNOWN = 1e12
"""A step without a prediction: no byte is worth losing one."""
