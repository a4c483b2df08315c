"""Random graphs of several operators: NumPy gives what TFLite gave, and so does firmware of some of them."""

from contextlib import nullcontext
from functools import cache

import numpy as np
import pytest

from codegen.driver.options import Options
from tests.engines import TFLITE_RUNTIME, available
from tests.graphs.drawing import FEWEST, MOST, graph
from tests.graphs.record import RECORDED, read
from tests.graphs.running import Graph, Outcome, asked, at_smallest_limits, check, numpy_outputs
from tests.importers.samples import imported

DIGESTS = read()
COMPARED = range(0, RECORDED, 2)
BUILT = 4
"""Graphs of a firmware."""


@cache
def _graph(seed: int) -> Graph:
    """The graph with NumPy's outputs, which are compared with TFLite's by their digest."""
    drawn = graph(seed)
    return Graph(seed=seed, drawn=drawn, outputs=numpy_outputs(drawn))


def test_numpy_gives_what_tflite_gave() -> None:
    assert len(DIGESTS) >= RECORDED - 2
    wrong = [seed for seed in COMPARED if seed in DIGESTS and _graph(seed).digest != DIGESTS[seed]]
    assert not wrong, "if graphs are drawn differently now: python -m tests.graphs --record"


def test_graphs_have_branches_outputs_and_results() -> None:
    graphs = [_graph(seed) for seed in COMPARED]
    counts = [len(imported(one.drawn.model).main.body) for one in graphs]
    assert FEWEST <= min(counts) < 6 < 18 < max(counts) <= MOST + 2
    assert sum(len(one.outputs[0]) > 1 for one in graphs) > len(graphs) // 2
    values = [max(np.unique(array).size for array in one.outputs[0]) for one in graphs]
    assert np.mean(np.array(values) > 3) > 0.8


@pytest.mark.skipif(TFLITE_RUNTIME not in available(), reason=f"{TFLITE_RUNTIME} is not installed")
def test_tflite_still_gives_what_is_recorded() -> None:
    graphs = asked(range(0, RECORDED, 10), Outcome())
    assert len(graphs) >= RECORDED // 10 - 1
    assert all(one.digest == DIGESTS[one.seed] for one in graphs)


@pytest.mark.parametrize("board", ["host", pytest.param("mps2-an386", marks=pytest.mark.qemu)])
@pytest.mark.sampled(1)
def test_firmware_gives_what_tflite_gave(board: str) -> None:
    """On the board at the smallest limits of RAM: other kernels, more blocks."""
    outcome, first = Outcome(), 0 if board == "host" else 10
    graphs = [_graph(seed) for seed in range(first, first + BUILT)]
    with nullcontext() if board == "host" else at_smallest_limits() as limits:
        check(graphs, Options(board=board, optimize="size", only="sram"), outcome)
    assert outcome.wrong == []
    assert outcome.counts == {"run": BUILT}
    assert len(limits or ()) == (0 if board == "host" else BUILT)
