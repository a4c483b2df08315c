"""Loads and stores that are not aligned: QEMU lets them pass, RISC-V cores may trap."""

import subprocess
from pathlib import Path

from codegen.board.machines.qemu import plugin_api
from codegen.ir import Board
from codegen.resources import folder
from codegen.toolchain import gcc

_WATCHING = "watching"
"""Line that the plugin writes at the first access of all."""


def build_plugin(board: Board, target: Path) -> Path:
    """Compile the plugin (unaligned.c) for the QEMU that runs `board`."""
    options = ["-std=gnu11", "-O2", "-shared", "-fPIC", f"-DQEMU_PLUGIN_API={plugin_api(board)}"]
    options.append(f"-I{folder('runtime_c') / 'qemu_plugin'}")
    source = Path(__file__).with_suffix(".c")
    subprocess.run([gcc.tool("gcc"), *options, str(source), "-o", str(target)], check=True)
    return target


def plugin_words(plugin: Path, accesses: Path) -> str:
    """The plugin as QEMU's `-plugin` takes it; it writes `accesses`."""
    return f"{plugin},out={accesses}"


def unaligned_accesses(accesses: Path) -> list[str]:
    """The accesses that were not aligned, as lines. Raises AssertionError where none was watched."""
    lines = accesses.read_text(encoding="ascii").splitlines()
    assert lines[:1] == [_WATCHING], "the plugin saw no access"
    return lines[1:]
