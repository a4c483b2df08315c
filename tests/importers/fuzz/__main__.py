"""Mutated TFLite files (`--onnx`: ONNX) through importer, planner and renderer: every one within limits.

    python -m tests.importers.fuzz --count 2000 --seed 1

Prints a table of verdicts, then every bad one with the words that repeat it; ends with 1 if there are any.
"""

import argparse
import os
import sys
import time
from collections import Counter
from pathlib import Path

from tests.importers.fuzz import compared, handmade, onnx_files
from tests.importers.fuzz.examine import Examiner, Verdict
from tests.importers.fuzz.mutants import Mutant
from tests.importers.fuzz.mutants import draw as drawn
from tests.importers.fuzz.server import Draw, verdicts


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.importers.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=2000, metavar="N", help="mutants (2000)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="which mutants (1)")
    parser.add_argument("--start", type=int, default=0, metavar="N", help="number of the first mutant (0)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="write the files of bad verdicts here")
    parser.add_argument("--no-run", action="store_true", help="compile and run none of the accepted files")
    parser.add_argument("--handmade", action="store_true", help="not mutants: the files made by hand")
    parser.add_argument("--onnx", action="store_true", help="ONNX files; none of them is run")
    return parser.parse_args()


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


def _told(number: int, draw: Draw, verdict: Verdict, seed: int) -> str:
    mutant = draw(number)
    repeat = f"--seed {seed} --start {number} --count 1"
    return (
        f"{verdict.what}: {mutant.base}, {mutant.change}, board {mutant.board} ({repeat})\n{verdict.detail}"
    )


def _warm(draw: Draw, suffix: str = ".tflite") -> None:
    """Load before the forks what is loaded late."""
    with compared.scratch() as folder:
        for number in range(3):
            mutant = draw(number)
            Examiner(folder, suffix).verdict(mutant.data, mutant.board)


def _handmade(suffix: str) -> int:
    """A line each: verdict and file; 0 if none is bad."""
    files = onnx_files.handmade() if suffix == ".onnx" else handmade.files()

    def draw(number: int) -> Mutant:
        name, data = files[number]
        return Mutant(number=number, base=name, change="", data=data, board="host", runs=False)

    _warm(draw, suffix)
    ended = 0
    for number, verdict in verdicts(draw, range(len(files)), suffix):
        _say(f"{verdict.what:6} {files[number][0]}")
        if verdict.is_bad:
            ended = 1
            _say(verdict.detail)
    return ended


def _keep(asked: argparse.Namespace, mutant: Mutant) -> None:
    if asked.keep:
        asked.keep.mkdir(parents=True, exist_ok=True)
        (asked.keep / f"{asked.seed}_{mutant.number}{_suffix(asked)}").write_bytes(mutant.data)


def _suffix(asked: argparse.Namespace) -> str:
    return ".onnx" if asked.onnx else ".tflite"


def _mutants(asked: argparse.Namespace) -> int:
    """A table of verdicts, then the bad ones; 0 if there are none."""

    def draw(number: int) -> Mutant:
        return onnx_files.draw(asked.seed, number) if asked.onnx else drawn(asked.seed, number)

    _warm(draw, _suffix(asked))
    counts: Counter[str] = Counter()
    bad: list[str] = []
    accepted: list[Mutant] = []
    for number, verdict in verdicts(draw, range(asked.start, asked.start + asked.count), _suffix(asked)):
        counts[verdict.what] += 1
        if verdict.is_bad:
            bad.append(_told(number, draw, verdict, asked.seed))
            _keep(asked, draw(number))
        if verdict.what == "ok" and verdict.runs:
            accepted.append(draw(number))
    for mutant, verdict in compared.verdicts([] if asked.no_run else accepted):
        counts[verdict.what] += 1
        if verdict.is_bad:
            bad.append(_told(mutant.number, draw, verdict, asked.seed))
            _keep(asked, mutant)
    for what, count in sorted(counts.items()):
        _say(f"{count:8,} {what}")
    _say("\n\n".join(bad))
    used = os.times()
    seconds = time.process_time() + used.children_user + used.children_system
    _say(f"{len(bad)} bad of {asked.count:,} ({seconds:.0f} s of processor time)")
    return 1 if bad else 0


def main() -> int:
    """Run as the arguments say; 0 if no verdict is bad."""
    asked = _arguments()
    return _handmade(_suffix(asked)) if asked.handmade else _mutants(asked)


if __name__ == "__main__":
    sys.exit(main())
