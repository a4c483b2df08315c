"""The order search on the public graphs whose best order is known."""

import os
import subprocess
import sys

import pytest

from codegen.plan.order.best_order import best_order
from codegen.plan.order.order_graph import OrderGraph, OrderLimits
from tests.checkout import ROOT
from tests.plan.order.order_files import read_order_graph
from tests.plan.order.test_best_order import simulated
from tests.public.testdata import TESTDATA

INSTANCES = TESTDATA.parent / "instances"

# Proved best orders of the public list; these peaks count inputs until they are read for the last time.
BEST = {
    "inc9": (2_860_032, 2_433_536),
    "nas6": (327_680, 278_528),
    "nas36": (360_448, 294_912),
    "rw_ws32x3": (301_056, 282_240),
    "rw_er30x3v": (597_408, 442_176),
    "unet4x2": (524_288, 524_288),
    "hrnet6": (359_424, 286_848),
}


def instance(name: str) -> OrderGraph:
    path = INSTANCES / f"syn.{name}.dag.json"
    return read_order_graph(path.read_text(), path.name)


@pytest.mark.parametrize("name", BEST)
def test_known_best_orders_are_reached_and_proved(name: str) -> None:
    graph = instance(name)
    found = best_order(graph, OrderLimits(states=500_000))
    file_peak, best_peak = BEST[name]
    assert (found.file_peak_bytes, found.peak_bytes, found.proved) == (file_peak, best_peak, True)
    assert found.states <= 500_000
    assert simulated(graph, found.order) == best_peak
    assert found.reordered == (best_peak < file_peak)


def test_a_large_graph_gets_an_order_below_the_best_published() -> None:
    graph = instance("rw_ws250x2v")
    found = best_order(graph, OrderLimits(states=60_000, beam_width=16))
    assert found.peak_bytes <= 2_695_392
    assert found.peak_bytes == simulated(graph, found.order)
    assert not found.proved
    assert found.lower_bound_bytes < found.peak_bytes
    assert found.states <= 60_000 + 16 * len(graph.nodes)


def test_hash_seeds_do_not_matter() -> None:
    path = INSTANCES / "syn.rw_er30x3v.dag.json"
    program = (
        "import sys; from pathlib import Path; from codegen.plan.order.best_order import best_order;"
        "from tests.plan.order.order_files import read_order_graph;"
        "print(best_order(read_order_graph(Path(sys.argv[1]).read_text(), '')))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", program, str(path)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1
