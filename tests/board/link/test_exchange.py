"""The host's end of the link on ports that lose, damage and delay frames."""

import random
import socket
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.board.link.exchange import Broken, Frame, Link, Patience, Splitter, decode, encode
from codegen.board.link.protocol import Kind, Status, words
from codegen.board.machines.ports import SerialPort, SocketPort
from codegen.errors import CodegenError, ExitCode

GARBLED = Frame(sequence=0xFFFF, kind=Kind.GARBLED, status=0xFF)


class FakeTarget:
    """Behaves as cg_link.h says: every request answered once, RUN executed once a sequence number."""

    def __init__(self, answer: Callable[[Frame], Frame]) -> None:
        self.executed: list[Frame] = []
        self._answer = answer
        self._splitter = Splitter()
        self._cached: tuple[int, int, Frame] | None = None

    def feed(self, data: bytes) -> list[Frame]:
        replies: list[Frame] = []
        for piece in self._splitter.feed(data):
            request = decode(piece)
            if request is None:
                replies.append(GARBLED)
            elif self._cached and self._cached[:2] == (request.sequence, request.kind):
                replies.append(self._cached[2])
            else:
                self.executed.append(request)
                reply = self._answer(request)
                self._cached = (request.sequence, request.kind, reply) if request.kind == Kind.RUN else None
                replies.append(reply)
        return replies


def echo(request: Frame) -> Frame:
    return Frame(sequence=request.sequence, kind=request.kind, payload=request.payload[::-1])


class FakePort:
    """Joins Link and FakeTarget; `spoil` may change or drop what passes. Time is its own."""

    def __init__(self, target: FakeTarget, spoil: Callable[[bytes], bytes] = lambda data: data) -> None:
        self.now = 0.0
        self.written = 0
        self._target = target
        self._spoil = spoil
        self._waiting = b""

    def clock(self) -> float:
        return self.now

    def write(self, data: bytes) -> None:
        self.written += 1
        for reply in self._target.feed(self._spoil(data)):
            self._waiting += self._spoil(encode(reply))

    def read(self, timeout_seconds: float) -> bytes:
        data, self._waiting = self._waiting, b""
        self.now += 0.001 if data else timeout_seconds
        return data


def linked(
    answer: Callable[[Frame], Frame] = echo, spoil: Callable[[bytes], bytes] = lambda data: data
) -> tuple[Link, FakePort, FakeTarget]:
    target = FakeTarget(answer)
    port = FakePort(target, spoil)
    return Link(port, clock=port.clock), port, target


def error_of(action: Callable[[], object]) -> str:
    with pytest.raises(CodegenError) as raised:
        action()
    assert raised.value.exit_code is ExitCode.TARGET
    return str(raised.value)


def test_arguments_and_data_travel() -> None:
    link, port, target = linked()
    assert link.request(Kind.WRITE, 1, 2, data=b"xy") == (words(1, 2) + b"xy")[::-1]
    assert port.written == 1 and len(target.executed) == 1


@settings(max_examples=60)
@given(seed=st.integers(0, 1 << 30), mean=st.integers(60, 2000))
def test_noise_never_becomes_data(seed: int, mean: int) -> None:
    """Bytes changed, lost and added, one in `mean`: replies are right, or it ends as E602 or E603."""
    dice = random.Random(seed)

    def spoil(data: bytes) -> bytes:
        spoiled = bytearray()
        for byte in data:
            kind = dice.randrange(3 * mean)
            if kind == 0:
                continue
            spoiled.append(byte ^ dice.randrange(1, 256) if kind == 1 else byte)
            if kind == 2:
                spoiled.append(dice.randrange(256))
        return bytes(spoiled)

    link, _, target = linked(spoil=spoil)
    for number in range(30):
        data = dice.randbytes(40)
        try:
            assert link.request(Kind.RUN, number, data=data) == (words(number) + data)[::-1]
        except CodegenError as error:
            assert error.messages[0].code in ("E602", "E603")
    runs = [request.payload for request in target.executed]
    assert len(runs) == len(set(runs)), "a repeated request was executed twice"


