"""Real models, whole path: file to C to machine code, outputs equal to an independent engine's goldens.

In the same run: the measured peak of each pool equals the plan, guards are untouched, both paints give the
same outputs, the stack stays within its static bound.
The shared operator models on int16 (weights int8): one program each board, bit-equal to TFLite's goldens.

They are the layers of one speech enhancement network, as its repository ships them.
"""

import hashlib
from pathlib import Path

import pytest

from codegen import board as boards
from codegen.board import load_board
from codegen.driver.build import build, plan_model
from codegen.driver.options import Options
from codegen.driver.report.several import used_pools
from codegen.driver.run import execute
from codegen.problem.problem import BufferKind
from codegen.program.interface import IoMode
from codegen.toolchain import Optimize
from tests.e2e.board_runs import MAIN_BOARDS, check, pairs
from tests.e2e.test_batches import run_batch
from tests.opgen import OpCase
from tests.opgen.sketch import Drawn
from tests.public.e2e.models import ALL_MODELS, EDGED_MODELS, build_model, golden_cases
from tests.public.testdata import index, model_path

SMALL_MODELS = ("tflm/hello_world_int8", "tflm/micro_speech_quantized")
"""Two models that fit the smallest board, so every board runs two."""


def _check(key: str, options: Options, folder: Path, *, every_case: bool) -> None:
    check(model_path(key), golden_cases(key), options, folder, every_case=every_case)


@pytest.mark.parametrize(("key", "board"), pairs(ALL_MODELS, SMALL_MODELS))
def test_model_on_board(key: str, board: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    every = board == "host" or bool(request.config.getoption("--long"))
    _check(key, Options(board=board), tmp_path, every_case=every)


@pytest.mark.parametrize("board", MAIN_BOARDS)
@pytest.mark.parametrize("key", EDGED_MODELS)
def test_int8_edges(key: str, board: str, tmp_path: Path) -> None:
    _check(key, Options(board=board, io_types="int8"), tmp_path, every_case=True)


@pytest.mark.parametrize("io", [IoMode.CALLER, IoMode.POOL])
@pytest.mark.parametrize("optimize", ["size", "speed"])
def test_other_options_give_the_same_outputs(io: IoMode, optimize: Optimize, tmp_path: Path) -> None:
    options = Options(board="host", io=io, optimize=optimize, keep_inputs=io is IoMode.POOL)
    _check("mlperf_tiny/kws_ref_model", options, tmp_path, every_case=True)


@pytest.mark.covering
@pytest.mark.parametrize("optimize", ["size", "speed"])
@pytest.mark.parametrize(
    "key", ["mlperf_tiny/pretrainedResnet_quant", "tinyengine/vww", "mlperf_tiny/vww_96_float"]
)
def test_arm_code_is_free_of_warnings_at_every_level(key: str, optimize: Optimize, tmp_path: Path) -> None:
    """gcc runs with -Werror and the whole warning set; -O2 is what the other tests build with."""
    built = build_model(key, Options(board="mps2-an386", optimize=optimize), tmp_path / "build")
    assert built.image.sizes.stack_bound_bytes


@pytest.mark.parametrize("planner", ["greedy_by_size", "greedy_by_conflicts", "hill_climb"])
def test_every_planner(planner: str, tmp_path: Path) -> None:
    _check(
        "mlperf_tiny/pretrainedResnet_quant",
        Options(board="host", planner=planner),
        tmp_path,
        every_case=True,
    )


@pytest.mark.parametrize("key", [key for key in ALL_MODELS if index()[key]["tflm_head_bytes"]])
def test_pools_never_exceed_the_common_engines_arena(key: str) -> None:
    """TFLM's own planner on the same model (its kernels' scratch included), plus our named workspaces. That
    what is planned is what is used, `test_model_on_board` measures."""
    options = Options(board="mps2-an386")
    program = plan_model(model_path(key), load_board("mps2-an386"), options, emulated=True).program
    planned = sum(program.memory.peak_bytes(pool) for pool in used_pools(program))
    workspaces = sum(b.size_bytes for b in program.memory.problem.buffers if b.kind is BufferKind.WORKSPACE)
    assert planned <= int(index()[key]["tflm_head_bytes"]) + workspaces


KEYS = tuple(key for key in sorted(index()) if key.startswith("seanet_"))


def op_case(key: str) -> OpCase:
    """A shared model with its golden cases; other engines' answers (`alt_`) left out."""
    cases = [case for case in golden_cases(key) if not case.name.startswith("alt")]
    assert len(cases) >= 4, key
    drawn = Drawn(model=model_path(key).read_bytes(), inputs=tuple(case.inputs for case in cases))
    return OpCase(
        name=key.replace("/", "_"),
        operator=index()[key]["ops"].split(":")[0],
        kind=key.split("/")[0],
        on_targets=True,
        engine=index()[key]["golden_engine"],
        sha256=hashlib.sha256(drawn.model).hexdigest(),
        draw=lambda: drawn,
        expected=tuple(case.known_outputs or () for case in cases),
    )


def few(family: str, count: int) -> list[OpCase]:
    """The smallest models of an operator."""
    keys = [key for key in KEYS if key.startswith(f"{family}/")]
    return [op_case(key) for key in sorted(keys, key=_size)[:count]]


def _size(key: str) -> int:
    return int(index()[key]["activation_bytes_sum"])


def test_all_of_them_on_the_host(tmp_path: Path) -> None:
    assert len(KEYS) == 66
    run_batch([op_case(key) for key in KEYS], "host", tmp_path)


@pytest.mark.qemu
@pytest.mark.parametrize("board", ["mps2-an386", "mps3-an547"])
def test_some_of_each_on_large_boards(board: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    families = sorted({key.split("/")[0] for key in KEYS})
    count = 99 if request.config.getoption("--long") else 2
    run_batch([case for family in families for case in few(family, count)], board, tmp_path)


@pytest.mark.qemu
def test_some_on_a_core_without_long_multiplication(tmp_path: Path) -> None:
    families = ("seanet_add", "seanet_conv", "seanet_leaky_relu", "seanet_quantize")  # 16 KiB hold four
    cases = [case for family in families for case in few(family, 1)]
    run_batch(cases, "microbit", tmp_path)


def test_the_boards_are_what_the_tests_take_them_for() -> None:
    cpus = {board: boards.load_board(board).target.cpu for board in ("microbit", "mps2-an386", "mps3-an547")}
    assert cpus == {"microbit": "cortex-m0", "mps2-an386": "cortex-m4", "mps3-an547": "cortex-m55"}


@pytest.mark.qemu
def test_loops_counted_by_le_keep_the_tests_behind_them(tmp_path: Path) -> None:
    """gcc 12 at -Os for Cortex-M55 made `if (n > 0)` behind `for (; n >= 2; n -= 2)` unconditional: windows
    of single pixels were copied a word too far, and 52 values of this layer came out wrong."""
    options = Options(board="mps3-an547", optimize="size")
    cases = [case for case in golden_cases("seanet_conv/conv12") if not case.name.startswith("alt")]
    built = build([model_path("seanet_conv/conv12")], options, tmp_path / "out", emulated=True)
    assert built.models[0].program.steps.prim_funcs[0].kernel == "conv2d_s16_dsp"
    measured = execute(built, cases)
    assert all(one.matches for each in measured.comparisons for one in each)
