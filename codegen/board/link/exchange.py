"""The host's end of the test link: requests over a port, repeated until answered, at most so often.

Frames are COBS between zero bytes, with a header and a CRC-32; see cg_link.h.
"""

import math
import random
import struct
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from cobs import cobs

from codegen.board.link.protocol import VERSION, FaultRecord, Kind, Status, fault_record, version_of, words
from codegen.errors import CodegenError, Message
from codegen.progress import Progress, silent

_LONG = (Kind.RUN, Kind.CONTINUE)
"""Requests that last as long as an inference."""
HEADER = struct.Struct("<HBB")
SESSION = struct.Struct("<I")
CRC = struct.Struct("<I")
MAX_ENCODED_BYTES = 1 << 17
"""Longest encoded frame. More bytes without a zero byte are noise, or a device that is no target."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Frame:
    """One request or reply."""

    sequence: int
    kind: int
    status: int = 0
    payload: bytes = b""
    session: int = 0


def encode(frame: Frame) -> bytes:
    """Bytes on the wire, with a zero before and behind: the first one ends whatever noise came before."""
    head = HEADER.pack(frame.sequence, frame.kind, frame.status)
    body = head + frame.payload + SESSION.pack(frame.session)
    return b"\0" + cobs.encode(body + CRC.pack(zlib.crc32(body))) + b"\0"


def decode(encoded: bytes) -> Frame | None:
    """The frame between two zero bytes; None if it is damaged.

    Frames too short for a session, as versions before 4 send them, have session 0.
    """
    try:
        body = cobs.decode(encoded)
    except cobs.DecodeError:
        return None
    if len(body) < HEADER.size + CRC.size:
        return None
    body, checksum = body[: -CRC.size], body[-CRC.size :]
    if CRC.pack(zlib.crc32(body)) != checksum:
        return None
    sequence, kind, status = HEADER.unpack_from(body)
    payload, session = body[HEADER.size :], 0
    if len(payload) >= SESSION.size:
        [session] = SESSION.unpack_from(payload, len(payload) - SESSION.size)
        payload = payload[: -SESSION.size]
    return Frame(sequence=sequence, kind=kind, status=status, payload=payload, session=session)


class Splitter:
    """Cuts a stream of bytes at its zeros."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Encoded frames completed by `data`, the empty ones between two zeros left out.

        What grows longer than any frame is handed out as one, a damaged one.
        """
        *complete, self._rest = (self._rest + data).split(b"\0")
        if len(self._rest) > MAX_ENCODED_BYTES:
            complete.append(self._rest)
            self._rest = b""
        return [piece for piece in complete if piece]


class Port(Protocol):
    """A stream of bytes both ways."""

    def write(self, data: bytes) -> None:
        """Send all of `data`. Raises CodegenError E601 when the port is gone."""
        ...

    def read(self, timeout_seconds: float) -> bytes:
        """Read the bytes that have arrived; wait up to the timeout for the first one. Raises CodegenError
        E601."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Patience:
    """How long to wait. `answer_seconds` goes up by half with every try, as a loaded machine is slow."""

    answer_seconds: float = 1.0
    tries: int = 8
    greeting_seconds: float = 0.3
    """For the frame a target sends after reset; then it is asked even if it did not."""
    identify_seconds: float = 0.25
    identify_tries: int = 16
    run_seconds: float = 300.0
    """For the reply to RUN and CONTINUE: as long as an inference may take."""
    session_seconds: float = math.inf
    """For all exchanges together, from the first on."""


PATIENT = Patience()


class Broken(Exception):
    """The link itself faulted on the target."""

    def __init__(self, fault: FaultRecord) -> None:
        super().__init__("the test link faulted")
        self.fault = fault