def test_a_lost_request_and_a_lost_reply_are_repeated() -> None:
    passed: list[bytes] = []

    def spoil(data: bytes) -> bytes:
        passed.append(data)
        return b"" if len(passed) in (1, 3) else data

    link, port, target = linked(spoil=spoil)
    assert link.request(Kind.RUN, 7) == words(7)[::-1]
    assert port.written == 3 and len(target.executed) == 1


def test_late_replies_are_dropped_by_their_number() -> None:
    late: list[Frame] = []

    def answer(request: Frame) -> Frame:
        late.append(echo(request))
        return late[0] if len(late) == 2 else late[-1]

    link, _, target = linked(answer)
    assert link.request(Kind.READ, 1) == words(1)[::-1]
    assert link.request(Kind.READ, 2) == words(2)[::-1]
    assert len(target.executed) == 3


def test_a_silent_target() -> None:
    link, port, _ = linked(spoil=lambda data: b"")
    text = error_of(link.identify)
    assert text.startswith(
        "error[E602] the target does not answer (waited 4 s)\nhelp: is the test firmware on the board"
    )
    assert port.now < 5
    assert "E602] the target stopped answering (PAINT, waited 49 s)" in error_of(
        lambda: link.request(Kind.PAINT)
    )


def test_an_inference_without_end() -> None:
    target = FakeTarget(echo)
    port = FakePort(target, lambda data: b"")
    link = Link(port, patience=Patience(run_seconds=20.0), clock=port.clock)
    text = error_of(lambda: link.request(Kind.RUN))
    assert text.startswith("error[E602] the inference did not end within 20 s\nhelp: a loop without end")
    assert port.now == pytest.approx(20.0)


def test_a_link_that_damages_everything() -> None:
    link, port, target = linked(spoil=lambda data: data.replace(data[3:4], bytes([data[3] ^ 0x55])))
    assert "error[E603] the link to the target does not work: 9 damaged frames in one PAINT" in error_of(
        lambda: link.request(Kind.PAINT)
    )
    assert not target.executed and port.written < 20


def test_a_refused_request() -> None:
    def answer(request: Frame) -> Frame:
        return Frame(sequence=request.sequence, kind=request.kind, status=Status.ARGUMENT)

    link, _, _ = linked(answer)
    assert "error[E604] the target refused MARKS: ARGUMENT" in error_of(lambda: link.request(Kind.MARKS))


def test_a_fault_of_the_link_itself() -> None:
    def answer(request: Frame) -> Frame:
        payload = words(3, 0x800_0100, 0, 0, 0, 0x400, 0, 0, 0)
        return Frame(sequence=request.sequence, kind=request.kind, status=Status.FAULT, payload=payload)

    link, _, _ = linked(answer)
    with pytest.raises(Broken) as raised:
        link.identify()
    assert raised.value.fault.pc == 0x800_0100 and raised.value.fault.cfsr == 0x400


@pytest.mark.parametrize("url", ["/dev/no-such-port", "socket://127.0.0.1:1", "nonsense://x"])
def test_a_port_that_cannot_be_opened(url: str) -> None:
    text = error_of(lambda: SerialPort(url, 115200))
    assert "Errno" not in text and text.count(url) == 1
    assert (
        text.startswith(f"error[E601] {url}: the port cannot be opened:") and "--port takes a device" in text
    )


def test_the_port_of_an_emulator() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
        port = SocketPort(*address, name="QEMU (a)")
        peer, _ = listener.accept()
        with peer:
            assert port.read(0.0) == b"" and port.read(0.01) == b""
            peer.sendall(b"answer")
            assert port.read(10.0) == b"answer"
            port.write(b"request")
            assert peer.recv(100) == b"request"
        text = error_of(lambda: port.read(10.0))
        assert text.startswith("error[E601] QEMU (a): the port failed: socket disconnected")
        port.close()
    text = error_of(lambda: SocketPort(*address, name="QEMU (b)"))
    assert text.startswith("error[E601] QEMU (b): the port cannot be opened:")
