"""The test firmware on QEMU, every board: what it measures, catches and survives."""

import random
import socket
import subprocess
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest

from codegen.board import boards, load_board
from codegen.board.link.exchange import Link, Patience
from codegen.board.link.linked_board import LinkedTarget, target_session
from codegen.board.machines.ports import SocketPort
from codegen.board.machines.qemu import running
from codegen.errors import CodegenError, ExitCode, Message
from codegen.ir import Board, Runner
from codegen.program.image import BenchModel, Image, RunRequest, RunResult, Trace
from tests.board import probe
from tests.board.probe import run
from tests.toolchain import fake_model

pytestmark = pytest.mark.qemu
NAMES = [
    *{board.qemu_machine: board.name for board in reversed(boards()) if board.runner is Runner.QEMU}.values()
]
"""Of each machine one board."""
RARER = ("lm3s6965evb", "mps2-an386", "mps2-an521", "stm32vldiscovery")
"""Others have the same core."""
NOT_THERE = 0x6800_0000
HURRIED = Patience(answer_seconds=0.5, tries=40, run_seconds=30.0)
LEAST_FREE_LINK_STACK_BYTES = 32


@dataclass(frozen=True)
class Bench:
    board: Board
    image: Image
    target: LinkedTarget

    def request(self, *kinds: str, model: int = 0, trace: Trace = Trace.NONE) -> RunRequest:
        pool = self.board.region(self.board.data_region).pool_name
        return probe.request(*kinds, model=model, trace=trace, pool=pool)

    def error(self, kind: str) -> CodegenError:
        with pytest.raises(CodegenError) as raised:
            self.target.run(self.request(kind))
        assert raised.value.exit_code is ExitCode.TARGET
        return raised.value


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=[pytest.mark.thorough] * (name in RARER)) for name in NAMES],
)
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[Bench]:
    """One boot serves all tests of a board: faults included, which the link must survive."""
    board = load_board(request.param)
    image = probe.firmware(tmp_path_factory.mktemp(board.name), board, address=NOT_THERE)
    with target_session(image, board) as target:
        yield Bench(board, image, target)


@pytest.mark.sampled(5)
def test_outputs_peaks_and_guards(bench: Bench) -> None:
    result = bench.target.run(bench.request("none", "none"))
    pool = bench.board.region(bench.board.data_region).pool_name
    assert result.runner == "qemu" and len(result.cases) == 2
    for case in result.cases:
        assert case.outputs == (probe.flipped(probe.case("none")),)
        assert case.pool_peaks == {pool: probe.PEAK_BYTES}
        assert case.guards_intact and case.paints_agree and case.cycles is None


def test_the_stack_is_measured_to_the_byte(bench: Bench) -> None:
    case = bench.target.run(bench.request(model=1)).cases[0]
    assert case.stack_peak_bytes == probe.STACK_BYTES


def test_instructions_are_counted(bench: Bench) -> None:
    """Within two ticks of the counter and the few instructions around the loop."""
    case = bench.target.run(bench.request(model=2)).cases[0]
    assert case.instructions is not None and case.counter_resolution is not None
    assert abs(case.instructions - probe.LOOP_INSTRUCTIONS) <= 2 * case.counter_resolution + 4


def test_a_trace_holds_every_steps_result(bench: Bench) -> None:
    result = bench.target.run(bench.request("none", trace=Trace.RESULTS))
    data = probe.case("none")
    assert [step.result for step in result.trace] == [probe.filled(data), probe.flipped(data), None]
    counted = [step.instructions for step in result.trace]
    total = result.cases[0].instructions
    assert counted[2] is None and counted[0] and counted[1] and total and result.cases[0].counter_resolution
    assert abs(counted[0] + counted[1] - total) <= 4 * result.cases[0].counter_resolution + 40


