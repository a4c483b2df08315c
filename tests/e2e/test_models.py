"""Networks, whole path: file to C to machine code, outputs equal to an independent engine's goldens.

In the same run: the measured peak of each pool equals the plan, guards are untouched, both paints give the
same outputs, the stack stays within its static bound.
"""

import itertools
from pathlib import Path

import numpy as np
import pytest

from codegen.cli.case_files import model_cases
from codegen.driver.inputs.cases import ArraySource, Case, sequence_cases
from codegen.driver.options import Options
from codegen.driver.run import RunConditions, complaints, execute
from codegen.program.interface import IoMode
from codegen.toolchain import Optimize
from tests.e2e.board_runs import MAIN_BOARDS, check, pairs
from tests.e2e.models import ALL_MODELS, EDGED_MODELS, OF_EACH_KIND, build_model, golden_cases
from tests.networks import CASES, ONNX_NAMES, WHOLE_NAMES, golden, model_path
from tests.networks.whole import WHOLE

SMALL_MODELS = ("dense_chain", "speech")
"""Two models that fit the smallest board, so every board runs two."""


def _check(key: str, options: Options, folder: Path, *, every_case: bool) -> None:
    check(model_path(key), golden_cases(key), options, folder, every_case=every_case)


@pytest.mark.parametrize(("key", "board"), pairs(ALL_MODELS, SMALL_MODELS, often=OF_EACH_KIND))
def test_model_on_board(key: str, board: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    every = board == "host" or bool(request.config.getoption("--long"))
    _check(key, Options(board=board), tmp_path, every_case=every)


@pytest.mark.parametrize(
    ("key", "board"),
    [
        *((key, "host") for key in ONNX_NAMES),
        *(pytest.param(key, "mps2-an386", marks=pytest.mark.qemu) for key in ("ds_cnn_qdq", "resnet8_qdq")),
    ],
)
@pytest.mark.sampled(3)
def test_onnx_twin(key: str, board: str, tmp_path: Path) -> None:
    _check(key, Options(board=board), tmp_path, every_case=board == "host")


@pytest.mark.parametrize(
    "board",
    [
        "host",
        pytest.param("mps2-an386", marks=pytest.mark.qemu),
        pytest.param("mps3-an547", marks=[pytest.mark.qemu, pytest.mark.thorough]),
    ],
)
@pytest.mark.parametrize("key", WHOLE_NAMES)
@pytest.mark.sampled()
def test_lstm_stream_and_detector(key: str, board: str, tmp_path: Path) -> None:
    """Each case begins with fresh state, but those of a sequence."""
    options, arrays, path = Options(board=board), golden(key), tmp_path / "golden.npz"
    built, is_sequence = build_model(key, options, tmp_path / "build"), WHOLE[key].is_sequence
    model, cases = built.models[0], list[Case]()
    if is_sequence:
        rows = {
            place: np.stack([arrays[f"{case}_{place}"] for case in CASES]) for place in ("x0", "y0", "y1")
        }
        np.savez(path, **rows)  # type: ignore[arg-type]
        source = ArraySource(path=path)
        cases = sequence_cases(model.program, source, source, 0)
    else:
        np.savez(path, **arrays)  # type: ignore[arg-type]
        for case in CASES:
            sources = {model.program.name: ArraySource(path=path, prefix=case)}
            cases += model_cases(built, [model_path(key)], sources, sources, options)[0]
    measured = execute(built, cases, RunConditions(sequence=is_sequence))
    assert complaints(model, cases, measured, built.image.sizes.stack_bound_bytes) == []


@pytest.mark.parametrize("board", MAIN_BOARDS)
@pytest.mark.parametrize("key", EDGED_MODELS)
@pytest.mark.sampled(1)
def test_int8_edges(key: str, board: str, tmp_path: Path) -> None:
    _check(key, Options(board=board, io_types="int8"), tmp_path, every_case=True)


@pytest.mark.usefixtures("as_users_compile")
@pytest.mark.parametrize(
    ("io", "optimize"),
    [
        *itertools.product((IoMode.CALLER, IoMode.POOL), ("size", "speed")),
        (IoMode.CALLER, "balanced"),
    ],
)
@pytest.mark.sampled(2)
def test_other_options_give_the_same_outputs(io: IoMode, optimize: Optimize, tmp_path: Path) -> None:
    options = Options(board="host", io=io, optimize=optimize, keep_inputs=io is IoMode.POOL)
    for key in ("ds_cnn", "autoencoder_float"):
        _check(key, options, tmp_path / key, every_case=True)


@pytest.mark.parametrize("optimize", ["size", "speed"])
@pytest.mark.parametrize(
    "key",
    [
        "ds_cnn",
        *(
            pytest.param(key, marks=pytest.mark.thorough)
            for key in ("resnet8", "mobilenet_v2", "mobilenet_v1_float")
        ),
    ],
)
def test_arm_code_is_free_of_warnings_at_every_level(key: str, optimize: Optimize, tmp_path: Path) -> None:
    """gcc runs with -Werror and the whole warning set; -O2 is what the other tests build with."""
    built = build_model(key, Options(board="mps2-an386", optimize=optimize), tmp_path / "build")
    assert built.image.sizes.stack_bound_bytes


@pytest.mark.parametrize("planner", ["greedy_by_size", "greedy_by_conflicts", "hill_climb"])
@pytest.mark.sampled(2)
def test_every_planner(planner: str, tmp_path: Path) -> None:
    _check(
        "resnet8",
        Options(board="host", planner=planner),
        tmp_path,
        every_case=True,
    )
