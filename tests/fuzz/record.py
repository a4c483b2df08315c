"""Writes `engines.npz`: asks the engines for every layer of the suite. `python -m tests.fuzz.record`.

With names of operators: for theirs alone, the others stay as they are recorded.
"""

import sys
from collections import Counter
from collections.abc import Collection

import numpy as np

from codegen.board import load_board
from codegen.ir import DType
from tests.fuzz.layers import drawn
from tests.fuzz.reference import RECORD, Name, ask, difference, digest, read, write
from tests.fuzz.rounded import WITHOUT_ENGINE, kind_of
from tests.fuzz.sweep import boards_of, every_kernel, share_of
from tests.fuzz.trials import trials

LAYERS = 300
"""Of a kernel on a core whose answers are recorded: what `python -m tests.fuzz --layers 300` runs."""
SPARE = 20
"""More of them, for layers that a board has no room for."""


def names(ops: Collection[str] = ()) -> list[Name]:
    """The layers that some kernel (of `ops`, if there are any) takes on some board."""
    found: set[Name] = set()
    for kernel in every_kernel():
        if kind_of(kernel) in WITHOUT_ENGINE or (ops and kernel.op not in ops):
            continue
        boards = [load_board(board) for board in boards_of(kernel.name)]
        counts: Counter[str] = Counter()
        for trial in (
            trials(kernel, boards, layers=share_of(kernel, LAYERS) + SPARE, counts=counts) if boards else ()
        ):
            counts[trial.board] += 1
            found.add(Name(op=kernel.op, dtype=trial.dtype.value, seed=trial.seed))
    return sorted(found)


def main(ops: Collection[str] = ()) -> int:
    """Record all layers (of `ops`, if there are any).

    Those that NumPy or an engine sees otherwise are named, and nothing is written.
    """
    all_ = names(ops)
    layers = [drawn(name.op, DType(name.dtype), name.seed) for name in all_]
    digests = {name: found for name, found in read().items() if ops and name.op not in ops}
    wrong: list[str] = []
    for name, layer, answer in zip(all_, layers, ask(layers), strict=True):
        text = difference(name, layer, answer, layer.expected)
        wrong += [text] if text else []
        if isinstance(answer, np.ndarray) and name.is_exact:
            digests[name] = digest(answer)
    if wrong:
        sys.stderr.write("".join(f"{line}\n" for line in wrong))
        return 1
    write(digests)
    sys.stdout.write(
        f"{len(all_)} layers equal their engine's results, {len(digests)} recorded, "
        f"{RECORD.stat().st_size} bytes\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
