"""A target in Python that behaves as cg_link.h says, with the model `pattern` of `probe`; and ports to it.

It loses power when it is told to: then what its memory held is gone, as a real one's. Tests spoil what it
answers, or what passes the port.
"""

import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from codegen.board import load_board
from codegen.board.link.exchange import Frame, Link, Patience, Splitter, decode, encode
from codegen.board.link.linked_board import RUNTIME_ABI, LinkedTarget
from codegen.board.link.protocol import NO_STEP, VERSION, Kind, RunFlags, RunState, Status, Table, words
from codegen.program.image import Image
from tests.board import probe

BOARD = load_board("netduinoplus2")
PAYLOAD_BYTES = 128
BUILD = bytes(range(32))
STEPS = (("fill", 103, 100), ("flip", 0, 64), ("view", 0, 0))
"""Name, offset in the pool, bytes."""


def image(build: bytes = BUILD) -> Image:
    """What the host believes to be on the target."""
    return Image(path=Path("firmware.elf"), sizes=None, symbols={}, sections={}, build_sha256=build.hex())  # type: ignore[arg-type]


Mutation = Callable[[Frame, Frame], Frame]
"""From a request and its reply, the reply that is sent."""


@dataclass
class SimulatedTarget:
    """`keeps`: whether it has memory to keep inputs in. `forgets`: whether a reset takes the session with it,
    as it does on every target; without, the test of a test."""

    keeps: bool = True
    forgets: bool = True
    mutation: Mutation = lambda request, reply: reply
    seed: int = 0

    def __post_init__(self) -> None:
        self.requests = 0
        self.resets = 0
        self.session = 0
        self._dice = random.Random(self.seed)
        self._power_on()

    def _power_on(self) -> None:
        noise = self._dice.randbytes
        self._pool, self._around, self._free = bytearray(noise(208)), bytearray(noise(64)), noise(64)
        self._kept = bytearray(noise(probe.SIZE))
        self._splitter = Splitter()
        self._cached: tuple[int, int, Frame] | None = None
        self._supplied = not self.forgets
        self._paused: int | None = None
        self.session = 0 if self.forgets else self.session

    def reset(self) -> bytes:
        """Power off, power on; what it says then."""
        self.resets += 1
        self._power_on()
        return encode(Frame(sequence=0xFFFF, kind=Kind.GARBLED, status=0xFF, session=self.session))

    def feed(self, data: bytes) -> bytes:
        """What it answers to bytes on the wire."""
        return b"".join(self._served(piece) for piece in self._splitter.feed(data))

    def _served(self, piece: bytes) -> bytes:
        request = decode(piece)
        if request is None:
            return encode(Frame(sequence=0xFFFF, kind=Kind.GARBLED, status=0xFF, session=self.session))
        if self._cached is not None and self._cached[:2] == (request.sequence, request.kind):
            return encode(self._cached[2])
        self.requests += 1
        status, payload = self._answer(request)
        reply = replace(request, status=status, payload=payload, session=self.session)
        self._cached = (
            (request.sequence, request.kind, reply) if request.kind in (Kind.RUN, Kind.CONTINUE) else None
        )
        return encode(self.mutation(request, reply))

    def _answer(self, request: Frame) -> tuple[int, bytes]:
        if request.kind == Kind.IDENTIFY:
            if request.session not in (0, self.session):
                self.session, self._supplied, self._paused = request.session, False, None
            return Status.OK, self._identity()
        if request.session != self.session:
            return Status.OTHER_SESSION, b""
        arguments = request.payload[: len(request.payload) // 4 * 4]
        numbers = struct.unpack(f"<{len(arguments) // 4}I", arguments)
        return self._do(Kind(request.kind), numbers, request.payload)

    def _identity(self) -> bytes:
        numbers = (VERSION, RUNTIME_ABI, 1, PAYLOAD_BYTES, 32, 500_000, 500_000, 8, 128)
        return words(*numbers) + BUILD + BOARD.name.encode()

    def _do(self, kind: Kind, numbers: tuple[int, ...], payload: bytes) -> tuple[int, bytes]:
        if kind is Kind.MODEL:
            kept = probe.SIZE if self.keeps else 0
            return Status.OK, words(1, 1, 1, len(STEPS), kept) + probe.DIGEST
        if kind is Kind.ENTRY:
            return Status.OK, self._entry(Table(numbers[1]), numbers[2])
        if kind is Kind.PAINT:
            self._paint(numbers[1])
            return Status.OK, b""
        if kind in (Kind.WRITE, Kind.KEEP):
            self._write(kind, numbers[2 if kind is Kind.WRITE else 1], payload)
            return Status.OK, b""
        if kind is Kind.RUN:
            return self._run(RunFlags(numbers[1]), numbers[2])
        if kind is Kind.CONTINUE:
            return self._go_on()
        if kind is Kind.READ:
            return Status.OK, self._read(Table(numbers[1]), *numbers[2:])
        assert kind is Kind.MARKS
        return Status.OK, self._marks(numbers[2])

    def _entry(self, table: Table, index: int) -> bytes:
        if table is Table.POOLS:
            return words(probe.POOL_BYTES, probe.PEAK_BYTES, 1) + b"sram"
        if table is Table.STEPS:
            name, _, size = STEPS[index]
            return words(size, 0, size != 0) + name.encode()
        return words(probe.SIZE, 0, 1) + (b"x" if table is Table.INPUTS else b"y")

    def _paint(self, value: int) -> None:
        self._pool[:], self._around[:] = bytes([value]) * len(self._pool), bytes([value]) * len(self._around)

    def _write(self, kind: Kind, offset: int, payload: bytes) -> None:
        place, data = (self._pool, payload[12:]) if kind is Kind.WRITE else (self._kept, payload[8:])
        place[offset : offset + len(data)] = data
        self._supplied = True

    def _run(self, flags: RunFlags, paint: int) -> tuple[int, bytes]:
        if not self._supplied:
            return Status.NOT_NOW, b""
        if flags & RunFlags.PAINTED:
            self._paint(paint)
        if flags & RunFlags.KEPT:
            self._pool[: probe.SIZE] = self._kept
        self._supplied = bool(flags & RunFlags.KEPT)
        self._fill()
        if flags & RunFlags.TRACED:
            return self._pause(0)
        self._flip()
        return self._event(RunState.FINISHED, 1, 90)

    def _fill(self) -> None:
        self._pool[103:203] = self._pool[: probe.SIZE] + bytes(range(64, 100))

    def _flip(self) -> None:
        self._pool[: probe.SIZE] = probe.flipped(bytes(self._pool[103 : 103 + probe.SIZE]))

    def _pause(self, step: int) -> tuple[int, bytes]:
        self._paused = step
        return self._event(RunState.PAUSED, step, 40 + step)

    def _go_on(self) -> tuple[int, bytes]:
        if self._paused is None:
            return Status.NOT_NOW, b""
        if self._paused == 0:
            self._flip()
            return self._pause(1)
        self._paused = None
        return self._event(RunState.FINISHED, 1, 3)

    def _event(self, state: RunState, step: int, ticks: int) -> tuple[int, bytes]:
        return Status.OK, words(state, 0, step if step >= 0 else NO_STEP, ticks, 0)

    def _read(self, table: Table, index: int, offset: int, count: int) -> bytes:
        start = STEPS[index][1] if table is Table.STEPS else 0
        return bytes(self._pool[start + offset : start + offset + count])

    def _marks(self, paint: int) -> bytes:
        peak = max((i + 1 for i, byte in enumerate(self._pool) if byte != paint), default=0)
        return words(peak, all(byte == paint for byte in self._around), 24, 0)


class SimulatedPort:
    """Joins a `Link` and a target. Time is its own. After `power` bytes in all, both ways, the target is
    reset, once; what was on the wire then is lost. `spoil` may change what passes."""

    def __init__(
        self,
        target: SimulatedTarget,
        *,
        power: int | None = None,
        spoil: Callable[[bytes], bytes] = lambda data: data,
    ) -> None:
        self.now, self.passed = 0.0, 0
        self.target = target
        self._power, self._spoil = power, spoil
        self._waiting = b""

    def clock(self) -> float:
        return self.now

    def write(self, data: bytes) -> None:
        before, after = self._cut(self._spoil(data))
        self._waiting += self._spoil(self.target.feed(before))
        if after is not None:
            self._waiting = self.target.reset() + self.target.feed(after)

    def read(self, timeout_seconds: float) -> bytes:
        data, rest = self._cut(self._waiting)
        self._waiting = b"" if rest is None else self.target.reset()
        self.now += 0.001 if data else timeout_seconds
        return data

    def _cut(self, data: bytes) -> tuple[bytes, bytes | None]:
        """What passes before the power fails, and what after; None if it does not."""
        start, self.passed = self.passed, self.passed + len(data)
        if self._power is None or not start <= self._power < self.passed:
            return data, None
        return data[: self._power - start], data[self._power - start :]


def connect(port: SimulatedPort, *, patience: Patience | None = None, build: bytes = BUILD) -> LinkedTarget:
    """A host that has identified the target behind a port, as a board on a serial port."""
    link = Link(port, patience=patience or Patience(run_seconds=20.0), clock=port.clock)
    return LinkedTarget(link, image(build), BOARD, runner="serial")
