"""Sessions of the test link on the firmware itself: what a reset takes with it, what other hosts leave.
Targets that lose power in the middle of an exchange: right results, or exit 6, never wrong ones.
The test firmware built anew for single tests: pools in every memory, registers and caches set up.

Apart from test_target.py, whose firmware waits in a loop for requests as long as tests follow there.
"""

import random
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.board import load_board
from codegen.board.link.exchange import PATIENT, Link, Patience, Splitter, decode
from codegen.board.link.linked_board import LinkedTarget, target_session
from codegen.board.link.protocol import Kind, RunFlags
from codegen.board.machines.qemu import Emulator, running
from codegen.errors import CodegenError, ExitCode
from codegen.ir import Cache, CacheKind, RegisterWrite
from codegen.program.image import Image, RunResult, Trace
from tests.board import probe
from tests.board.probe import run
from tests.board.simulated import SimulatedPort, SimulatedTarget, connect

BOARD = load_board("netduinoplus2")


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return probe.firmware(tmp_path_factory.mktemp("sessions"), BOARD, address=0x6800_0000)


@pytest.mark.qemu
def test_a_reset_in_an_exchange_is_seen(image: Image) -> None:
    """Of the firmware itself: what it has kept is gone, so it refuses to run, and says of each reply whose it
    is. A target was once taken for one that had seen its inputs.

    IDENTIFY is not asked twice: on a busy machine the second one waited in the socket, and began the session
    behind the reset anew. That run was right, for nothing was lost.
    """
    once = replace(PATIENT, identify_seconds=30.0)
    for request in (1, 5, 6, 11):  # of 12: MODEL, KEEP, RUN, READ
        with running(BOARD, image.path) as emulator:
            port = ResetAfter(emulator, request)
            with pytest.raises(CodegenError, match=r"E613\] the target was reset, or lost power"):
                LinkedTarget(Link(port, patience=once), image, BOARD, runner="serial").run(
                    probe.request("none")
                )
            assert port.resets == 1
            again = LinkedTarget(Link(emulator.port), image, BOARD, runner="serial")
            assert again.run(probe.request("none")).cases[0].outputs == (probe.flipped(probe.case("none")),)


@pytest.mark.qemu
@pytest.mark.long
def test_128_resets_in_an_exchange(image: Image) -> None:
    """At random moments of the whole exchange: 20 of 128 such runs gave wrong outputs, E701 or E802."""
    dice, right, seen = random.Random(23), probe.flipped(probe.case("none")), 0
    for _ in range(128):
        with running(BOARD, image.path) as emulator:
            port = ResetAfter(emulator, dice.randrange(1, 24), dice.random() * 0.02)
            try:
                target = LinkedTarget(Link(port), image, BOARD, runner="serial")
                result = target.run(probe.request("none", trace=Trace.RESULTS))
            except CodegenError as error:
                assert error.exit_code is ExitCode.TARGET
                seen += error.messages[0].code == "E613"
            else:
                [case] = result.cases
                assert case.outputs == (right,) and case.guards_intact and case.paints_agree
                assert result.trace[1].result == right
    assert seen > 64


class ResetAfter:
    """The port of an emulator that is reset once, `delay` seconds after a request: the how-manieth behind
    IDENTIFY, repeated ones not counted."""

    def __init__(self, emulator: Emulator, request: int, delay: float = 0.0) -> None:
        self._emulator, self._request, self._delay = emulator, request, delay
        self._seen = set[int]()
        self.resets = 0

    def write(self, data: bytes) -> None:
        self._emulator.port.write(data)
        frames = [decode(piece) for piece in Splitter().feed(data)]
        self._seen |= {each.sequence for each in frames if each and each.kind != Kind.IDENTIFY}
        if len(self._seen) == self._request and not self.resets:
            time.sleep(self._delay)
            self._emulator.reset()
            self.resets += 1

    def read(self, timeout_seconds: float) -> bytes:
        data = self._emulator.port.read(timeout_seconds)
        if self.resets and not data:
            # QEMU's main loop does not look again at a socket whose UART was off, unless something wakes it.
            with self._emulator.memory.stopped():
                pass
        return data