def test_a_trace_is_of_the_first_case(bench: Bench) -> None:
    """It once ran on the inputs that the target had kept last, those of the last case."""
    result = bench.target.run(bench.request("top", "none", trace=Trace.RESULTS))
    data = probe.case("top")
    assert [step.result for step in result.trace] == [probe.filled(data), probe.flipped(data), None]


def test_a_trace_of_the_cost_reads_no_results(bench: Bench) -> None:
    full, short = (
        bench.target.run(bench.request("none", trace=each)) for each in (Trace.RESULTS, Trace.COST)
    )
    assert [step.result for step in short.trace] == [None, None, None]
    assert [step.step for step in short.trace] == [0, 1, 2]
    for one, other in zip(full.trace, short.trace, strict=True):
        assert (one.instructions is None) == (other.instructions is None)


@pytest.mark.parametrize("kind", ["behind", "front"])
def test_writes_beside_a_pool_are_seen(bench: Bench, kind: str) -> None:
    assert not bench.target.run(bench.request(kind)).cases[0].guards_intact


def test_writes_above_the_planned_peak_are_seen(bench: Bench) -> None:
    case = bench.target.run(bench.request("top")).cases[0]
    assert list(case.pool_peaks.values()) == [probe.POOL_BYTES] and case.guards_intact


def test_reading_what_nobody_wrote_makes_the_paints_disagree(bench: Bench) -> None:
    assert not bench.target.run(bench.request("stale")).cases[0].paints_agree


@pytest.mark.parametrize("kind", ["far", "null", "code", "overflow", "undefined", "near", "divide"])
def test_faults_are_told_with_their_step(bench: Bench, kind: str) -> None:
    if bench.board.mpu is None and kind in ("near", "divide"):
        pytest.skip("this core has neither memory protection nor division")
    if kind == "divide" and not bench.board.target.cpu.startswith("cortex"):
        pytest.skip("a quotient by zero is -1 on this core")
    text = str(bench.error(kind))
    assert text.startswith("error[E620] step 1 flip: the target faulted: ")
    reasons = {
        "undefined": "undefined instruction",
        "divide": "division by zero",
        "overflow": "stack overflow",
    }
    if bench.board.mpu is not None:
        assert reasons.get(kind, "memory that is closed") in text
    assert kind == "overflow" or "(run_pattern)" in text
    after = bench.target.run(bench.request("none")).cases[0]
    assert after.outputs == (probe.flipped(probe.case("none")),) and after.guards_intact


def test_a_status_is_an_error(bench: Bench) -> None:
    assert "E611] the entry function returned status 1" in str(bench.error("status"))


def test_firmware_of_another_model(bench: Bench) -> None:
    with pytest.raises(CodegenError) as raised:
        bench.target.run(fake_model.asking(bench.request("none"), sha256="0" * 64))
    assert "error[E610] the firmware was built from another model file" in str(raised.value)


@pytest.mark.parametrize(
    "change",
    [{"number": 9}, {"output_sizes": (9,)}, {"pools": ("other",)}, {"cases": ((bytes(15),),)}],
    ids=lambda change: next(iter(change)),
)
def test_a_request_that_does_not_fit_is_a_bug(bench: Bench, change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="the image"):
        bench.target.run(fake_model.asking(bench.request("none"), **change))


def test_the_firmware_fits_what_the_board_file_reserves(bench: Bench) -> None:
    """Stack, link, data, bss and guard bands at their widest, beside a pool that is a multiple of 16."""
    pool = bench.board.region(bench.board.data_region)
    start = bench.image.symbols[f"pattern_{pool.pool_name}_pool"][0] - pool.address
    assert start + 63 <= bench.board.reserved_bytes


class Noisy:
    """A port that spoils one byte in `mean`, both ways."""

    def __init__(self, port: SocketPort, mean: int) -> None:
        self.spoiled = 0
        self._port = port
        self._mean = mean
        self._dice = random.Random(7)

    def _spoil(self, data: bytes) -> bytes:
        kept = bytearray()
        for byte in data:
            kind = self._dice.randrange(2 * self._mean)
            self.spoiled += kind < 2
            if kind != 0:
                kept.append(byte ^ self._dice.randrange(1, 256) if kind == 1 else byte)
        return bytes(kept)

    def write(self, data: bytes) -> None:
        self._port.write(self._spoil(data))

    def read(self, timeout_seconds: float) -> bytes:
        return self._spoil(self._port.read(timeout_seconds))


