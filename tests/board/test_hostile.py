"""Whatever answers on a port: no traceback, no loop without end, no word of it on a terminal as it came.

Payloads of 0, 8 and 12 bytes, no models, 2^32-1 inputs (over 110,000 requests), wrong sizes and escape
characters in names once gave tracebacks, never ended, or reached the terminal.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest

from codegen.board.link.exchange import Frame, Patience, encode
from codegen.board.link.protocol import VERSION, Kind, RunState, words
from codegen.errors import CodegenError, ExitCode
from codegen.program.image import RunResult, Trace
from tests.board import probe
from tests.board.simulated import BOARD, BUILD, Mutation, SimulatedPort, SimulatedTarget, connect

WANTED = probe.request("none", trace=Trace.RESULTS)
ODD = (0, 1, 8, 12, 1 << 15, (1 << 31) - 1, (1 << 32) - 1)
FIELDS = {Kind.IDENTIFY: 9, Kind.MODEL: 5, Kind.ENTRY: 3, Kind.RUN: 5, Kind.CONTINUE: 5, Kind.MARKS: 4}
"""Words at the start of each reply."""
MOST_REQUESTS = 300
HURRIED = Patience(answer_seconds=0.1, tries=3, identify_tries=3, run_seconds=2.0)


def told(mutation: Mutation, patience: Patience = HURRIED) -> RunResult | str:
    """What a run gave, or the text of an error of exit 6; either way after few requests and little time."""
    target = SimulatedTarget(mutation=mutation)
    port = SimulatedPort(target)
    try:
        return connect(port, patience=patience).run(WANTED)
    except CodegenError as error:
        assert error.exit_code is ExitCode.TARGET
        text = str(error)
        assert all(" " <= character <= "~" or character == "\n" for character in text), ascii(text)
        return text
    finally:
        assert target.requests <= MOST_REQUESTS and port.now < 60


def changed(kind: Kind, change: Callable[[bytes], bytes]) -> Mutation:
    """Every reply of a kind with another payload."""

    def mutation(request: Frame, reply: Frame) -> Frame:
        return replace(reply, payload=change(reply.payload)) if request.kind == kind else reply

    return mutation


def with_word(index: int, value: int) -> Callable[[bytes], bytes]:
    return lambda payload: payload[: 4 * index] + words(value) + payload[4 * index + 4 :]


def test_the_simulated_target_is_sound_when_left_alone() -> None:
    assert isinstance(told(lambda request, reply: reply), RunResult)


@pytest.mark.parametrize("kind", FIELDS, ids=lambda kind: kind.name)
def test_every_number_of_every_reply(kind: Kind) -> None:
    found = [told(changed(kind, with_word(i, value))) for i in range(FIELDS[kind]) for value in ODD]
    refused = [each for each in found if isinstance(each, str)]
    assert len(refused) >= len(ODD)


@pytest.mark.parametrize("kind", [*FIELDS, Kind.READ, Kind.PAINT, Kind.KEEP], ids=lambda kind: kind.name)
def test_replies_that_are_too_short_or_too_long(kind: Kind) -> None:
    for size in (0, 1, 3, 4, 7, 8, 19, 20, 35, 36, 51, 52):
        told(changed(kind, lambda payload, size=size: payload[:size]))
    for more in (1, 4, 100, 10_000):
        found = told(changed(kind, lambda payload, more=more: payload + bytes(more)))
        assert isinstance(found, str) or kind in (Kind.PAINT, Kind.KEEP, Kind.ENTRY, Kind.IDENTIFY)


@pytest.mark.parametrize(
    ("index", "value", "text"),
    [
        (2, 0, "IDENTIFY: models is 0, not 1 to 1,024"),
        (3, 0, "IDENTIFY: payload bytes is 0, not 64 to 65,536"),
        (3, 8, "IDENTIFY: payload bytes is 8, not 64 to 65,536"),
        (3, 12, "IDENTIFY: payload bytes is 12, not 64 to 65,536"),
        (4, 65, "IDENTIFY: counter bits is 65, not 1 to 64"),
    ],
)
def test_an_identity_out_of_bounds(index: int, value: int, text: str) -> None:
    assert told(changed(Kind.IDENTIFY, with_word(index, value))) == (
        f"error[E614] netduinoplus2: what answers is no firmware of codegen, or a broken one: {text}\n"
        "help: is it the right port? Flash firmware.elf of this build: `codegen build` with the same models "
        "and flags, then `codegen flash`; or `codegen run --flash`"
    )


@pytest.mark.parametrize(
    ("index", "value", "text"),
    [
        (0, (1 << 32) - 1, "MODEL: inputs is 4,294,967,295, not 0 to 65,535"),
        (0, 2, "MODEL: it has 2 inputs, not 1"),
        (1, 0, "MODEL: it has 0 outputs, not 1"),
        (2, 65_535, "MODEL: it has 65,535 pools, not 1"),
        (3, 4, "MODEL: it has 4 steps, not 3"),
        (4, 63, "MODEL: it keeps 63 bytes of inputs of 64"),
    ],
)
def test_counts_are_those_of_the_build_before_any_is_asked_for(index: int, value: int, text: str) -> None:
    found = told(changed(Kind.MODEL, with_word(index, value)))
    assert isinstance(found, str) and found.startswith("error[E614]") and f": {text}\n" in found


def test_names_reach_no_terminal_as_they_are() -> None:
    evil = b"\x1b]0;owned\x07\\\xff" + b"a" * 200
    shown = r"\x1b]0;owned\x07\x5c\xff" + "a" * 68 + "..."
    found = told(changed(Kind.IDENTIFY, lambda payload: payload[:68] + evil))
    assert isinstance(found, str) and f"it was built for board {shown}, not for netduinoplus2" in found
    found = told(changed(Kind.ENTRY, lambda payload: payload[:12] + evil))
    assert isinstance(found, str) and shown in found


def test_a_run_that_pauses_for_ever() -> None:
    for kind in (Kind.RUN, Kind.CONTINUE):
        found = told(changed(kind, lambda payload: words(RunState.PAUSED, 0, 1, 5, 0)))
        assert isinstance(found, str) and "E614" in found


@pytest.mark.parametrize(
    "data", [b"\xaa" * 4096, b"\0\x02a\0" * 1000, b""], ids=["noise", "frames", "silence"]
)
def test_a_device_that_is_no_target(data: bytes) -> None:
    class Babble:
        now = 0.0
        written = 0

        def write(self, data: bytes) -> None:
            del data
            self.written += 1

        def read(self, timeout_seconds: float) -> bytes:
            self.now += 0.001 if data else timeout_seconds
            return data

    port = Babble()
    port.clock = lambda: port.now  # type: ignore[attr-defined]
    with pytest.raises(CodegenError, match=r"E60[23]\]"):
        connect(port, patience=HURRIED)  # type: ignore[arg-type]
    assert port.written < 40 and port.now < 10


def test_replies_of_another_exchange_for_ever_end_in_time() -> None:
    """Sound frames that answer nothing that was asked."""
    flood = encode(Frame(sequence=7, kind=Kind.MARKS, payload=bytes(16))) * 50
    target = SimulatedTarget()

    class Flooded(SimulatedPort):
        def read(self, timeout_seconds: float) -> bytes:
            super().read(timeout_seconds)
            self.now += 0.001
            return flood

    port = Flooded(target)
    with pytest.raises(CodegenError, match=r"E602\] the target does not answer"):
        connect(port, patience=HURRIED)
    assert port.now < 10


def test_firmware_of_an_older_version() -> None:
    """Its frames end without a session: of the identity the first word is the same in every version."""

    def old(request: Frame, reply: Frame) -> Frame:
        payload = words(VERSION - 1, 1, 1, 128, 32, 1, 1, 8, 100) + BOARD.name.encode()
        session = int.from_bytes(payload[-4:], "little")  # where this version looks for it
        return replace(reply, payload=payload[:-4], session=session)

    assert told(old) == (
        f"error[E607] the firmware does not fit this program: it speaks version {VERSION - 1}, this program "
        f"{VERSION}\nhelp: build and load the firmware again"
    )


def test_another_build_on_the_board() -> None:
    """`run --port` reported the figures of another build of the same model, or blamed the plan (exit 8)."""
    port = SimulatedPort(SimulatedTarget())
    with pytest.raises(CodegenError) as raised:
        connect(port, build=bytes(32))
    assert str(raised.value) == (
        f"error[E615] netduinoplus2: another build is on the board: build {BUILD.hex()[:12]}, this one is "
        f"{'0' * 12}\nhelp: models, flags, codegen.toml, compiler and codegen itself make a build. Flash "
        "firmware.elf of this build: `codegen build` with the same models and flags, then `codegen flash`; "
        "or `codegen run --flash`"
    )
