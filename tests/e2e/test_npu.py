"""Layers that Vela compiled, in a plan with layers on the core: run on this machine and on QEMU.

Streams are written by hand: maximum pools of 2 x 2, so right values are maxima of numbers.
"""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen import CodegenError, Options, plan, run
from codegen.driver.inputs.cases import Case
from codegen.program.interface import IoMode
from codegen.report_file import Report
from tests.checkout import ROOT
from tests.ethos_u.files import NpuLayers, VelaFileBuilder, doubled_rows
from tests.ethos_u.handed import handed_on

SHAPE = (8, 8, 16)
HALF = (4, 4, 16)
BYTES, HALF_BYTES = 1024, 256
SCRATCH = BYTES + HALF_BYTES


def _pool(before: int, after: int, shape: tuple[int, int, int] = SHAPE, scratch: int = SCRATCH) -> NpuLayers:
    size = int(np.prod(shape))
    words = doubled_rows(shape, 0, size)
    return NpuLayers(stream=words, inputs={before: 0}, outputs={after: size}, scratch_bytes=scratch)


def _alone(result_at: int = BYTES) -> bytes:
    model = VelaFileBuilder()
    x, y = model.value("x", (1, *SHAPE)), model.value("y", (1, *HALF))
    words = doubled_rows(SHAPE, 0, result_at)
    model.npu(NpuLayers(stream=words, inputs={x: 0}, outputs={y: result_at}, scratch_bytes=SCRATCH))
    return model.build([x], [y])


def _between() -> bytes:
    """ABS on the core, a pool on the NPU, ABS and NEG on the core: the last two lie in the free scratch."""
    model = VelaFileBuilder()
    x, a = model.value("x", (1, *SHAPE)), model.value("a", (1, *SHAPE))
    b, y = model.value("b", (1, *HALF)), model.value("y", (1, *HALF))
    model.op("ABS", [x], [a])
    model.npu(_pool(a, b))
    model.op("NEG", [b], [y])
    return model.build([x], [y])


def _read_again(result_at: int = BYTES) -> bytes:
    """The NPU's argument is read behind it too; the stream leaves it alone, so it may stay in the scratch."""
    model = VelaFileBuilder()
    x, a = model.value("x", (1, *SHAPE)), model.value("a", (1, *SHAPE))
    b, c = model.value("b", (1, *HALF)), model.value("c", (1, *SHAPE))
    model.op("ABS", [x], [a])
    words = doubled_rows(SHAPE, 0, result_at)
    model.npu(NpuLayers(stream=words, inputs={a: 0}, outputs={b: result_at}, scratch_bytes=SCRATCH))
    model.op("NEG", [a], [c])
    return model.build([x], [b, c])


def _two() -> bytes:
    """Two operators for the NPU, one behind the other with a layer on the core between."""
    model = VelaFileBuilder()
    x, a = model.value("x", (1, *SHAPE)), model.value("a", (1, *HALF))
    b, y = model.value("b", (1, *HALF)), model.value("y", (1, 2, 2, 16))
    model.npu(_pool(x, a))
    model.op("NEG", [a], [b])
    model.npu(_pool(b, y, HALF, 320))
    return model.build([x], [y])