def without_counts(result: RunResult) -> RunResult:
    """A coarse counter's ticks fall where they fall."""
    cases = tuple(replace(case, instructions=None) for case in result.cases)
    return replace(
        result, cases=cases, trace=tuple(replace(step, instructions=None) for step in result.trace)
    )


@pytest.mark.parametrize("bench", ["netduinoplus2", "mps2-an386"], indirect=True)
def test_spoiled_bytes_change_nothing(bench: Bench) -> None:
    with running(bench.board, bench.image.path) as emulator:
        noisy = Noisy(emulator.port, mean=400)
        target = LinkedTarget(Link(noisy, patience=HURRIED), bench.image, bench.board, runner="qemu")
        quiet, spoiled = (
            each.run(bench.request("none", trace=Trace.RESULTS)) for each in (bench.target, target)
        )
        assert without_counts(spoiled) == without_counts(quiet)
        assert noisy.spoiled > 3


@pytest.mark.parametrize("bench", ["netduinoplus2"], indirect=True)
def test_an_inference_without_end(bench: Bench) -> None:
    hurried = replace(HURRIED, run_seconds=1.0)
    with (
        target_session(bench.image, bench.board, patience=hurried) as target,
        pytest.raises(CodegenError, match=r"E602\] the inference did not end within 1 s"),
    ):
        target.run(bench.request("endless"))


@pytest.mark.parametrize("bench", ["netduinoplus2"], indirect=True)
def test_the_hole_of_the_emulator_is_closed(bench: Bench) -> None:
    assert "at address 0x2002fffc" in str(bench.error("hole"))


@pytest.mark.parametrize("bench", ["netduinoplus2"], indirect=True)
def test_through_a_port_as_on_a_real_board(bench: Bench) -> None:
    """A TCP port in front of QEMU's stands for the serial port."""
    with running(bench.board, bench.image.path) as emulator, forwarding(emulator.port) as url:
        result = run(bench.image, bench.board, bench.request("none"), port=url)
    assert result.runner == "serial"
    assert result.cases[0].outputs == (probe.flipped(probe.case("none")),)
    assert result.cases[0].instructions is None and result.cases[0].cycles is not None


class forwarding:
    """Forwards a socket's bytes to a port and back until the block ends."""

    def __init__(self, port: SocketPort) -> None:
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._forward)

    def __enter__(self) -> str:
        self._thread.start()
        return f"socket://127.0.0.1:{self._listener.getsockname()[1]}"

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self._listener.close()

    def _forward(self) -> None:
        peer, _ = self._listener.accept()
        with peer:
            peer.settimeout(0.001)
            while not self._done.is_set():
                try:
                    self._port.write(peer.recv(4096))
                except TimeoutError:
                    peer.sendall(self._port.read(0.001))
                except OSError:
                    return


def code_of(action: Callable[[], object]) -> str:
    with pytest.raises(CodegenError) as raised:
        action()
    assert raised.value.exit_code is ExitCode.TARGET
    return str(raised.value)


@pytest.mark.parametrize("bench", ["netduinoplus2"], indirect=True)
def test_a_port_where_nobody_answers(bench: Bench) -> None:
    hurried = replace(HURRIED, identify_seconds=0.02)

    def asked(url: str) -> None:
        with target_session(bench.image, bench.board, port=url, patience=hurried):
            pass

    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"socket://127.0.0.1:{listener.getsockname()[1]}"
        text = code_of(lambda: asked(url))
    assert "E602] the target does not answer" in text


