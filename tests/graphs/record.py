"""Digests of the first graphs and of what TFLite gives for them: `python -m tests.graphs --record`."""

from pathlib import Path

from tests.graphs.running import Outcome, asked

DIGESTS = Path(__file__).with_name("digests.txt")
RECORDED = 120
"""Graphs that the suite compares."""


def record() -> None:
    """Ask the engine, write a line a graph: its number and digest."""
    lines = [f"{one.seed} {one.digest}\n" for one in asked(range(RECORDED), Outcome())]
    DIGESTS.write_text("".join(lines))


def read() -> dict[int, str]:
    """Digest by number."""
    pairs = (line.split() for line in DIGESTS.read_text().splitlines())
    return {int(seed): digest for seed, digest in pairs}
