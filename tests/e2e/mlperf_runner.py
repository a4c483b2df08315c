"""A runner of MLPerf Tiny, as its protocol is published: commands end in '%', answers in the line m-ready."""

import os
import re
import select
import subprocess
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

_MOST_SECONDS = 60.0
_BYTES_A_COMMAND = 31
"""Of input, as the published runner sends them."""
_BYTES_A_LONG_COMMAND = 512
"""The same of sound."""
_READY = "m-ready"


class Runner:
    """The host's end of a terminal."""

    def __init__(self, terminal: int) -> None:
        self._terminal, self._received = terminal, b""

    def lines(self) -> list[str]:
        """What the device says, up to m-ready. Raises TimeoutError if it does not."""
        found: list[str] = []
        end = time.monotonic() + _MOST_SECONDS
        while _READY not in found:
            *whole, self._received = self._received.split(b"\r\n")
            found += [line.decode("ascii") for line in whole]
            if _READY in found:
                break
            readable, _, _ = select.select([self._terminal], [], [], max(0.0, end - time.monotonic()))
            if not readable:
                raise TimeoutError(f"no {_READY} behind {found}")
            self._received += os.read(self._terminal, 4096)
        assert found[-1] == _READY, found
        return found[:-1]

    def command(self, text: str) -> list[str]:
        """Its answer."""
        os.write(self._terminal, f"{text}%".encode())
        return self.lines()

    def load(self, data: bytes) -> list[str]:
        """Bring an input; the answer to its last part."""
        said = self.command(f"db load {len(data)}")
        assert said == [f"m-[Expecting {len(data)} bytes]"]
        for at in range(0, len(data), _BYTES_A_COMMAND):
            said = self.command(f"db {data[at : at + _BYTES_A_COMMAND].hex()}")
        return said

    def load_long(self, data: bytes) -> list[str]:
        """Bring sound as the published streaming client does: long commands; the answer to the last one."""
        said = self.command(f"db load {len(data)}")
        assert said == [f"m-[Expecting {len(data)} bytes]"]
        for at in range(0, len(data), _BYTES_A_LONG_COMMAND):
            part = data[at : at + _BYTES_A_LONG_COMMAND]
            said = self.command(f"db {part.hex()}")
            if at + len(part) < len(data):
                assert said == [f"{at + len(part)} bytes received"]
        return said

    def infer(self, count: int, warmups: int) -> tuple[Sequence[float], int]:
        """The results, and the microseconds of `count` inferences."""
        said = self.command(f"infer {count} {warmups}")
        laps = [int(line.removeprefix("m-lap-us-")) for line in said if line.startswith("m-lap-us-")]
        assert [line for line in said if not line.startswith(("m-lap-us-", "m-results-"))] == [
            f"m-warmup-start-{warmups}",
            "m-warmup-done",
            f"m-infer-start-{count}",
            "m-infer-done",
        ]
        assert len(laps) == 2
        return results(said), laps[1] - laps[0]


def results(said: Sequence[str]) -> Sequence[float]:
    """The numbers of the line m-results."""
    [line] = [line for line in said if line.startswith("m-results-")]
    match = re.fullmatch(r"m-results-\[([^\]]+)\]", line)
    assert match is not None, line
    return [float(word) for word in match[1].split(",")]


@contextmanager
def terminal_of(machine: str, firmware: Path) -> Generator[tuple[Runner, list[str]]]:
    """A runner at the terminal of an emulated board, and what the board said at its start."""
    command = ["qemu-system-arm", "-M", machine, "-icount", "shift=0", "-display", "none", "-monitor", "none"]
    command += ["-S", "-serial", "pty", "-qmp", "stdio", "-kernel", str(firmware)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as child:
        assert child.stdin is not None and child.stdout is not None
        try:
            where = b""
            while b"/dev/" not in where:
                where = child.stdout.readline()
                assert where, "QEMU ended"
            path = re.search(r"/dev/\S+", where.decode("ascii"))
            assert path is not None
            terminal = os.open(path[0], os.O_RDWR | os.O_NOCTTY)
            try:
                for name in ("qmp_capabilities", "cont"):
                    child.stdin.write(b'{"execute": "%s"}\n' % name.encode())
                child.stdin.flush()
                runner = Runner(terminal)
                yield runner, runner.lines()
            finally:
                os.close(terminal)
        finally:
            child.kill()
