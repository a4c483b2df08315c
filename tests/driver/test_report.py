"""What the report says is proved, and by whom: a search that was stopped proves nothing.
Integers must be equal; floats within 1e-5 of the largest magnitude.
"""

import hashlib
import importlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen import board as boards
from codegen import importers, passes
from codegen.driver.build import plan_model
from codegen.driver.inputs.dims import parsed
from codegen.driver.options import Options
from codegen.driver.preparing import pipeline
from codegen.driver.report.certificate import (
    certificate,
    closed_by,
    order_text,
    proof_text,
    ways_text,
    work_text,
)
from codegen.driver.report.output_check import array, compare
from codegen.errors import counted
from codegen.ir import DType, Target
from codegen.kernels.base.registry import kernels_for
from codegen.plan.order.order_graph import OrderLimits
from codegen.problem.problem import Limits
from codegen.program.program import OrderCertificate, Program
from codegen.search import Choices, search
from codegen.search.steps.schedule import schedule
from tests.e2e.test_blocks import inception, nas
from tests.emit.variants import replanned
from tests.networks import model_path
from tests.tensor_types import tensor_type

# A core for which there are portable kernels only: what is told of plans does not depend on their workspaces.
BOARD = replace(boards.load_board("lm3s6965evb"), target=Target(cpu="host"))
KWS = "ds_cnn"
RESNET = "resnet8"


def _plan(key: str, **options: Any) -> Program:
    return plan_model(
        model_path(key), BOARD, replace(Options(board="lm3s6965evb", stage="off"), **options)
    ).program


def _told(program: Program) -> dict[str, Any]:
    return dict(certificate(program))


def _search(path: Path, **choices: Any) -> Program:
    module = passes.run_passes(importers.load(path), pipeline(Options()))
    return search(module, BOARD, replace(Choices(planner="optimal", stage="off"), **choices), name="model")


def test_a_peak_at_the_live_bytes_is_closed_by_the_bound() -> None:
    program = _plan("dense_chain")
    assert closed_by(program) == "bound"
    found = _told(program)
    assert (found["closed_by"], found["blocks"]) == ("bound", [])
    assert (found["fixed"], found["optimised"]) == (
        ["kernels", "traversal", "tiling"],
        ["order", "placement"],
    )
    assert "proved optimal for these kernels, any order (" in proof_text(program)
    assert " meets the lower bound" in proof_text(program)


def test_a_peak_above_the_live_bytes_is_closed_by_an_exhausted_search() -> None:
    """kws: 8,063 bytes are alive at once, and alignment keeps them from lying closer than 8,064."""
    program = _plan(KWS)
    assert program.memory.plan.proved_optimal
    assert closed_by(program) == "search"
    assert program.memory.plan.solver.startswith("exact ")
    assert program.memory.plan.nodes > 0
    assert _told(program)["nodes"] == program.memory.plan.nodes
    assert f"exhausted all that is lower, {program.memory.plan.nodes} nodes)" in proof_text(program)


def test_a_stopped_placement_search_is_no_proof() -> None:
    program = _search(model_path(KWS), limits=Limits(effort=0))
    assert not program.memory.plan.proved_optimal
    assert closed_by(program) is None
    assert _told(program)["closed_by"] is None
    bound = sum(program.memory.plan.lower_bounds.values())
    peak = max(
        program.memory.plan.placements[b.id].offset + b.size_bytes
        for b in program.memory.problem.buffers
        if b.size_bytes
    )
    assert peak > bound
    assert f"optimal: not proved optimal, {peak - bound} byte above the lower bound (" in proof_text(program)


@pytest.mark.parametrize("make", [inception, nas])
def test_an_exhausted_order_search_says_so(make: Callable[[], bytes], tmp_path: Path) -> None:
    path = tmp_path / "net.tflite"
    path.write_bytes(make())
    program = _search(path, optimize="speed")
    assert program.order.exhausted
    assert program.order.proved
    assert program.order.reordered
    saved = program.order.file_peak_bytes - program.order.peak_bytes
    assert saved > 0
    states = program.order.states
    searched = "one state" if states == 1 else f"{states:,} states"
    assert order_text(program.order) == (
        f"searched and needs {saved:,} bytes less than the file's; with whole tensors none needs less "
        f"({f'{searched} searched' if states else 'its peak bounds them all'})"
    )
    assert "any order" in proof_text(program)


def test_a_stopped_order_search_is_no_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*words: Any, **named: Any) -> object:
        return schedule(*words, **named, limits=OrderLimits(states=0, beam_width=0))

    monkeypatch.setattr(importlib.import_module("codegen.search.search"), "schedule", stopped)
    path = tmp_path / "net.tflite"
    path.write_bytes(inception())
    program = _search(path, optimize="speed")
    order = program.order
    assert (order.searched, order.exhausted, order.proved) == (True, False, False)
    assert _told(program)["fixed"] == ["kernels", "traversal", "tiling", "order"]
    gap = order.peak_bytes - order.lower_bound_bytes
    assert gap > 0
    assert order_text(order) == (
        f"the file's; with whole tensors at most {gap:,} bytes above the best "
        "(the search stopped after 0 states)"
    )
    assert "this order" in proof_text(program)


def test_an_order_nobody_searched_for() -> None:
    program = _plan(KWS, schedule="file")
    assert not program.order.proved
    assert order_text(program.order) == "the file's; no other was looked at"
    assert order_text(OrderCertificate()) == "the file's; no other was looked at"


