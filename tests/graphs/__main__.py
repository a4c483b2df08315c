"""Random `.tflite` graphs on boards, against TFLite's own engine.

python -m tests.graphs --count 2000                                          # on this machine
python -m tests.graphs --count 125 --board mps2-an386 --optimize size         # on an emulated board
python -m tests.graphs --count 125 --board mps2-an386 --smallest --level=-O1   # at the smallest limits of RAM

Prints how many were run, refused and wrong; exit status 1 if any was wrong. `--first 17 --count 1` repeats
one. `--record` writes the digests that the suite compares with.
"""

import argparse
import sys
from contextlib import nullcontext
from unittest import mock

from codegen.driver.options import Options
from codegen.toolchain import LEVELS
from tests.graphs.record import RECORDED, record
from tests.graphs.running import Outcome, asked, at_smallest_limits, check, compare_numpy, lively


def main() -> int:
    """Run the command; the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=RECORDED)
    parser.add_argument("--board", default="host")
    parser.add_argument("--optimize", choices=("speed", "balanced", "size"), default="balanced")
    parser.add_argument("--smallest", action="store_true", help="within the smallest limits that can be kept")
    parser.add_argument("--only", help="the board's one memory for values, as codegen's --only")
    parser.add_argument("--level", choices=("-O0", "-O1"), help="compile so, to take less time")
    parser.add_argument("--together", type=int, default=20, help="graphs of a firmware")
    parser.add_argument("--record", action="store_true")
    words = parser.parse_args()
    if words.record:
        record()
        return 0
    options = Options(board=words.board, optimize=words.optimize, only=words.only)
    level = mock.patch.dict(LEVELS, {words.optimize: words.level} if words.level else {})
    with level, at_smallest_limits() if words.smallest else nullcontext():
        outcome = _outcome(range(words.first, words.first + words.count), words.together, options)
    for kind, count in sorted(outcome.counts.items()):
        sys.stdout.write(f"{count:6,} {kind}\n")
    sys.stdout.write("".join(f"{line}\n" for line in [f"{len(outcome.wrong):6,} wrong", *outcome.wrong]))
    return 1 if outcome.wrong else 0


def _outcome(seeds: range, together: int, options: Options) -> Outcome:
    """Check the graphs of `seeds`, so many of a firmware."""
    outcome = Outcome()
    for start in range(seeds.start, seeds.stop, together):
        graphs = asked(range(start, min(start + together, seeds.stop)), outcome)
        for kind, count in lively(graphs).items():
            outcome.counts[kind] += count
        graphs = compare_numpy(graphs, outcome)
        if graphs:
            check(graphs, options, outcome)
        done = min(start + together, seeds.stop) - seeds.start
        sys.stderr.write(f"{done} of {len(seeds)}, {outcome.counts['run']} run, {len(outcome.wrong)} wrong\n")
    return outcome


if __name__ == "__main__":
    sys.exit(main())
