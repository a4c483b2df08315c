"""Vela as a child process: a .tflite file in, the file that it compiles for an Ethos-U out.

It is a package of the registry (extra `npu`): this Python's, or the one that the command `vela` belongs to.
"""

import csv
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from codegen.disk import temporary_folder
from codegen.errors import CodegenError, Message
from codegen.extras import install_extra

CONFIGURATIONS = (
    "ethos-u55-32",
    "ethos-u55-64",
    "ethos-u55-128",
    "ethos-u55-256",
    "ethos-u65-256",
    "ethos-u65-512",
)
"""Names that Vela has for them; streams of others cannot be read here."""
_SECONDS = 600
_KIB = 1024
_ARENA = ("sram_memory_used", "dram_memory_used")
"""Columns of Vela's summary, in KiB."""
_STEM = "network"
_LEFT = re.compile(r"operator: \w+, ofm: '([^'\n]*)'\s*\n\s*Reason: ([^\n]+)")
_COMMAND_LINE = "import sys; from ethosu.vela.vela import main; sys.exit(main(sys.argv[1:]))"


@dataclass(frozen=True, kw_only=True, slots=True)
class Compiled:
    """A file that Vela compiled, and its own figures of it."""

    data: bytes
    version: str
    """Version of Vela."""
    cycles: int
    """Vela's estimate of an inference on the NPU, in cycles of the NPU."""
    arena_bytes: int
    """Vela's figure of the SRAM and DRAM that it takes."""
    reasons: Mapping[str, str]
    """Result of an operator that Vela left to the core -> why, in Vela's words."""

    @property
    def notes(self) -> Mapping[str, str]:
        """The figures as metadata of a module."""
        return {
            "vela": self.version,
            "vela_cycles": str(self.cycles),
            "vela_arena_bytes": str(self.arena_bytes),
            "vela_reasons": json.dumps(dict(self.reasons)),
        }


def compiled_for(data: bytes, file_name: str, configuration: str) -> Compiled:
    """Compile the .tflite file `data` for a configuration of `CONFIGURATIONS`.

    Raises CodegenError: E313 without Vela, E317 for another configuration, E318 where Vela fails.
    """
    if configuration not in CONFIGURATIONS:
        text = f"there is no configuration {configuration}"
        help_ = f"configurations are {', '.join(CONFIGURATIONS)}"
        raise CodegenError(Message(code="E317", where="--npu", text=text, help=help_))
    command = _command()
    with temporary_folder("codegen-vela-") as folder:
        path = folder / f"{_STEM}.tflite"
        path.write_bytes(data)
        words = ["--accelerator-config", configuration, "--output-dir", str(folder), str(path)]
        said = _call([*command, *words], file_name)
        made = folder / f"{_STEM}_vela.tflite"
        if not made.is_file():
            raise _failed(file_name, said)
        figures = _figures(folder)
        return Compiled(
            data=made.read_bytes(),
            version=_version(tuple(command)),
            cycles=round(float(figures["cycles_total"])),
            arena_bytes=round(sum(float(figures[name]) for name in _ARENA) * _KIB),
            reasons=dict(_LEFT.findall(said)),
        )


def _command() -> list[str]:
    if importlib.util.find_spec("ethosu") is not None:
        return [sys.executable, "-c", _COMMAND_LINE]
    command = shutil.which("vela")
    if command is None:
        text = "--npu compiles with Vela, Arm's compiler for the Ethos-U, which is not installed"
        raise CodegenError(Message(code="E313", text=text, help=install_extra("npu")))
    return [command]


def _call(words: Sequence[str], file_name: str) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _failed(file_name, str(error)) from error
    if done.returncode:
        raise _failed(file_name, f"{done.stdout}\n{done.stderr}")
    return f"{done.stdout}\n{done.stderr}"


def _failed(file_name: str, said: str) -> CodegenError:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    text = f"Vela cannot compile the file: {lines[-1] if lines else 'it says nothing'}"
    help_ = "compile it with vela by itself to see more, or build without --npu"
    return CodegenError(Message(code="E318", where=file_name, text=text, help=help_))


@cache
def _version(command: tuple[str, ...]) -> str:
    said = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    numbers = re.search(r"\d+(\.\d+)+", said.stdout)
    return numbers[0] if numbers else "unknown"


def _figures(folder: Path) -> Mapping[str, str]:
    """The row of Vela's summary."""
    [summary] = folder.glob(f"{_STEM}_summary_*.csv")
    with summary.open(encoding="utf-8", newline="") as lines:
        [row] = csv.DictReader(lines)
    return row