@pytest.mark.parametrize("bench", ["netduinoplus2"], indirect=True)
def test_qemu_that_dies_is_quoted(bench: Bench, tmp_path: Path) -> None:
    board = replace(bench.board, qemu_machine="no-such-machine")
    assert "E605] netduinoplus2: QEMU failed: qemu-system-arm: unsupported machine type" in code_of(
        lambda: run(bench.image, board, bench.request("none"))
    )


@pytest.mark.parametrize("bench", ["netduinoplus2"], indirect=True)
def test_an_error_while_qemu_runs_is_raised_as_it_is(bench: Bench) -> None:
    """It was raised from itself: whoever followed its causes went round in a circle."""
    mistake = CodegenError(Message(code="E602", text="nobody answers", help="ask again"))
    with pytest.raises(CodegenError) as raised, running(bench.board, bench.image.path):
        raise mistake
    assert raised.value is mistake and mistake.__cause__ is None


@pytest.mark.parametrize("bench", ["netduinoplus2"], indirect=True)
def test_a_signal_that_ended_qemu_is_named(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was told as a firmware that locked the core up, without a word of the signal."""
    children: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def started(*words: Any, **settings: Any) -> "subprocess.Popen[bytes]":
        children.append(cast("subprocess.Popen[bytes]", start(*words, **settings)))
        return children[-1]

    def killed() -> None:
        monkeypatch.setattr(subprocess, "Popen", started)
        with running(bench.board, bench.image.path) as emulator:
            children[-1].kill()
            emulator.memory.write(0x2000_0000, b"1234")

    assert "E605] netduinoplus2: QEMU failed: SIGKILL ended it" in code_of(killed)


@pytest.mark.parametrize("bench", ["netduinoplus2"], indirect=True)
def test_a_counter_that_is_not_as_stated(bench: Bench) -> None:
    assert bench.board.counter is not None
    board = replace(bench.board, counter=replace(bench.board.counter, instructions_per_tick=2.0))
    assert (
        "E606] netduinoplus2: the counter ticks every 1.000 instructions, the board file says 2.000"
        in code_of(lambda: run(bench.image, board, bench.request("none")))
    )


@pytest.mark.parametrize("bench", ["netduinoplus2"], indirect=True)
def test_firmware_of_another_board(bench: Bench) -> None:
    board = replace(bench.board, name="other")
    assert (
        "E607] the firmware does not fit this program: it was built for board netduinoplus2, not for other"
        in code_of(lambda: run(bench.image, board, bench.request("none")))
    )


def test_the_host_has_no_port(tmp_path: Path) -> None:
    host = load_board("host")
    image = Image(path=tmp_path, sizes=None, symbols={}, sections={}, build_sha256="")  # type: ignore[arg-type]
    assert "E608] board host runs in this process" in code_of(
        lambda: run(image, host, probe.request("none"), port="x")
    )


@pytest.mark.parametrize("bench", ["netduinoplus2"], indirect=True)
def test_a_fault_of_the_firmware_itself_is_told(bench: Bench) -> None:
    """The link copies the input of `broken` to where nothing is; afterwards it answers nothing else."""
    request = RunRequest(
        model=BenchModel(
            number=3, sha256=probe.DIGEST.hex(), output_sizes=(), pools=("sram",), step_sizes=()
        ),
        cases=((bytes(16),),),
    )
    with target_session(bench.image, bench.board) as target:
        for _ in range(2):
            text = code_of(lambda: target.run(request))
            assert text.startswith("error[E621] the test firmware faulted outside the model: BusFault: ")
            assert "at address 0x68000000" in text or "late" in text


def test_zz_the_links_stack_was_large_enough(bench: Bench) -> None:
    """Last of a board's tests: the deepest use of all of them."""
    with target_session(bench.image, bench.board) as target:
        target.run(bench.request("none", trace=Trace.RESULTS))
        with pytest.raises(CodegenError):
            target.run(bench.request("far"))
        free = target.identify_again().free_link_stack_bytes
    assert free >= LEAST_FREE_LINK_STACK_BYTES