@pytest.mark.qemu
def test_a_run_without_inputs_is_refused(image: Image) -> None:
    """After a boot, or a run that may have written over them: nothing runs on what happens to lie there."""
    with running(BOARD, image.path) as emulator:
        link = Link(emulator.port)
        link.identify()
        for flags in (RunFlags.PLAIN, RunFlags.KEPT | RunFlags.PAINTED):
            with pytest.raises(CodegenError, match=r"E604\] the target refused RUN: NOT_NOW"):
                link.request(Kind.RUN, 0, flags, 0xA5)
        link.request(Kind.WRITE, 0, 0, 0, data=probe.case("none"))
        link.request(Kind.RUN, 0, RunFlags.PLAIN, 0)
        with pytest.raises(CodegenError, match=r"E604\] the target refused RUN: NOT_NOW"):
            link.request(Kind.RUN, 0, RunFlags.PLAIN, 0)


@pytest.mark.qemu
def test_a_new_host_gives_up_what_an_earlier_one_left_paused(image: Image) -> None:
    """A host that was killed in a trace left a board that refused to paint, for ever."""
    with running(BOARD, image.path) as emulator:
        killed = Link(emulator.port)
        killed.identify()
        killed.request(Kind.WRITE, 0, 0, 0, data=probe.case("none"))
        killed.request(Kind.RUN, 0, RunFlags.TRACED, 0)
        with pytest.raises(CodegenError, match=r"PAINT: NOT_NOW"):
            killed.request(Kind.PAINT, 0, 0xA5)
        link = Link(emulator.port)
        link.identify()
        link.request(Kind.PAINT, 0, 0xA5)
        with pytest.raises(CodegenError, match=r"CONTINUE: NOT_NOW"):
            link.request(Kind.CONTINUE)
        with pytest.raises(CodegenError, match=r"E613\] another program took the target over"):
            killed.request(Kind.PAINT, 0, 0xA5)


SEED = 20261122
WANTED = probe.request("none", "top", trace=Trace.RESULTS)
OUTPUTS = [(probe.flipped(probe.case(kind)),) for kind in ("none", "top")]
TRACE = [probe.filled(probe.case("none")), probe.flipped(probe.case("none")), None]


def is_right(result: RunResult) -> bool:
    """Outputs, steps, peaks and guards of `WANTED`."""
    return (
        [case.outputs for case in result.cases] == OUTPUTS
        and [step.result for step in result.trace] == TRACE
        and all(case.pool_peaks == {"sram": probe.PEAK_BYTES} for case in result.cases)
        and all(case.guards_intact and case.paints_agree for case in result.cases)
    )


def outcome(port: SimulatedPort, patience: Patience | None = None) -> str:
    """`right`, `wrong`, or the code of an error of exit 6."""
    try:
        result = connect(port, patience=patience).run(WANTED)
    except CodegenError as error:
        assert error.exit_code is ExitCode.TARGET
        return error.messages[0].code
    return "right" if is_right(result) else "wrong"


def clean_bytes(keeps: bool) -> int:
    """Bytes of a whole run, both ways."""
    port = SimulatedPort(SimulatedTarget(keeps=keeps))
    assert outcome(port) == "right"
    return port.passed


def outcomes(runs: int, *, keeps: bool, forgets: bool = True) -> Counter[str]:
    """What became of runs whose target loses power after a random number of bytes."""
    dice, whole = random.Random(SEED), clean_bytes(keeps)
    found: Counter[str] = Counter()
    for number in range(runs):
        target = SimulatedTarget(keeps=keeps, forgets=forgets, seed=number)
        port = SimulatedPort(target, power=dice.randrange(whole))
        found[outcome(port)] += 1
        assert target.resets == 1
    return found


@pytest.mark.parametrize("keeps", [True, False], ids=["kept", "written"])
def test_a_target_that_loses_power_gives_no_wrong_results(keeps: bool) -> None:
    """20 of 128 such runs once gave wrong outputs or blamed the plan: the host did not see the reset."""
    found = outcomes(100, keeps=keeps)
    assert not found["wrong"] and set(found) <= {"right", "E613"}
    assert found["E613"] > 80  # those that are right were reset before anything was sent to them


def test_without_the_session_such_runs_are_wrong() -> None:
    """The test above can fail: a reset that left the session as it is would not be seen."""
    assert outcomes(60, keeps=False, forgets=False)["wrong"] > 5


@pytest.mark.long
@pytest.mark.parametrize("keeps", [True, False], ids=["kept", "written"])
def test_two_thousand_power_failures(keeps: bool) -> None:
    found = outcomes(2000, keeps=keeps)
    assert not found["wrong"] and set(found) <= {"right", "E613"}


