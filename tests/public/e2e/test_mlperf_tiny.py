"""Firmware for MLPerf Tiny's runner: four benchmarks, driven over a terminal by its published protocol."""

from pathlib import Path

import numpy as np
import pytest

from codegen.board import load_board
from codegen.driver.build import Built, build
from codegen.driver.options import Options
from codegen.errors import CodegenError
from codegen.program.program import Program
from tests.e2e.mlperf_runner import results, terminal_of
from tests.public.e2e.models import golden_cases
from tests.public.testdata import model_path

BOARD = "mps2-an386"
MODELS = {
    "kws01": "mlperf_tiny/kws_ref_model",
    "vww01": "mlperf_tiny/vww_96_int8",
    "ic01": "mlperf_tiny/pretrainedResnet_quant",
    "ad01": "mlperf_tiny/ad01_int8",
}
CASES = {"kws01": 2, "vww01": 1, "ic01": 1, "ad01": 2}
"""How many cases of the test data; with `--long` all."""


def built(key: str, folder: Path, board: str = BOARD, **options: object) -> Built:
    chosen = Options(board=board, firmware="mlperf-tiny", **options)  # type: ignore[arg-type]
    return build([model_path(key)], chosen, folder, emulated=True)


def real(program: Program, values: np.ndarray, *, output: bool) -> np.ndarray:
    [tensor] = program.signature.outputs if output else program.signature.inputs
    return (values.astype(np.int32) - tensor.type.zero_point).astype(np.float32) * np.float32(
        tensor.type.scale
    )


def sent(benchmark: str, program: Program, image: np.ndarray) -> bytes:
    """An int8 input as the runner has it in its files."""
    if benchmark == "ad01":
        return real(program, image, output=False).astype("<f4").tobytes()
    return (
        image.tobytes() if benchmark == "kws01" else (image.astype(np.int32) + 128).astype(np.uint8).tobytes()
    )


def wanted(benchmark: str, program: Program, image: np.ndarray, result: np.ndarray) -> np.ndarray:
    """What the runner is to hear of an engine's `result`."""
    values = real(program, result, output=True).ravel()
    if benchmark != "ad01":
        return values
    return np.array([np.square(values - real(program, image, output=False).ravel()).mean()])


@pytest.mark.qemu
@pytest.mark.parametrize(
    "benchmark", [pytest.param(each, marks=pytest.mark.long if each == "vww01" else ()) for each in MODELS]
)
def test_a_runner_gets_the_results_of_the_engine(
    benchmark: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    count = None if request.config.getoption("--long") else CASES[benchmark]
    done = built(MODELS[benchmark], tmp_path / "build")
    program = done.models[0].program
    machine = load_board(BOARD).qemu_machine
    assert machine is not None
    with terminal_of(machine, done.image.path) as (runner, greeting):
        assert greeting == ["m-timestamp-mode-performance", "m-lap-us-0", "m-init-done"]
        assert runner.command("name") == ["m-name-dut-[codegen]"]
        said = runner.command("profile")
        assert said == ["m-profile-[ULPMark for tinyML Firmware V0.0.1]", f"m-model-[{benchmark}]"]
        for case in golden_cases(MODELS[benchmark])[:count]:
            assert case.known_outputs is not None
            [image], [result] = case.inputs, case.known_outputs
            assert runner.load(sent(benchmark, program, image)) == ["m-load-done"]
            found, microseconds = runner.infer(1, 0)
            np.testing.assert_allclose(
                found, wanted(benchmark, program, image, result), rtol=1e-5, atol=0.00051
            )
            assert microseconds > 0
            # An inference that writes over its input begins with the same bytes again.
            if benchmark in ("kws01", "ad01"):
                again, thrice = runner.infer(3, 1)
                assert again == found
                assert 2.8 < thrice / microseconds < 3.2
            assert results(runner.command("results")) == found


@pytest.mark.qemu
def test_what_a_runner_gets_wrong_is_told(tmp_path: Path) -> None:
    done = built(MODELS["ad01"], tmp_path / "build")
    machine = load_board(BOARD).qemu_machine
    assert machine is not None
    with terminal_of(machine, done.image.path) as (runner, _):
        for command, answer in {
            "": [],
            "\r\nname": ["m-name-dut-[codegen]"],
            "sing": ["e-[Unknown command: sing]"],
            "infer 1": ["e-[Input has 0 bytes, expected 2560]"],
            "infer 0": ["e-[Inference iterations must be >0]"],
            "infer 99999999999": ["e-[Inference iterations must be >0]"],
            "infer 1 x": ["e-[Inference warmup must be >=0]"],
            "db": ["e-[Command 'db' requires a subcommand]"],
            "db load": ["e-[Command 'db load' requires the # of bytes]"],
            "db load 0": ["e-[Command 'db load' must be >0 bytes]"],
            "db load 2561": ["e-[Supplied buffer size exceeds maximum of 2560]"],
            "db 00": [],
            "db load 3": ["m-[Expecting 3 bytes]"],
            "db 0": ["e-[Insufficent number of hex digits]"],
            "db 0g": ["e-[Invalid hex digit]"],
            "db 01fFA0ff": ["m-load-done"],
            "db print": ["m-buffer-01-ff-a0"],
            "x" * 81: ["e-[Command is too long]"],
            "timestamp now": None,
        }.items():
            said = runner.command(command)
            if answer is None:
                assert len(said) == 1 and said[0].startswith("m-lap-us-")
            else:
                assert said == answer, command


@pytest.mark.parametrize(
    ("key", "board", "text"),
    [
        ("tflm/hello_world_int8", BOARD, "the model is none of the benchmarks"),
        ("mlperf_tiny/ad01_fp32", BOARD, "the model is none of the benchmarks"),
        ("mlperf_tiny/ad01_int8", "host", "board host has no UART that codegen drives"),
    ],
)
def test_what_has_no_such_firmware_is_refused(key: str, board: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(CodegenError, match=rf"E286.*--firmware mlperf-tiny: {text}"):
        built(key, tmp_path / "build", board)
    assert not (tmp_path / "build").exists()


def test_two_models_are_refused(tmp_path: Path) -> None:
    paths = [model_path(MODELS["kws01"]), model_path(MODELS["ad01"])]
    with pytest.raises(CodegenError, match=r"E286.*it is for one model, not 2"):
        build(paths, Options(board=BOARD, firmware="mlperf-tiny"), tmp_path / "build")
