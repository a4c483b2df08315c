"""QEMU as a child process: it never outlives us."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codegen.board import load_board, session
from codegen.program.image import RunResult
from tests.board import probe

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
            if line[0].endswith(b"qemu-system-arm") and str(image).encode() in line:
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
    deadline = time.monotonic() + 5.0
    while _emulators_of(image) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _emulators_of(image) == []


def _is_stopped(pid: int) -> bool:
    """`T` in /proc/PID/stat, behind the program's name; a thread may take a moment to get there."""
    deadline = time.monotonic() + 5.0
    while (Path("/proc") / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()[0] != "T":
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.mark.qemu
def test_qemu_sleeps_while_nobody_asks(tmp_path: Path) -> None:
    """Firmware that waited for a request spun, and QEMU took half of the suite's second core from the process
    that it waited for. Runs after a sleep are what they were before it."""
    board = load_board("mps2-an386")
    image = probe.firmware(tmp_path, board, address=0x6800_0000)
    with session(image, board) as target:
        (emulator,) = _emulators_of(image.path)
        results: list[RunResult] = []
        for _ in range(2):
            assert _is_stopped(emulator)
            results.append(target.run(probe.request("none")))
        assert _is_stopped(emulator)
    cases = [result.cases[0] for result in results]
    assert all(case.outputs == (probe.flipped(probe.case("none")),) for case in cases)
    first, second = (case.instructions or 0 for case in cases)
    assert abs(first - second) <= (cases[0].counter_resolution or 0) < first  # it slept 0 instructions long
