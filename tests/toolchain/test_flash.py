"""The plugin's model of a flash behind caches against a slow one, and against waits counted by hand.
The doctor: what it finds here, and what it says on a machine that lacks everything.
"""

import ctypes
import dataclasses
import random
import subprocess
from collections import OrderedDict
from pathlib import Path

import pytest

from codegen import resources
from codegen.toolchain import doctor, gcc
from tests.toolchain import fake_model

_BRIDGE = """
#include "flash.h"
#include <stdlib.h>
flash_model *start(const uint64_t *settings);
flash_model *start(const uint64_t *settings)
{
    flash_model *const flash = malloc(sizeof(flash_model));
    return flash != NULL && flash_start(flash, settings) ? flash : NULL;
}
"""


class Fast:
    """The C model."""

    def __init__(self, library: ctypes.CDLL, settings: tuple[int, ...]):
        self._library = library
        library.start.restype = ctypes.c_void_p
        self._flash = ctypes.c_void_p(library.start((ctypes.c_uint64 * 7)(*settings)))
        assert self._flash

    def access(self, side: str, address: int, size: int, now: int) -> int:
        function = {"code": self._library.flash_fetch, "data": self._library.flash_load}[side]
        function.restype = ctypes.c_uint64
        words = (ctypes.c_uint64(word) for word in (address, size, now))
        return function(self._flash, *words)