def _maxima(image: np.ndarray) -> np.ndarray:
    batch, height, width, depth = image.shape
    return image.reshape(batch, height // 2, 2, width // 2, 2, depth).max((2, 4))


def _negated(values: np.ndarray) -> np.ndarray:
    return np.clip(-values.astype(np.int16), -128, 127).astype(np.int8)


def _image() -> np.ndarray:
    return np.random.default_rng(44).integers(-127, 128, (1, *SHAPE), np.int8)


def _run(data: bytes, folder: Path, board: str, expected: Sequence[np.ndarray], **options: Any) -> Report:
    """Run a file, outputs held against `expected`; measured peaks are the planned ones or it raises."""
    model = folder / "m.tflite"
    model.write_bytes(data)
    case = Case(name="image", inputs=(_image(),), expected=tuple(expected))
    return run(model, Options(board=board, **options), cases={"m": [case]}, folder=folder / "out")


def _peak(report: Report) -> int:
    assert report.plan is not None
    return sum(pool.peak_bytes for pool in report.plan.pools)


def test_layers_for_the_npu_are_a_step_whose_scratch_holds_their_argument(tmp_path: Path) -> None:
    report = _run(_alone(), tmp_path, "host", [_maxima(_image())])
    assert _peak(report) == SCRATCH
    assert report.plan is not None and report.plan.buffers is not None
    assert {buffer.id: buffer.size_bytes for buffer in report.plan.buffers} == {"npu0_0_part0": SCRATCH}
    assert report.npu is not None
    [step] = report.npu["steps"]
    assert (step["device"], step["operations"]) == ("ethos-u55-128", [{"kind": "pooling", "count": 1}])
    assert step["moved"] == [{"memory": "scratch", "read_bytes": BYTES, "written_bytes": HALF_BYTES}]
    assert (step["born_in_scratch"], step["copied_in"]) == (1, 0)


def test_layers_on_the_core_lie_in_what_the_npu_leaves_free(tmp_path: Path) -> None:
    """NEG's result has room in the scratch once the NPU is done, ABS's is born there: nothing lies beside."""
    report = _run(_between(), tmp_path, "host", [_negated(_maxima(np.abs(_image())))])
    assert _peak(report) == SCRATCH


def test_an_argument_that_is_read_later_stays_where_the_stream_does_not_write(tmp_path: Path) -> None:
    magnitudes = np.abs(_image())
    report = _run(_read_again(), tmp_path, "host", [_maxima(magnitudes), _negated(magnitudes)])
    assert report.npu is not None
    assert [(step["born_in_scratch"], step["copied_in"]) for step in report.npu["steps"]] == [(1, 0)]
    assert _peak(report) == SCRATCH


def test_an_argument_that_is_read_later_is_copied_where_the_stream_writes_over_it(tmp_path: Path) -> None:
    """Results lie over the first rows of the argument, as Vela puts them where nobody reads those again."""
    magnitudes = np.abs(_image())
    data = _read_again(result_at=0)
    report = _run(data, tmp_path, "host", [_maxima(magnitudes), _negated(magnitudes)])
    assert report.npu is not None
    assert [(step["born_in_scratch"], step["copied_in"]) for step in report.npu["steps"]] == [(0, 1)]
    assert _peak(report) >= 2 * BYTES


@pytest.mark.parametrize(("result_at", "peak"), [(BYTES, SCRATCH), (0, 2 * BYTES)])
def test_kept_inputs_are_not_written_over(result_at: int, peak: int, tmp_path: Path) -> None:
    report = _run(_alone(result_at), tmp_path, "host", [_maxima(_image())], keep_inputs=True)
    assert _peak(report) == peak


def test_inputs_and_outputs_of_the_caller_are_copied(tmp_path: Path) -> None:
    report = _run(_alone(), tmp_path, "host", [_maxima(_image())], io=IoMode.CALLER)
    assert _peak(report) == SCRATCH


def test_two_operators_have_a_status_each(tmp_path: Path) -> None:
    """Both declared a local `status`: the entry function did not compile."""
    inner = _negated(_maxima(_image()))
    _run(_two(), tmp_path, "host", [_maxima(inner)])
    source = (tmp_path / "out" / "m.c").read_text(encoding="utf-8")
    assert source.count("cg_npu_run(&") == 2
    assert len(re.findall(r"const cg_status status\w*\b", source)) == 2


def test_scratch_that_the_stream_leaves_alone_is_not_planned(tmp_path: Path) -> None:
    """A file with several operators states the whole arena for each."""
    model = VelaFileBuilder()
    x, y = model.value("x", (1, *SHAPE)), model.value("y", (1, *HALF))
    model.npu(_pool(x, y, scratch=4 * SCRATCH))
    report = _run(model.build([x], [y]), tmp_path, "host", [_maxima(_image())])
    assert _peak(report) == SCRATCH


def test_two_models_share_the_scratch(tmp_path: Path) -> None:
    """Both have layers for the NPU; they do not run at a time."""
    expected = {"small": _maxima(_image()), "large": _negated(_maxima(np.abs(_image())))}
    paths = [tmp_path / f"{name}.tflite" for name in expected]
    for path, data in zip(paths, (_alone(), _between()), strict=True):
        path.write_bytes(data)
    cases = {
        name: [Case(name="image", inputs=(_image(),), expected=(result,))]
        for name, result in expected.items()
    }
    report = run(paths, Options(board="host"), cases=cases, folder=tmp_path / "out")
    assert _peak(report) == SCRATCH


@pytest.mark.qemu
def test_a_network_with_layers_on_both_sides_runs_on_the_board(tmp_path: Path) -> None:
    report = _run(_between(), tmp_path, "mps3-an547", [_negated(_maxima(np.abs(_image())))])
    assert report.plan is not None and report.constants is not None
    assert {pool.name: pool.peak_bytes for pool in report.plan.pools} == {"dtcm": BYTES, "sram": SCRATCH}
    assert {pool.name for pool in report.constants.pools} == {"itcm", "qspi"}


def _refused(data: bytes, board: str, folder: Path) -> str:
    model = folder / "m.tflite"
    model.write_bytes(data)
    with pytest.raises(CodegenError) as refused:
        plan(model, Options(board=board))
    return str(refused.value)


def test_a_board_without_an_npu_names_those_that_have_one(tmp_path: Path) -> None:
    text = _refused(_alone(), "stm32", tmp_path)
    assert "E326" in text
    assert (
        "Vela compiled these layers for ethos-u55-128, and netduinoplus2 does not run them: it has no NPU"
        in text
    )
    assert "use the file from before Vela, or a board with ethos-u55-128: host, mps3-an547" in text


def test_a_board_with_another_npu_says_which(tmp_path: Path) -> None:
    model = VelaFileBuilder()
    x, y = model.value("x", (1, *SHAPE)), model.value("y", (1, *HALF))
    model.npu(replace(_pool(x, y), configuration=1 << 28 | 9))
    text = _refused(model.build([x], [y]), "mps3-an547", tmp_path)
    assert "for ethos-u65-512, and mps3-an547 does not run them: its NPU is ethos-u55-128 or" in text


@pytest.mark.parametrize(
    ("scratch", "offsets", "words"),
    [
        (SCRATCH - 1, True, f"its values or commands leave the scratch of {SCRATCH - 1} bytes"),
        (0, True, "its scratch has no bytes"),
        (SCRATCH, False, "the file lacks the metadata OfflineMemoryAllocation"),
    ],
)
def test_files_that_contradict_themselves_are_refused(
    scratch: int, offsets: bool, words: str, tmp_path: Path
) -> None:
    model = VelaFileBuilder()
    x, y = model.value("x", (1, *SHAPE)), model.value("y", (1, *HALF))
    model.npu(_pool(x, y, scratch=scratch))
    text = _refused(model.build([x], [y], offsets=offsets), "host", tmp_path)
    assert "E316" in text
    assert words in text


def test_bytes_that_nobody_wrote_are_refused(tmp_path: Path) -> None:
    """Outputs depended on what the pools held before."""
    model = VelaFileBuilder()
    x, a = model.value("x", (1, *SHAPE)), model.value("a", (1, *HALF))
    b, y = model.value("b", (1, *HALF)), model.value("y", (1, 2, 2, 16))
    model.npu(_pool(x, a))
    model.op("NEG", [a], [b])
    words = doubled_rows(HALF, 2 * BYTES, BYTES)
    model.npu(NpuLayers(stream=words, inputs={b: 0}, outputs={y: BYTES}, scratch_bytes=3 * BYTES))
    text = _refused(model.build([x], [y]), "host", tmp_path)
    assert "E316" in text
    assert (
        "its stream reads bytes 2048 to 2304 of its scratch, which it did not write, and neither did" in text
    )


def test_a_stream_that_gives_nothing_is_refused(tmp_path: Path) -> None:
    """10 of 20,000 changed files were a traceback: an operator ethos-u without outputs."""
    model = VelaFileBuilder()
    x, y = model.value("x", (1, *SHAPE)), model.value("y", (1, *SHAPE))
    words = doubled_rows(SHAPE, 0, BYTES)
    model.npu(NpuLayers(stream=words, inputs={x: 0}, outputs={}, scratch_bytes=SCRATCH))
    model.op("NEG", [x], [y])
    text = _refused(model.build([x], [y]), "host", tmp_path)
    assert "E316" in text and "it gives no value" in text


def test_a_value_that_only_the_arena_hands_over_is_an_argument(tmp_path: Path) -> None:
    """Vela left a value of one stream in the arena for the next one, which does not list it: such files were
    refused. The layers on the core lie around that value."""
    half = _maxima(_image())
    report = _run(handed_on(), tmp_path, "host", [_negated(half), _maxima(half)])
    assert _peak(report) == SCRATCH + HALF_BYTES
    assert report.npu is not None
    assert [(step["born_in_scratch"], step["copied_in"]) for step in report.npu["steps"]] == [(1, 0), (1, 0)]


def test_layers_on_the_core_fill_hollows_of_the_scratch(tmp_path: Path) -> None:
    """Two results of a stream are kept, with what was its argument between them: NEG's result lies there."""
    model = VelaFileBuilder()
    x, low = model.value("x", (1, *SHAPE)), model.value("low", (1, *HALF))
    high, y = model.value("high", (1, *HALF)), model.value("y", (1, *HALF))
    at, high_at = HALF_BYTES, HALF_BYTES + BYTES
    words = np.concatenate([doubled_rows(SHAPE, at, 0)[:-1], doubled_rows(SHAPE, at, high_at)])
    size = high_at + HALF_BYTES
    model.npu(NpuLayers(stream=words, inputs={x: at}, outputs={low: 0, high: high_at}, scratch_bytes=size))
    model.op("NEG", [low], [y])
    half = _maxima(_image())
    report = _run(model.build([x], [low, high, y]), tmp_path, "host", [half, half, _negated(half)])
    assert _peak(report) == size
    assert report.npu is not None
    assert report.npu["in_hollows_bytes"] == HALF_BYTES


STUB = """
#include <stddef.h>
#include <stdint.h>
struct ethosu_driver;
struct ethosu_driver *ethosu_reserve_driver(void);
void ethosu_release_driver(struct ethosu_driver *drv);
int ethosu_invoke_v3(struct ethosu_driver *drv, const void *custom_data_ptr, const int custom_data_size,
                     uint64_t *const base_addr, const size_t *base_addr_size, const int num_base_addr,
                     void *user_arg);
"""
CALLER = """
#include "cg_npu.h"
#include "ethosu_driver.h"
static int answer, length;
static uint64_t bases[3];
struct ethosu_driver { int free; };
static struct ethosu_driver one = {1};
struct ethosu_driver *ethosu_reserve_driver(void) { return one.free ? (one.free = 0, &one) : 0; }
void ethosu_release_driver(struct ethosu_driver *drv) { drv->free = 1; }
int ethosu_invoke_v3(struct ethosu_driver *drv, const void *data, const int size, uint64_t *const base,
                     const size_t *sizes, const int count, void *user)
{
    (void)drv, (void)data, (void)user, (void)sizes;
    length = size;
    for (int i = 0; i < count; i++) {
        bases[i] = base[i];
    }
    return answer;
}
void cg_npu_clean(void *address, size_t bytes) { (void)address, (void)bytes; }
void cg_npu_invalidate(void *address, size_t bytes) { (void)address, (void)bytes; }
int main(void)
{
    static const uint8_t stream[32], constants[16];
    static uint8_t scratch[64];
    const cg_npu_params params = {stream, 32, constants, 16, 64, 0, 0, 0, 0};
    const int ran = cg_npu_run(&params, 0, scratch, 0);
    const int right = length == 32 && bases[0] == (uintptr_t)constants && bases[1] == (uintptr_t)scratch &&
                      bases[2] == (uintptr_t)scratch && one.free;
    answer = -1;
    const int failed = cg_npu_run(&params, 0, scratch, 0);
    one.free = 0;
    const int busy = cg_npu_run(&params, 0, scratch, 0);
    return ran == CG_OK && right && failed == CG_ERR_NPU_FAULT && busy == CG_ERR_NPU_TIMEOUT ? 0 : 1;
}
"""


def test_the_port_for_arms_driver_calls_its_interface(tmp_path: Path) -> None:
    """Declarations as in ethosu_driver.h of ethos-u-core-driver; what stands behind them is ours."""
    (tmp_path / "ethosu_driver.h").write_text(STUB, encoding="utf-8")
    (tmp_path / "main.c").write_text(CALLER, encoding="utf-8")
    runtime = ROOT / "runtime_c"
    program = tmp_path / "program"
    words = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-DCG_NPU_ETHOS_U_DRIVER", f"-I{tmp_path}"]
    words += [f"-I{runtime / 'include'}", str(runtime / "kernels/portable/npu_run.c")]
    subprocess.run([*words, str(tmp_path / "main.c"), "-o", str(program)], check=True)
    assert subprocess.run([str(program)], check=False).returncode == 0
