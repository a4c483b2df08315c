"""Sessions of the test link on the firmware itself: what a reset takes with it, what other hosts leave."""

import random
import time

import pytest

from codegen.board import load_board
from codegen.board.link.exchange import Link, Splitter, decode
from codegen.board.link.linked_board import Target
from codegen.board.link.protocol import Kind, RunFlags
from codegen.board.machines.qemu import Emulator, running
from codegen.errors import CodegenError, ExitCode
from codegen.program.image import Image, Trace
from tests.board import probe

pytestmark = pytest.mark.qemu
BOARD = load_board("netduinoplus2")


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return probe.firmware(tmp_path_factory.mktemp("sessions"), BOARD, address=0x6800_0000)


def test_a_reset_in_an_exchange_is_seen(image: Image) -> None:
    """Of the firmware itself: what it has kept is gone, so it refuses to run, and says of each reply whose it
    is. A target was once taken for one that had seen its inputs."""
    for request in (1, 5, 6, 11):  # of 12: MODEL, KEEP, RUN, READ
        with running(BOARD, image.path) as emulator:
            port = ResetAfter(emulator, request)
            with pytest.raises(CodegenError, match=r"E613\] the target was reset, or lost power"):
                Target(Link(port), image, BOARD, runner="serial").run(probe.request("none"))
            assert port.resets == 1
            again = Target(Link(emulator.port), image, BOARD, runner="serial")
            assert again.run(probe.request("none")).cases[0].outputs == (probe.flipped(probe.case("none")),)


@pytest.mark.long
def test_128_resets_in_an_exchange(image: Image) -> None:
    """At random moments of the whole exchange: 20 of 128 such runs gave wrong outputs, E701 or E802."""
    dice, right, seen = random.Random(23), probe.flipped(probe.case("none")), 0
    for _ in range(128):
        with running(BOARD, image.path) as emulator:
            port = ResetAfter(emulator, dice.randrange(1, 24), dice.random() * 0.02)
            try:
                target = Target(Link(port), image, BOARD, runner="serial")
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
        return self._emulator.port.read(timeout_seconds)


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
