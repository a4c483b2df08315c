"""Random `.tflite` graphs on boards, against TFLite's own engine.

python -m tests.graphs --count 2000                                          # on this machine
python -m tests.graphs --count 125 --board mps2-an386 --optimize size         # on an emulated board

Prints how many were run, refused and wrong; exit status 1 if any was wrong. `--first 17 --count 1` repeats
one. `--record` writes the digests that the suite compares with.
"""

import argparse
import sys

from codegen.driver.options import Options
from tests.graphs.record import RECORDED, record
from tests.graphs.running import Outcome, asked, check, compare_numpy, lively


def main() -> int:
    """Run the command; the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=RECORDED)
    parser.add_argument("--board", default="host")
    parser.add_argument("--optimize", choices=("speed", "balanced", "size"), default="balanced")
    parser.add_argument("--together", type=int, default=20, help="graphs of a firmware")
    parser.add_argument("--record", action="store_true")
    words = parser.parse_args()
    if words.record:
        record()
        return 0
    outcome, stop = Outcome(), words.first + words.count
    options = Options(board=words.board, optimize=words.optimize)
    for start in range(words.first, stop, words.together):
        graphs = asked(range(start, min(start + words.together, stop)), outcome)
        for kind, count in lively(graphs).items():
            outcome.counts[kind] += count
        graphs = compare_numpy(graphs, outcome)
        if graphs:
            check(graphs, options, outcome)
        done = min(start + words.together, stop) - words.first
        sys.stderr.write(
            f"{done} of {words.count}, {outcome.counts['run']} run, {len(outcome.wrong)} wrong\n"
        )
    for kind, count in sorted(outcome.counts.items()):
        sys.stdout.write(f"{count:6,} {kind}\n")
    sys.stdout.write("".join(f"{line}\n" for line in [f"{len(outcome.wrong):6,} wrong", *outcome.wrong]))
    return 1 if outcome.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
