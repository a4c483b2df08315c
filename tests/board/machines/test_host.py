"""Running in process: outputs, peaks, guards, traces of a hand-written model; then with poisoned pools."""

import dataclasses
from pathlib import Path

import pytest

from codegen.board.machines.host import MemoryFault, run_host, run_poisoned
from codegen.errors import CodegenError, ExitCode
from codegen.program.image import Image, Trace
from codegen.toolchain import build
from tests.toolchain import fake_model

BOARD = fake_model.host_board()
CASES = (bytes(range(200, 216)), b"\xa5" * 16, b"\x5a" * 16)


def built(
    folder: Path, *, first: int = 16, replace: fake_model.Edits | None = None, sanitize: bool = False
) -> Image:
    sources = fake_model.write(fake_model.sources(BOARD, first=first, replace=replace), folder)
    return build(sources, folder, BOARD, sanitize=sanitize)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return built(tmp_path_factory.mktemp("host"))


def test_outputs_peaks_and_guards(image: Image) -> None:
    result = run_host(image, BOARD, fake_model.request(*CASES))
    assert result.runner == "host" and result.trace == ()
    for case, found in zip(CASES, result.cases, strict=True):
        assert found.outputs == (fake_model.expected(case)[2],)
        assert found.pool_peaks == {"sram": fake_model.PEAK_BYTES}
        assert found.guards_intact and found.paints_agree
        assert found.stack_peak_bytes is None and found.instructions is None


def test_trace_holds_every_steps_result(image: Image) -> None:
    result = run_host(image, BOARD, fake_model.request(CASES[0], trace=Trace.RESULTS))
    assert tuple(step.result for step in result.trace) == fake_model.expected(CASES[0])
    assert [step.step for step in result.trace] == [0, 1, 2]


def test_a_rebuilt_library_of_the_same_name_is_loaded_anew(tmp_path: Path) -> None:
    request = fake_model.request(CASES[0])
    before = run_host(built(tmp_path), BOARD, request)
    replace = {"runtime/kernels/tiny.c": ("in[i] + in[i + 2u]", "in[i] - in[i + 2u]")}
    after = run_host(built(tmp_path, replace=replace), BOARD, request)
    assert before.cases[0].outputs != after.cases[0].outputs


def test_a_peak_above_the_plan_is_measured(tmp_path: Path) -> None:
    """One byte at offset 52, written by no buffer: the high-water mark is 53, not 50."""
    replace = {"tiny.c": ("return CG_OK;", "tiny_sram_pool[52] = 7;\n    return CG_OK;")}
    result = run_host(built(tmp_path, replace=replace), BOARD, fake_model.request(CASES[0]))
    assert result.cases[0].pool_peaks == {"sram": 53}


@pytest.mark.parametrize("index", ["64", "127", "-1", "-64"])
def test_a_write_near_the_pool_hits_a_guard(tmp_path: Path, index: str) -> None:
    stray = f"*(volatile uint8_t *)((uintptr_t)tiny_sram_pool + (uintptr_t)({index})) = 0xA5;"
    replace = {"tiny.c": ("return CG_OK;", f"{stray}\n    return CG_OK;")}
    found = run_host(built(tmp_path, replace=replace), BOARD, fake_model.request(CASES[0])).cases[0]
    assert not found.guards_intact  # 0xA5 is one of the paints: the other one shows it
    assert found.pool_peaks == {"sram": 50}


def test_reading_what_nobody_wrote_makes_the_paints_disagree(tmp_path: Path) -> None:
    replace = {"runtime/kernels/tiny.c": ("in[i] + in[i + 2u]", "in[i] + in[i + 3u]")}
    result = run_host(built(tmp_path, replace=replace), BOARD, fake_model.request(CASES[0]))
    assert not result.cases[0].paints_agree