def spoiled_outcomes(runs: int) -> Counter[str]:
    """Runs over a link that changes, loses and adds bytes, each second to a target that loses power, too."""
    found: Counter[str] = Counter()
    whole = clean_bytes(keeps=False)
    for number in range(runs):
        dice = random.Random(SEED + number)
        mean = dice.randrange(100, 3000)

        def spoil(data: bytes, dice: random.Random = dice, mean: int = mean) -> bytes:
            kept = bytearray()
            for byte in data:
                kind = dice.randrange(3 * mean)
                kept += b"" if kind == 0 else bytes([byte ^ dice.randrange(1, 256) if kind == 1 else byte])
                kept += dice.randbytes(1) if kind == 2 else b""
            return bytes(kept)

        power = dice.randrange(whole) if number % 2 else None
        port = SimulatedPort(SimulatedTarget(keeps=number % 4 < 2, seed=number), power=power, spoil=spoil)
        found[outcome(port, Patience(tries=40, run_seconds=60.0))] += 1
    return found


def test_a_faulty_link_gives_no_wrong_results() -> None:
    found = spoiled_outcomes(20)
    assert not found["wrong"] and found["right"] >= 5 and found["E613"] >= 5


@pytest.mark.long
def test_three_hundred_runs_over_a_faulty_link() -> None:
    found = spoiled_outcomes(300)
    assert not found["wrong"] and found["right"] >= 75 and found["E613"] >= 75


def test_the_text_of_a_reset() -> None:
    port = SimulatedPort(SimulatedTarget(keeps=False), power=clean_bytes(keeps=False) // 2)
    with pytest.raises(CodegenError) as raised:
        connect(port).run(WANTED)
    text = str(raised.value)
    assert text.startswith("error[E613] the target was reset, or lost power, in the middle of the exchange (")
    assert text.endswith(
        "inputs and results of this run are lost\n"
        "help: look at its supply, its reset line and a watchdog that nobody serves, then run again"
    )


def test_another_program_on_the_port_is_seen() -> None:
    """Two hosts that take turns would each run on the other's inputs."""
    port = SimulatedPort(SimulatedTarget())
    first = connect(port)
    assert is_right(connect(port).run(WANTED))
    with pytest.raises(CodegenError, match=r"E613\] another program took the target over \(MODEL\)"):
        first.run(WANTED)


NOT_THERE = 0x6800_0000


@pytest.mark.qemu
@pytest.mark.parametrize(
    ("name", "pool"),
    [
        ("mps2-an386", "psram"),
        ("mps2-an500", "psram"),
        *(("mps2-an505", pool) for pool in ("ssram3", "internal", "psram")),
        *(("mps2-an521", pool) for pool in ("ssram3", "internal", "psram")),
        *(("mps3-an547", pool) for pool in ("sram", "bram", "ddr")),
    ],
)
@pytest.mark.sampled(2)
def test_pools_outside_the_data_region(name: str, pool: str, tmp_path: Path) -> None:
    board = load_board(name)
    image = probe.firmware(tmp_path, board, address=NOT_THERE, pool=pool)
    with target_session(image, board) as target:
        case, behind = target.run(probe.request("none", "behind", pool=pool)).cases
        assert case.pool_peaks == {pool: probe.PEAK_BYTES} and case.guards_intact and not behind.guards_intact
        with pytest.raises(CodegenError, match=r"E620\] step 1 flip: .*memory that is closed"):
            target.run(probe.request("near", pool=pool))


@pytest.mark.qemu
@pytest.mark.parametrize("name", ["mps2-an500", "mps3-an547"])
def test_registers_and_caches_are_set_up_before_anything_else(name: str, tmp_path: Path) -> None:
    """QEMU has no caches: this shows that turning them on runs to its end, and that the firmware still works.
    The last word of RAM is a register here: without the write, the wait that follows never ends."""
    board = load_board(name)
    word = board.region(board.data_region).end - 4
    board = replace(
        board,
        caches=(
            Cache(kind=CacheKind.INSTRUCTION, size_bytes=16384, line_bytes=32),
            Cache(kind=CacheKind.DATA, size_bytes=16384, line_bytes=32),
        ),
        setup=(
            RegisterWrite(address=word, clear=0xFFFF_FFFF, set=0x8000_0080, why="both bits"),
            RegisterWrite(address=word, clear=0x8000_0000, why="one left"),
            RegisterWrite(address=word, wait=0x80, why="it stayed"),
        ),
    )
    image = probe.firmware(tmp_path, board, address=NOT_THERE)
    pool = board.region(board.data_region).pool_name
    result = run(image, board, probe.request("none", pool=pool))
    assert result.cases[0].outputs == (probe.flipped(probe.case("none")),)
    assert result.cases[0].pool_peaks == {pool: probe.PEAK_BYTES}
