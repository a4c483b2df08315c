"""Kernels that nobody would miss: on every drawn layer another kernel of the core is as good in everything.

python benchmarks/beaten.py        # 30 layers of each operator and element type
python benchmarks/beaten.py 200    # more of them

Compared are predicted work, bytes of constants, of workspaces and of code. A kernel without a prediction
counts as the slowest. Left out are kernels that replace their argument: they are there for the bytes of a
plan.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, not the installed one

from codegen.board import load_board
from codegen.ir import Target
from codegen.kernels.base.code_bytes import code_bytes
from codegen.kernels.base.registry import kernels_of_step
from codegen.kernels.primfunc import PrimFunc
from tests.fuzz.layers import drawn, dtypes_of
from tests.fuzz.rounded import WITHOUT_ENGINE
from tests.fuzz.sweep import BOARDS, every_kernel
from tests.kernels.builders import BUILDERS
from tests.kernels.layers import Layer

_UNPREDICTED = 10**12


def price(prim: PrimFunc) -> tuple[int, int, int, int]:
    """Work, bytes of constants, of workspaces, of code."""
    work = _UNPREDICTED if prim.work is None else int(prim.work)
    workspace_bytes = sum(space.size_bytes for space in prim.workspaces if not space.is_activation)
    return work, prim.constant_bytes, workspace_bytes, code_bytes(prim.symbols, prim.sources)


def bound(layer: Layer, target: Target) -> list[tuple[str, tuple[int, int, int, int]]]:
    """Kernels that can run a layer on a core, best first, and what each takes."""
    able = (kernel for kernel in kernels_of_step(layer.let) if not kernel.is_in_place)
    able = (kernel for kernel in able if kernel.refusal(layer.let, target) is None)
    return [(kernel.name, price(kernel.bind(layer.let, layer.constants, "step"))) for kernel in able]


def unbeaten(prices: list[tuple[str, tuple[int, int, int, int]]]) -> Iterator[str]:
    """Kernels than which no other is as good in everything; of equal ones the first."""
    for index, (name, one) in enumerate(prices):
        others = [other for at, (_, other) in enumerate(prices) if at < index or other != one]
        if not any(all(a <= b for a, b in zip(other, one, strict=True)) for other in others):
            yield name


def main() -> None:
    """Print how many kernels are needed, and each that is not."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    targets = [load_board(board).target for board in BOARDS]
    tried: Counter[str] = Counter()
    needed: Counter[str] = Counter()
    for kind in (*BUILDERS, *WITHOUT_ENGINE):
        for dtype in dtypes_of(kind):
            for seed in range(count):
                layer = drawn(kind, dtype, seed)
                for target in targets:
                    prices = bound(layer, target)
                    tried.update(name for name, _ in prices)
                    needed.update(unbeaten(prices))
    names = {kernel.name for kernel in every_kernel() if not kernel.is_in_place}
    counts = len(names), len(names & tried.keys()), len(names & needed.keys())
    print("{} kernels: {} tried, {} needed by a layer".format(*counts))
    for name in sorted(names - needed.keys()):
        print(
            f"{name}: beaten on all {tried[name]} layers" if tried[name] else f"{name}: no layer drawn for it"
        )


if __name__ == "__main__":
    main()
