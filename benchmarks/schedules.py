"""Orders found for the graphs of a folder (`*.dag.json`): bytes, proof, states, seconds.

python benchmarks/schedules.py [FOLDER] [--states N]
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, not the installed one

from codegen.plan.order.best_order import best_order
from codegen.plan.order.order_graph import OrderLimits
from tests.plan.order.order_files import read_order_graph

SHARED = Path(__file__).parents[2] / "shared" / "instances"


def main() -> None:
    """Print one row a graph."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=SHARED)
    parser.add_argument("--states", type=int, default=OrderLimits().states)
    options = parser.parse_args()
    row = "{:<14} {:>6} {:>12} {:>12} {:>12} {:>7} {:>9} {:>8}"
    print(
        row.format("graph", "steps", "file order", "best order", "lower bound", "proved", "states", "seconds")
    )
    for path in sorted(options.folder.glob("*.dag.json")):
        graph = read_order_graph(path.read_text(), str(path))
        started = time.monotonic()
        found = best_order(graph, OrderLimits(states=options.states))
        seconds = time.monotonic() - started
        print(
            row.format(
                path.name.removesuffix(".dag.json").removeprefix("syn."),
                len(graph.nodes),
                f"{found.file_peak_bytes:,}",
                f"{found.peak_bytes:,}",
                f"{found.lower_bound_bytes:,}",
                "yes" if found.proved else "no",
                f"{found.states:,}",
                f"{seconds:.2f}",
            )
        )


if __name__ == "__main__":
    main()
