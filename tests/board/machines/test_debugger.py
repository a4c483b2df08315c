"""The debugger connection: what goes over the wire, torn replies, refusals, a stub that is gone."""

import math
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from codegen.board import load_board
from codegen.board.link.exchange import Link
from codegen.board.link.linked_board import Target
from codegen.board.machines.qemu import Debugger, running
from codegen.errors import CodegenError
from tests.board import probe


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
    debugger = Debugger(
        "127.0.0.1", served.port, name="QEMU (board)", wake=lambda: served.packets.append(b"")
    )
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
    assert (
        served.packets
        == [
            b"?",
            b"",  # woken, as it may sleep
            b"\x03",
            b"M20000000,600:" + data[:1536].hex().encode(),
            b"M20000600,100:" + data[1536:].hex().encode(),
            b"c",
        ]
    )


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
def test_inputs_past_the_link_give_what_those_through_it_give(name: str, tmp_path: Path) -> None:
    """The same runs, instructions included: stopping the machine in between moves no count."""
    board = load_board(name)
    image = probe.firmware(tmp_path, board, address=0x6800_0000)
    pool = board.region(board.data_region).pool_name
    wanted = probe.request("none", "none", pool=pool)
    with running(board, image.path) as emulator:
        first, second, third = (
            Target(Link(emulator.port), image, board, runner="qemu", memory=memory).run(wanted)
            for memory in (None, emulator.memory, None)
        )
    assert [case.outputs for case in first.cases] == [case.outputs for case in second.cases]
    for one, other in zip(first.cases * 2, second.cases + third.cases, strict=True):
        assert one.pool_peaks == other.pool_peaks and one.guards_intact == other.guards_intact
        assert one.instructions is not None and other.instructions is not None
        assert one.counter_resolution is not None
        # Ticks of 62.5 instructions are told as whole numbers: two neighbours are 62 or 63 apart.
        assert abs(one.instructions - other.instructions) <= math.ceil(one.counter_resolution)
