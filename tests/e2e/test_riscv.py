"""Small networks on RV32 cores of QEMU: an engine's outputs, peaks as planned, steps sandboxed."""

from pathlib import Path

import pytest

from codegen import resources
from codegen.driver.options import Options
from codegen.driver.run import RunConditions, complaints, execute
from tests.e2e.models import build_model, golden_cases

pytestmark = pytest.mark.qemu


@pytest.mark.parametrize(
    ("key", "board"),
    [
        ("separable_1d", "qemu-virt-rv32"),
        ("speech", "qemu-virt-rv32b"),
        ("dense_chain_float", "qemu-virt-rv32f"),
        ("speech", "qemu-virt-rv32v"),
        ("dense_chain", "hifive1"),
    ],
)
@pytest.mark.sampled(2)
def test_outputs_peaks_and_stack(key: str, board: str, tmp_path: Path) -> None:
    built = build_model(key, Options(board=board), tmp_path / "build")
    cases = golden_cases(key)[:2]
    measured = execute(built, cases)
    bound = built.image.sizes.stack_bound_bytes
    assert complaints(built.models[0], cases, measured, bound) == []
    assert all(0 < (case.stack_peak_bytes or 0) <= (bound or 0) for case in measured.result.cases)


@pytest.mark.parametrize("bits", [64, 256])
def test_vectors_of_other_lengths(bits: int, tmp_path: Path) -> None:
    """One binary serves vectors of any length; kernels were measured with 128 bits."""
    text = (resources.folder("boards") / "qemu-virt-rv32v.toml").read_text(encoding="utf-8")
    assert text.count('"zvl128b"') == 1
    board = tmp_path / "vectors.toml"
    board.write_text(text.replace('"zvl128b"', f'"zvl{bits}b"'), encoding="utf-8")
    built = build_model("speech", Options(board=str(board)), tmp_path / "build")
    cases = golden_cases("speech")[:1]
    bound = built.image.sizes.stack_bound_bytes
    assert complaints(built.models[0], cases, execute(built, cases), bound) == []


def test_every_step_stays_within_its_buffers(tmp_path: Path) -> None:
    built = build_model("speech", Options(board="qemu-virt-rv32", sandbox=True), tmp_path / "build")
    cases = golden_cases("speech")[:1]
    measured = execute(built, cases, RunConditions(sandboxed=True))
    assert complaints(built.models[0], cases, measured, built.image.sizes.stack_bound_bytes) == []


def test_constants_lie_where_the_data_bus_reads_the_flash(tmp_path: Path) -> None:
    """An ESP32-C3 sees one flash at two addresses: weights are read at the data bus's, code is fetched at the
    other."""
    built = build_model("speech", Options(board="esp32-c3"), tmp_path / "build")
    data, code = (built.board.region(name) for name in ("DROM", "IROM"))
    [pool] = built.models[0].program.constants.pools
    address, size_bytes = built.image.symbols["speech_drom_pool"][:2]
    assert pool.region == "DROM" and size_bytes == pool.size_bytes > 0
    assert data.address <= address and address + size_bytes <= data.address + data.size_bytes
    assert code.address <= built.image.symbols["speech_run"][0] < code.address + code.size_bytes