def test_blocks_and_work_are_told() -> None:
    """The extra work is checked against the macs of a plan that runs each layer once."""
    plain = sum(prim.macs for prim in _plan(RESNET, optimize="speed").steps.prim_funcs)
    program = _plan(RESNET, pool_limits={"sram": 14_000})
    (block,) = _told(program)["blocks"]
    assert block["ops"][0] == "CONV_2D"
    layers = zip(block["ops"], block["kernels"], strict=True)
    assert all(kernel in {each.name for each in kernels_for(op)} for op, kernel in layers)
    assert block["stripes"] > 1
    executed = sum(prim.macs for prim in program.steps.prim_funcs)
    assert block["extra_macs"] == executed - plain > 0
    percent = 100 * (executed - plain) / plain
    assert work_text(program, plain) == (
        f"{executed:,} multiply-accumulates, {executed - plain:,} ({percent:.1f} %) beyond the model's own; "
        f"ops 0-{len(block['ops']) - 1} row by row in {block['stripes']} stripes"
    )
    assert block["images"] == 1
    assert work_text(_plan("dense_chain", reduce=False), 288) == (
        "288 multiply-accumulates, none extra; every value whole"
    )


def test_a_block_of_a_batch_says_how_many_images_go_through_it() -> None:
    """Blocks went through a batch image by image, and neither report.json nor the summary said so."""
    program = _plan(KWS, dims=parsed(["N=2..3"]))
    (block,) = _told(program)["blocks"]
    assert block["images"] == 3
    assert ways_text(program) == f"ops 0-{len(block['ops']) - 1} row by row for each of 3 images"


def test_what_is_open_is_not_what_is_told_to_be_known() -> None:
    """A summary said `not proved optimal, nor the choice of pools` and, three lines on, `no choice of pools
    costs less`: the choice is known to cost the least, but not which of those needs the fewest bytes."""
    board = boards.load_board("mps3-an547")
    options = Options(board="mps3-an547", stage="off", pool_limits={"dtcm": 6_000})
    program = plan_model(model_path(KWS), board, options).program
    assert program.memory.plan.proved_optimal and len(program.memory.problem.pools) > 1
    stopped = replanned(program, proved_optimal=False)
    assert proof_text(stopped).startswith(
        "optimal: not proved optimal, another choice of pools that costs as much may need fewer bytes ("
    )
    dear = replanned(stopped, access_cost_bound=stopped.memory.plan.access_cost_bound - 1)
    assert proof_text(dear).startswith("optimal: not proved optimal, another choice of pools may cost less (")
    # Copies of constants may raise a pool that the planner had proved; then nothing else is open.
    options = Options(board="nucleo-f446re", optimize="speed", stage="use", sharing="none")
    one = boards.load_board("nucleo-f446re")
    staged = plan_model(model_path("speech"), one, options).program
    assert staged.constants.staged and len(staged.memory.problem.pools) == 1 and closed_by(staged) is None
    assert "not proved optimal, copies of constants raise the peak (" in proof_text(staged)


def test_one_is_singular() -> None:
    assert counted(1, "copy", "copies") == "1 copy"
    assert [counted(number, "step") for number in (0, 1, 2, 1200)] == [
        "0 steps",
        "1 step",
        "2 steps",
        "1,200 steps",
    ]


def test_one_different_bit_of_an_integer_is_found() -> None:
    expected = np.array([[1, 2, 3]], np.int8)
    assert compare(expected.copy(), expected).matches
    one = compare(np.array([[1, 2, 4]], np.int8), expected)
    assert (one.matches, one.differing, one.first, one.max_abs_difference) == (False, 1, 2, 1.0)
    assert one.sha256 == hashlib.sha256(bytes([1, 2, 4])).hexdigest()


def test_float_tolerance_is_relative_to_the_largest() -> None:
    expected = np.array([100.0, 0.0], np.float32)
    assert compare(np.array([100.0, 0.0009], np.float32), expected).matches
    assert not compare(np.array([100.0, 0.0011], np.float32), expected).matches


@pytest.mark.parametrize(
    ("dtype", "value"), [(np.int64, 1 << 60), (np.uint64, (1 << 64) - 2), (np.float64, 0.1)]
)
def test_eight_bytes_differ_in_their_last_bit(dtype: type[np.generic], value: float) -> None:
    """Integers were compared as float64, which holds 53 bits: others below them differed unseen."""
    expected = np.array([1, value, 3], dtype)
    other = expected.copy()
    other.view(np.uint64)[1] ^= 1
    assert compare(expected.copy(), expected).matches
    found = compare(other, expected)
    assert (found.matches, found.differing, found.first) == (False, 1, 1)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_never_pass_for_a_number(value: float) -> None:
    expected = np.array([1.0, 2.0], np.float32)
    broken = np.array([1.0, value], np.float32)
    assert not compare(broken, expected).matches
    assert not compare(expected, broken).matches
    assert compare(broken, broken.copy()).matches


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match="against"):
        compare(np.zeros(2, np.int8), np.zeros(3, np.int8))


def test_bytes_are_little_endian() -> None:
    type_ = tensor_type((1, 2), DType.INT16)
    assert array(b"\x01\x00\xff\xff", type_).tolist() == [[1, -1]]