class Link:
    """Requests and replies, one at a time.

    A damaged or late frame leads to the same request again with the same sequence number; the target
    answers without executing it twice. Replies to earlier requests are dropped by their number.

    `identify` begins a session, a number that the target has to put into every reply: one that was reset,
    or that another host identified, has not this one any more.
    """

    def __init__(
        self,
        port: Port,
        *,
        patience: Patience = PATIENT,
        clock: Callable[[], float] = time.monotonic,
        progress: Progress = silent,
    ) -> None:
        """`progress` hears how long an inference has been waited for."""
        self._port = port
        self._patience = patience
        self._clock = clock
        self._progress = progress
        self._end = clock() + patience.session_seconds
        self._splitter = Splitter()
        self._sequence = random.randrange(0x10000)  # differs from an earlier session's
        self._session = 0
        self._damaged = 0

    def identify(self) -> bytes:
        """IDENTIFY, after the target's greeting, or without it if the target is up already.

        Asked more often than others: the target may still be starting, and drop what comes. Raises
        CodegenError E602 if nothing answers. Begins a new session with a target of this version.
        """
        patience = self._patience
        self._session = random.randrange(1, 1 << 32)  # 0: a target since its reset
        self._splitter.feed(self._port.read(patience.greeting_seconds))
        return self._ask(Kind.IDENTIFY, b"", [patience.identify_seconds] * patience.identify_tries)

    def request(self, kind: Kind, *arguments: int, data: bytes = b"") -> bytes:
        """Ask and return the reply's payload.

        Raises CodegenError: E602 no answer, E603 too many damaged frames, E604 the target refused, E613 the
        target was reset since `identify`; Broken when the link faulted.
        """
        patience = self._patience
        waits = [patience.answer_seconds * 1.5**attempt for attempt in range(patience.tries)]
        if kind in _LONG:
            waits = _spread(patience.run_seconds, waits)
        return self._ask(kind, words(*arguments) + data, waits)

    def _ask(self, kind: Kind, payload: bytes, waits: list[float]) -> bytes:
        self._sequence = (self._sequence + 1) & 0xFFFF
        request = Frame(sequence=self._sequence, kind=kind, payload=payload, session=self._session)
        encoded = encode(request)
        self._damaged = 0
        return self._checked(kind, self._exchange(kind, encoded, waits))

    def _exchange(self, kind: Kind, encoded: bytes, waits: list[float]) -> Frame:
        begin = self._clock()
        for wait in waits:
            if kind in _LONG and self._clock() > begin:
                self._progress("wait for the inference", int(self._clock() - begin), int(sum(waits)))
            if self._clock() >= self._end:
                raise CodegenError(_over(kind, self._patience.session_seconds))
            self._port.write(encoded)
            reply = self._wait(kind, min(wait, self._end - self._clock()), encoded)
            if reply is not None:
                return reply
        raise CodegenError(self._no_answer(kind, sum(waits)))

    def _wait(self, kind: Kind, seconds: float, encoded: bytes) -> Frame | None:
        """The reply to the present request, None after `seconds`. A damaged frame is asked for again."""
        end = self._clock() + seconds
        while (left := end - self._clock()) > 0:
            for piece in self._splitter.feed(self._port.read(left)):
                frame = decode(piece)
                if frame is None or frame.kind == Kind.GARBLED:
                    self._note_damage(kind)
                    self._port.write(encoded)
                elif self._answers(kind, frame):
                    return frame
        return None

    def _answers(self, kind: Kind, frame: Frame) -> bool:
        """True if the frame is the reply to the present request.

        A reply to IDENTIFY may be left over from an earlier host, or of another version, whose frames have no
        session.
        """
        if (frame.sequence, frame.kind) != (self._sequence, kind):
            return False
        is_ours = frame.session == self._session
        return is_ours or kind is not Kind.IDENTIFY or version_of(frame.payload) != VERSION

    def _checked(self, kind: Kind, reply: Frame) -> bytes:
        if reply.status == Status.FAULT:
            raise Broken(fault_record(reply.payload))
        if kind is Kind.IDENTIFY and version_of(reply.payload) != VERSION:
            return reply.payload  # of whatever session: who asked says that it is another version
        if reply.session != self._session or reply.status == Status.OTHER_SESSION:
            raise CodegenError(_lost(kind, reply.session))
        if reply.status != Status.OK:
            names = {status.value: status.name for status in Status}
            name = names.get(reply.status, str(reply.status))
            raise CodegenError(
                Message(
                    code="E604",
                    text=f"the target refused {kind.name}: {name}",
                    help="firmware and host are of different versions: build and load the firmware again",
                )
            )
        return reply.payload

    def _note_damage(self, kind: Kind) -> None:
        self._damaged += 1
        if self._damaged > self._patience.tries:
            text = f"{self._damaged} damaged frames in one {kind.name} exchange"
            raise CodegenError(
                Message(
                    code="E603",
                    text=f"the link to the target does not work: {text}",
                    help="check cable and baud rate (uart.baud in the board file) and who else uses the port",
                )
            )

    def _no_answer(self, kind: Kind, seconds: float) -> Message:
        if kind is Kind.IDENTIFY:
            text = f"the target does not answer (waited {seconds:.0f} s)"
            help_ = "is the test firmware on the board, reset, and the port the one of the board file's uart?"
        elif kind in _LONG:
            text = f"the inference did not end within {seconds:g} s"
            help_ = "a loop without end, or a target that is too slow: --run-timeout SECONDS waits longer"
        else:
            text = f"the target stopped answering ({kind.name}, waited {seconds:.0f} s)"
            help_ = "reset the board and try again"
        return Message(code="E602", text=text, help=help_)


def _spread(total_seconds: float, waits: list[float]) -> list[float]:
    """`waits` with the last one repeated until `total_seconds` are full: it is lost, or still running."""
    spread: list[float] = []
    left = total_seconds
    while left > 0:
        wait = waits[min(len(spread), len(waits) - 1)]
        spread.append(min(wait, left))
        left -= spread[-1]
    return spread


def _over(kind: Kind, seconds: float) -> Message:
    text = f"it did not end within {seconds:g} s ({kind.name})"
    help_ = "a loop without end, a target that is too slow for this model, or a limit that is too short"
    return Message(code="E640", text=text, help=help_)


def _lost(kind: Kind, session: int) -> Message:
    what = f"({kind.name}): inputs and results of this run are lost"
    if session:
        text = f"another program took the target over {what}"
        help_ = "one program at a time: end what else has the port open, then run again"
    else:
        text = f"the target was reset, or lost power, in the middle of the exchange {what}"
        help_ = "look at its supply, its reset line and a watchdog that nobody serves, then run again"
    return Message(code="E613", text=text, help=help_)
