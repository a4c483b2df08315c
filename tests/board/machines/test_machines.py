"""Running in process: outputs, peaks, guards, traces of a hand-written model; then with poisoned pools.
QEMU as a child process: it never outlives us.
The debugger connection: what goes over the wire, torn replies, refusals, a stub that is gone.
"""

import dataclasses
import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from codegen.board import load_board, session
from codegen.board.catalog.boards import boards
from codegen.board.link.exchange import Link
from codegen.board.link.linked_board import LinkedTarget
from codegen.board.machines.host import MemoryFault, run_host, run_poisoned
from codegen.board.machines.qemu import Debugger, running
from codegen.errors import CodegenError, ExitCode
from codegen.ir import Runner
from codegen.program.image import Image, RunResult, Trace
from codegen.toolchain import build
from tests.board import probe
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
        run_host(image, BOARD, fake_model.asking(request, sha256="0" * 64))
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
    [{"number": 1}, {"output_sizes": (9,)}, {"pools": ("ccm",)}, {"cases": ((bytes(15),),)}],
    ids=lambda change: next(iter(change)),
)
def test_a_request_that_does_not_fit_is_a_bug(image: Image, change: dict[str, object]) -> None:
    request = fake_model.asking(fake_model.request(CASES[0]), **change)
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


_OPENS = """\
import sys, time
from pathlib import Path
from codegen.board import load_board, session
from codegen.board.machines.qemu import running
with running(load_board("mps2-an386"), Path(sys.argv[1])):
    print("running", flush=True)
    time.sleep(60)
"""


def _emulators_of(image: Path) -> list[int]:
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"qemu-system-" in line[0] and str(image).encode() in line:
                found.append(int(entry.name))
    return found


@pytest.mark.qemu
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv (util-linux) is not installed")
def test_qemu_ends_with_a_killed_test_run(tmp_path: Path) -> None:
    """Killed runs once left emulators behind, which kept both cores busy until somebody noticed."""
    image = probe.firmware(tmp_path, load_board("mps2-an386"), address=0x6800_0000).path
    child = subprocess.Popen([sys.executable, "-c", _OPENS, str(image)], stdout=subprocess.PIPE)
    assert child.stdout is not None and child.stdout.readline() == b"running\n"
    assert len(_emulators_of(image)) == 1
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    deadline = time.monotonic() + 60.0
    while _emulators_of(image) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _emulators_of(image) == []


def _sleeps(pid: int) -> bool:
    """No thread of the process wants a core, at ten looks one after the other: one that spins always does."""
    deadline, quiet = time.monotonic() + 60.0, 0
    while quiet < 10:
        if time.monotonic() > deadline:
            return False
        stats = (path.read_text() for path in Path("/proc", str(pid), "task").glob("*/stat"))
        quiet = 0 if any(stat.rsplit(")", 1)[1].split()[0] == "R" for stat in stats) else quiet + 1
        time.sleep(0.005)
    return True


EMULATED = [board.name for board in boards() if board.runner is Runner.QEMU]


@pytest.mark.qemu
@pytest.mark.parametrize("name", EMULATED)
@pytest.mark.sampled(3)
def test_firmware_sleeps_while_nobody_asks(name: str, tmp_path: Path) -> None:
    """Firmware that waited for a request spun, and QEMU took half of the suite's second core from the process
    that it waited for; then QEMU was stopped by signals, and a request cost five times what it does now. Runs
    after a sleep are what they were before it."""
    board = load_board(name)
    image = probe.firmware(tmp_path, board, address=0x6800_0000)
    request = probe.request("none", pool=board.region(board.data_region).pool_name)
    with session(image, board) as target:
        (emulator,) = _emulators_of(image.path)
        results: list[RunResult] = []
        for _ in range(2):
            assert _sleeps(emulator)
            results.append(target.run(request))
        assert _sleeps(emulator)
    cases = [result.cases[0] for result in results]
    assert all(case.outputs == (probe.flipped(probe.case("none")),) for case in cases)
    first, second = (case.instructions or 0 for case in cases)
    tick = math.ceil(cases[0].counter_resolution or 0)
    assert abs(first - second) <= tick < first  # it slept 0 instructions long


def _packet(body: bytes) -> bytes:
    return b"$%s#%02x" % (body, sum(body) & 0xFF)


