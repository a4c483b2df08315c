"""`python -m tests.importers.onnx.arranged`: random graphs against onnxruntime, by thousands.

Every graph is compared as NumPy evaluates the imported module, one of nine also as C, on the host
unless another board of QEMU is named. The command
prints a line for each difference and ends with their number.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from codegen.errors import CodegenError
from codegen.settings import Optimize
from tests.importers.onnx.arranged.drawing import Question, evaluated, questions, ran

AT_ONCE = 300
"""Numbers that are asked together."""
LEVELS: tuple[Optimize, ...] = ("balanced", "size", "speed")
"""Of C, in turn."""
IN_C = 9
"""One graph of so many is run as C. Odd, since every second one is quantised."""


def _compared(
    made: list[Question], folder: Path, board: str, optimize: Optimize, counts: Counter[str]
) -> Iterator[str]:
    for question in made:
        try:
            evaluation = evaluated(question)
            counts["single steps"] += evaluation.single_steps
            yield from evaluation.lines
        except CodegenError as error:
            yield f"{question.label}: refused, {error.messages[0].text}"
    yield from ran(made[::IN_C], folder, board, optimize)


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1500, help="numbers; each gives two graphs (1,500)")
    parser.add_argument("--start", type=int, default=0, help="the lowest number (0)")
    parser.add_argument("--board", default="host", help="where C runs (host)")
    asked = parser.parse_args()
    graphs = in_c = wrong = 0
    counts: Counter[str] = Counter()
    stop = asked.start + asked.count
    with tempfile.TemporaryDirectory() as folder:
        for start in range(asked.start, stop, AT_ONCE):
            optimize = LEVELS[start // AT_ONCE % len(LEVELS)]
            made = questions(range(start, min(start + AT_ONCE, stop)))
            graphs, in_c = graphs + len(made), in_c + len(made[::IN_C])
            for line in _compared(made, Path(folder) / str(start), asked.board, optimize, counts):
                wrong += 1
                sys.stdout.write(f"{line}\n")
            sys.stderr.write(f"{graphs:,} graphs\n")
    compiled = f"{in_c:,} of them as C on {asked.board} too"
    told = f"{counts['single steps']:,} single steps of certified layers"
    sys.stdout.write(f"{graphs:,} graphs, {compiled}: {wrong:,} differences, {told}\n")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