def test_errors_say_what_is_wrong(image: Image, tmp_path: Path) -> None:
    request = fake_model.request(CASES[0])
    with pytest.raises(CodegenError) as raised:
        run_host(image, BOARD, dataclasses.replace(request, sha256="0" * 64))
    assert raised.value.exit_code is ExitCode.TARGET
    assert "error[E610] the image was built from another model file" in str(raised.value)
    replace = {"tiny.c": ("return CG_OK;", "return CG_ERR_NULL_POINTER;")}
    with pytest.raises(CodegenError, match=r"error\[E611\] the entry function returned status 1"):
        run_host(built(tmp_path, replace=replace), BOARD, request)
    (tmp_path / "firmware.so").write_bytes(b"no library")
    with pytest.raises(CodegenError, match=r"error\[E610\] .*firmware.so: cannot be loaded"):
        run_host(dataclasses.replace(image, path=tmp_path / "firmware.so"), BOARD, request)


@pytest.mark.parametrize(
    "change",
    [{"model": 1}, {"output_sizes": (9,)}, {"pools": ("ccm",)}, {"cases": ((bytes(15),),)}],
    ids=lambda change: next(iter(change)),
)
def test_a_request_that_does_not_fit_is_a_bug(image: Image, change: dict[str, object]) -> None:
    request = dataclasses.replace(fake_model.request(CASES[0]), **change)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the image"):
        run_host(image, BOARD, request)


def test_poisoned_run_of_a_right_model_equals_the_plain_one(image: Image, tmp_path: Path) -> None:
    request = fake_model.request(*CASES)
    assert run_poisoned(built(tmp_path, sanitize=True), BOARD, request) == run_host(image, BOARD, request)


def poisoned(folder: Path, path: str, old: str, new: str) -> MemoryFault:
    found = run_poisoned(
        built(folder, replace={path: (old, new)}, sanitize=True), BOARD, fake_model.request(CASES[0])
    )
    assert isinstance(found, MemoryFault)
    return found


def test_a_shifted_placement_is_caught(tmp_path: Path) -> None:
    """Step 0 writes 8 bytes higher than planned: its byte 16 is the first outside `first`, at offset 40."""
    image = built(tmp_path, first=24, sanitize=True)
    found = run_poisoned(image, BOARD, fake_model.request(CASES[0]))
    assert isinstance(found, MemoryFault)
    assert (found.step, found.access, found.pool, found.offset) == (0, "write", "sram", 40)
    assert "use-after-poison" in found.summary


def test_an_interval_one_step_too_short_is_caught(tmp_path: Path) -> None:
    """`first` no longer lives in step 1, which reads it."""
    found = poisoned(tmp_path, "firmware/tiny_bench.c", "    {1, 0, 16, 24},\n", "")
    assert (found.step, found.access, found.pool) == (1, "read", "sram")
    assert found.offset in range(16, 40)


def test_one_byte_past_a_buffer_is_caught(tmp_path: Path) -> None:
    """`second` has 10 bytes: the 11th is inside ASan's granule of 8 and still exact."""
    found = poisoned(tmp_path, "runtime/kernels/tiny.c", "i < 10u", "i < 11u")
    assert (found.step, found.access, found.offset) == (1, "write", 50)


def test_between_steps_nothing_may_be_touched(tmp_path: Path) -> None:
    kernel = "tiny_third(tiny_sram_pool, tiny_sram_pool + 40);"
    found = poisoned(tmp_path, "tiny.c", "return CG_OK;", f"{kernel}\n    return CG_OK;")
    assert (found.step, found.access, found.offset) == (None, "read", 40)


def test_undefined_behaviour_is_caught(tmp_path: Path) -> None:
    text = "out[i] = (uint8_t)((int)in[i] << (in[i + 2u] + 32));"
    found = poisoned(tmp_path, "runtime/kernels/tiny.c", "out[i] = (uint8_t)(in[i] + in[i + 2u]);", text)
    assert "shift exponent" in found.summary


def test_a_child_that_fails_otherwise_is_reported(tmp_path: Path) -> None:
    image = built(tmp_path, sanitize=True)
    request = dataclasses.replace(fake_model.request(CASES[0]), cases=((b"short",),))
    with pytest.raises(CodegenError, match=r"error\[E612\].*the file of cases ends early"):
        run_poisoned(image, BOARD, request)