class Stub:
    """Answers a debugger as QEMU's stub does: one reply to an interrupt and to each packet."""

    def __init__(self, replies: list[bytes], *, torn: bool = False) -> None:
        self.packets: list[bytes] = []
        self._replies, self._torn = list(replies), torn
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        connection, _ = self._listener.accept()
        received = b""
        with connection:
            while more := connection.recv(4096):
                received += more
                while found := self._next(received):
                    packet, received = found
                    self.packets.append(packet)
                    if packet == b"c":
                        continue
                    if not self._replies:
                        return
                    self._answer(connection, self._replies.pop(0))

    @staticmethod
    def _next(received: bytes) -> tuple[bytes, bytes] | None:
        received = received.lstrip(b"+")
        if received[:1] == b"\x03":
            return b"\x03", received[1:]
        end = received.find(b"#")
        if end < 0 or len(received) < end + 3:
            return None
        body = received[1:end]
        assert received[: end + 3] == _packet(body)
        return body, received[end + 3 :]

    def _answer(self, connection: socket.socket, reply: bytes) -> None:
        data = b"+" + _packet(reply)
        for part in [data[i : i + 1] for i in range(len(data))] if self._torn else [data]:
            connection.sendall(part)

    def close(self) -> None:
        self._thread.join()
        self._listener.close()


@contextmanager
def stub(*replies: bytes, torn: bool = False) -> Generator[tuple[Stub, Debugger]]:
    served = Stub([b"T02thread:01;", *replies], torn=torn)
    debugger = Debugger("127.0.0.1", served.port, name="QEMU (board)")
    try:
        yield served, debugger
    finally:
        debugger.close()
        served.close()


@pytest.mark.parametrize("torn", [False, True])
def test_memory_is_written_in_packets_while_the_machine_stands(torn: bool) -> None:
    data = bytes(range(256)) * 7
    with stub(b"T02thread:01;", b"OK", b"OK", torn=torn) as (served, debugger):
        debugger.write(0x2000_0000, data)
    assert served.packets == [
        b"?",
        b"\x03",
        b"M20000000,600:" + data[:1536].hex().encode(),
        b"M20000600,100:" + data[1536:].hex().encode(),
        b"c",
    ]


def test_memory_is_read_in_packets_while_the_machine_stands() -> None:
    data = bytes(range(256)) * 7
    answers = (data[:1536].hex().encode(), data[1536:].hex().encode())
    with stub(b"T02thread:01;", *answers) as (served, debugger):
        assert debugger.read(0x2000_0000, len(data)) == data
    assert served.packets == [b"?", b"\x03", b"m20000000,600", b"m20000600,100", b"c"]


def test_a_refused_packet_and_a_stub_that_leaves_are_errors() -> None:
    with stub(b"T02thread:01;", b"E14") as (_, debugger), pytest.raises(CodegenError) as refused:
        debugger.write(0, b"x")
    assert str(refused.value.messages[0]) == (
        "error[E601] QEMU (board): its debugger stub failed: it answered b'E14' where b'OK' was due\n"
        "help: see `codegen doctor`"
    )
    with (
        stub(b"T02thread:01;") as (_, debugger),
        pytest.raises(CodegenError, match=r"E601.*it closed the connection"),
    ):
        debugger.write(0, b"x")


@pytest.mark.qemu
@pytest.mark.parametrize("name", ["mps2-an386", "mps2-an505", "netduinoplus2", "microbit", "lm3s6965evb"])
@pytest.mark.sampled(2)
def test_bytes_past_the_link_are_those_through_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same runs, instructions included: stopping the machine in between moves no count."""
    monkeypatch.setattr("codegen.board.link.linked_model._SHORT_BYTES", 0)
    board = load_board(name)
    image = probe.firmware(tmp_path, board, address=0x6800_0000)
    pool = board.region(board.data_region).pool_name
    wanted = probe.request("none", "none", pool=pool)
    with running(board, image.path) as emulator:
        first, second, third = (
            LinkedTarget(Link(emulator.port), image, board, runner="qemu", memory=memory).run(wanted)
            for memory in (None, emulator.memory, None)
        )
    assert [case.outputs for case in first.cases] == [case.outputs for case in second.cases]
    for one, other in zip(first.cases * 2, second.cases + third.cases, strict=True):
        assert one.pool_peaks == other.pool_peaks and one.guards_intact == other.guards_intact
        assert one.instructions is not None and other.instructions is not None
        assert one.counter_resolution is not None
        # Ticks of 62.5 instructions are told as whole numbers: two neighbours are 62 or 63 apart.
        assert abs(one.instructions - other.instructions) <= math.ceil(one.counter_resolution)
