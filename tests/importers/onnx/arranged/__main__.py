"""`python -m tests.importers.onnx.arranged`: random graphs against onnxruntime, by thousands.

Every graph is compared as NumPy evaluates the imported module, one of nine also as C on the host. The command
prints a line for each difference and ends with their number.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from codegen.errors import CodegenError
from tests.importers.onnx.arranged.drawing import Question, evaluated, questions, ran

AT_ONCE = 300
"""Numbers that are asked together."""
IN_C = 9
"""One graph of so many is run as C. Odd, since every second one is quantised."""


def _compared(made: list[Question], folder: Path) -> Iterator[str]:
    for question in made:
        try:
            yield from evaluated(question)
        except CodegenError as error:
            yield f"{question.label}: refused, {error.messages[0].text}"
    yield from ran(made[::IN_C], folder)


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1500, help="numbers; each gives two graphs (1,500)")
    parser.add_argument("--start", type=int, default=0, help="the lowest number (0)")
    asked = parser.parse_args()
    graphs = wrong = 0
    stop = asked.start + asked.count
    with tempfile.TemporaryDirectory() as folder:
        for start in range(asked.start, stop, AT_ONCE):
            made = questions(range(start, min(start + AT_ONCE, stop)))
            graphs += len(made)
            for line in _compared(made, Path(folder) / str(start)):
                wrong += 1
                sys.stdout.write(f"{line}\n")
            sys.stderr.write(f"{graphs:,} graphs\n")
    sys.stdout.write(f"{graphs:,} graphs, {wrong:,} differences\n")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