class Slow:
    """The same by dictionaries, one line of the flash after the other."""

    def __init__(self, wait: int, read: int, prefetch: int, *caches: int):
        self.wait, self.read, self.prefetch = wait, read, prefetch
        self.rows = {"code": caches[0], "data": caches[2]}
        self.row_bytes = {"code": caches[1], "data": caches[3]}
        self.held: dict[str, OrderedDict[int, set[int]]] = {"code": OrderedDict(), "data": OrderedDict()}
        self.current = {"code": -1, "data": -1}
        self.ahead, self.free_at = -1, 0

    def access(self, side: str, address: int, size: int, now: int) -> int:
        waited = 0
        for line in range(address // self.read, (address + size - 1) // self.read + 1):
            if self.current[side] != line:
                self.current[side] = line
                waited += self._line(side, line, now + waited)
                if side == "code" and self.prefetch:
                    self._ahead(line + 1, now + waited)
        return waited

    def _row(self, side: str, line: int) -> int:
        return line * self.read // self.row_bytes[side]

    def _holds(self, side: str, line: int) -> bool:
        return line in self.held[side].get(self._row(side, line), ())

    def _line(self, side: str, line: int, now: int) -> int:
        held, row = self.held[side], self._row(side, line)
        if self._holds(side, line):
            held.move_to_end(row)
            return 0
        rest = max(0, self.free_at - now)
        if side == "code" and line == self.ahead:
            return rest
        if self.rows[side]:
            if row not in held and len(held) == self.rows[side]:
                held.popitem(last=False)
            held.setdefault(row, set()).add(line)
            held.move_to_end(row)
        return rest + self.wait

    def _ahead(self, line: int, now: int) -> None:
        if line != self.ahead and not self._holds("code", line):
            self.ahead = line
            self.free_at = max(now, self.free_at) + self.wait


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("flash")
    source = resources.folder("runtime_c") / "qemu_plugin"
    (folder / "bridge.c").write_text(_BRIDGE)
    warnings = ("-Wall", "-Wextra", "-Wconversion", "-Werror")
    subprocess.run(
        [gcc.tool("gcc"), "-std=gnu11", *warnings, "-shared", "-fPIC", f"-I{source}", "bridge.c",
         str(source / "flash.c"), "-o", "flash.so"],
        cwd=folder, check=True,
    )  # fmt: skip
    return ctypes.CDLL(str(folder / "flash.so"))


def _trace(seed: int) -> list[tuple[str, int, int, int]]:
    """Loops of code of 16 bytes to 2 KiB with calls, beside constants read in order and again and again."""
    chance = random.Random(seed)
    trace: list[tuple[str, int, int, int]] = []
    now = weights = 0
    while len(trace) < 6000:
        start, size = 2 * chance.randrange(2000), 2 * chance.randrange(8, 1024)
        for _ in range(chance.randrange(1, 6)):
            address = start
            while address < start + size:
                length = chance.choice((2, 4))
                trace.append(("code", address, length, now))
                if chance.random() < 0.3:
                    weights += 4
                    literal = 9000 + 4 * chance.randrange(80)
                    trace.append(("data", chance.choice((10000 + weights, literal)), 4, now))
                if chance.random() < 0.02:
                    trace.append(("code", 2 * chance.randrange(4000), 4, now))
                if chance.random() < 0.02:
                    trace.append(("data", chance.randrange(12000), chance.choice((1, 2, 4, 8)), now))
                address += length
                now += chance.randrange(1, 4)
    return trace


@pytest.mark.parametrize(
    "settings",
    [
        (5, 8, 0, 32, 32, 8, 32),
        (5, 8, 1, 32, 32, 8, 32),
        (5, 16, 0, 32, 32, 8, 32),
        (3, 16, 1, 64, 16, 8, 16),
        (5, 8, 0, 0, 8, 0, 8),
        (7, 4, 1, 0, 4, 3, 256),
        (1, 2, 0, 1, 2, 5, 64),
    ],
)
def test_waits_are_those_of_a_slow_model(library: ctypes.CDLL, settings: tuple[int, ...]):
    fast, slow = Fast(library, settings), Slow(*settings)
    for seed in range(3):
        for step, (side, address, size, now) in enumerate(_trace(seed)):
            time = now + seed * 1_000_000
            expected = slow.access(side, address, size, time)
            assert fast.access(side, address, size, time) == expected, (step, side, address)


def test_a_loop_as_long_as_the_cache_waits_once_and_a_longer_one_always(library: ctypes.CDLL):
    for size, again in ((1024, 0), (1056, 5 * 1056 // 8)):
        flash = Fast(library, (5, 8, 0, 32, 32, 8, 32))
        rounds = [sum(flash.access("code", at, 2, 0) for at in range(0, size, 2)) for _ in range(3)]
        assert rounds == [5 * size // 8, again, again]


def test_an_instruction_across_two_lines_waits_for_both(library: ctypes.CDLL):
    flash = Fast(library, (5, 8, 0, 32, 32, 8, 32))
    assert flash.access("code", 6, 4, 0) == 10
    assert flash.access("code", 4, 2, 10) == 0


def test_a_prefetched_line_costs_what_is_left_of_its_reading(library: ctypes.CDLL):
    for elapsed, left in ((0, 5), (2, 3), (9, 0)):
        flash = Fast(library, (5, 8, 1, 32, 32, 8, 32))
        assert flash.access("code", 0, 8, 0) == 5
        assert flash.access("code", 8, 8, 5 + elapsed) == left


def test_code_and_constants_have_caches_of_their_own(library: ctypes.CDLL):
    flash = Fast(library, (5, 8, 0, 32, 32, 8, 32))
    assert flash.access("code", 64, 4, 0) == 5
    assert flash.access("data", 64, 4, 0) == 5
    assert flash.access("data", 68, 4, 0) == 0


def board(machine: str) -> object:
    return dataclasses.replace(fake_model.arm_board(), name=f"on-{machine}", qemu_machine=machine)


def test_this_machine_has_what_the_tests_use() -> None:
    findings = {finding.name: finding for finding in doctor([board("netduinoplus2"), board("pdp11")])}  # type: ignore[list-item]
    for name in (
        "python",
        "cffi",
        "numpy",
        "pyelftools",
        "arm-none-eabi-gcc",
        "newlib for arm-none-eabi",
        "gcc",
    ):
        assert findings[name].ok and not findings[name].optional, name
    assert findings["QEMU machine netduinoplus2"].ok
    unknown = findings["QEMU machine pdp11"]
    assert not unknown.ok and unknown.required_for == "running on on-pdp11"
    assert unknown.install == "sudo apt-get install qemu-system-arm"


def test_an_empty_machine_gets_exact_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    findings = {finding.name: finding for finding in doctor([board("netduinoplus2")])}  # type: ignore[list-item]
    commands = {
        "arm-none-eabi-gcc": "sudo apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi",
        "newlib for arm-none-eabi": "sudo apt-get install libnewlib-arm-none-eabi",
        "qemu-system-arm": "sudo apt-get install qemu-system-arm",
        "QEMU machine netduinoplus2": "sudo apt-get install qemu-system-arm",
        "gcc": "sudo apt-get install gcc libc6-dev",
        "cmake": "sudo apt-get install cmake",
    }
    for name, command in commands.items():
        assert not findings[name].ok and findings[name].install == command
    assert findings["arm-none-eabi-gcc"].detail == "not in PATH"
    assert findings["cmake"].optional and not findings["arm-none-eabi-gcc"].optional


def test_every_declared_dependency_is_looked_for() -> None:
    names = {finding.name: finding for finding in doctor()}
    for name in (
        "cffi",
        "click",
        "cobs",
        "flatbuffers",
        "jinja2",
        "msgspec",
        "numpy",
        "pyelftools",
        "pyserial",
    ):
        assert names[name].required_for == "everything" and "pip install" in names[name].install
    assert names["scikit-learn"].optional and names["hypothesis"].optional
