"""Findings about the tools that codegen needs: those of this machine, and commands that install the
others."""

import importlib.metadata
import re
import shutil
import sys
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path

from codegen.disk import temporary_folder
from codegen.extras import pip_install, requirements
from codegen.ir import Board, Runner
from codegen.targets.core_family import CoreFamily, EmulatorFacts
from codegen.targets.families import core_families, install_command
from codegen.toolchain import gcc
from codegen.toolchain.finding import Finding, Topic

INSTALL_CMAKE = "sudo apt-get install cmake"
_PYTHON = (3, 11)
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def doctor(boards: Iterable[Board] = (), asked: Board | None = None) -> tuple[Finding, ...]:
    """Look for everything the tool uses. `boards`: those whose QEMU machines should be known here.

    Tools of a core family may be optional unless the board that is `asked` for has a core of it.
    """
    cpu = asked.target.cpu if asked else None
    spared = {family.name for family in core_families() if family.is_on_request and cpu not in family.cpus}
    return (
        _python(),
        *(_package(requirement, extra) for requirement, extra in requirements()),
        *(
            replace(finding, optional=family.name in spared)
            for family in core_families()
            if family.image
            for finding in _cross_compiler(family)
        ),
        *_qemu(tuple(boards), spared),
        _program(Topic.HOST, "gcc", "board host", install_command("gcc")),
        _sanitizers(),
        _program(
            Topic.EXTRAS,
            "cmake",
            "building an emitted folder with its CMake file",
            INSTALL_CMAKE,
            optional=True,
        ),
    )


def _python() -> Finding:
    python = sys.version_info
    return Finding(
        topic=Topic.PYTHON,
        name="python",
        ok=python >= _PYTHON,
        required_for="everything",
        detail=f"{python.major}.{python.minor}.{python.micro} (needs {'.'.join(map(str, _PYTHON))} or later)",
        install="sudo apt-get install python3 python3-venv",
    )


def _package(requirement: str, extra: str | None) -> Finding:
    """One dependency, an extra's too, as the installed distribution declares it."""
    match = _NAME.match(requirement)
    name = match[0] if match else requirement
    lowest = re.search(r">=\s*([0-9.]+)", requirement)
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        version = None
    fits = version is not None and (lowest is None or _numbers(version) >= _numbers(lowest[1]))
    return Finding(
        topic=Topic.PYTHON if extra is None else Topic.EXTRAS,
        name=name,
        ok=fits,
        required_for="everything" if extra is None else _EXTRAS.get(extra, f"extra {extra}"),
        optional=extra is not None,
        detail=(version or "not installed")
        + (f" (needs {lowest[1]} or later)" if lowest and not fits else ""),
        install=pip_install([requirement]),
    )


_EXTRAS = {"train": "training the shipped example", "test": "make test", "lint": "make lint"}


def _numbers(version: str) -> tuple[int, ...]:
    """`1.16.0rc1` -> (1, 16, 0): enough to compare with a lower limit."""
    parts = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, parts[0].split("."))) if parts else ()


def _program(
    topic: Topic, name: str, required_for: str, install: str, *, optional: bool = False, family: str = ""
) -> Finding:
    """A program that tells its version on the first line of `--version`."""
    path = shutil.which(name)
    detail = "not in PATH"
    if path is not None:
        lines = gcc.call([path, "--version"], Path.cwd()).stdout.splitlines()
        detail = lines[0] if lines else f"{path} does not tell its version"
    return Finding(
        topic=topic,
        family=family,
        name=name,
        ok=path is not None,
        required_for=required_for,
        detail=detail,
        install=install,
        optional=optional,
    )


def _cross_compiler(family: CoreFamily) -> list[Finding]:
    """The compiler of a family. Its C library may be a package of its own, without which it installs."""
    facts, compiler = family.compiler, f"{family.compiler.prefix}gcc"
    purpose = f"{family.title} boards"
    finding = _program(Topic.CROSS, compiler, purpose, facts.install, family=family.name)
    if not facts.library:
        return [finding]
    program = "#include <string.h>\nvoid f(char *p);\nvoid f(char *p) { memset(p, 0, 64); }\n"
    problem = _compile_problem(compiler, (*facts.library_probe, *facts.options, "-c"), program)
    library = Finding(
        topic=Topic.CROSS,
        family=family.name,
        name=facts.library,
        ok=problem is None,
        required_for=purpose,
        detail=problem or "string.h compiles",
        install=facts.library_install,
    )
    return [finding, library]


def _sanitizers() -> Finding:
    problem = _compile_problem("gcc", ("-fsanitize=address,undefined",), "int main(void) { return 0; }\n")
    return Finding(
        topic=Topic.EXTRAS,
        name="sanitizers of gcc",
        ok=problem is None,
        required_for="checking each step's memory on the host (make test)",
        optional=True,
        detail=problem or "a program links with AddressSanitizer and UBSan",
        install=install_command("gcc"),
    )


def _compile_problem(compiler: str, options: tuple[str, ...], program: str) -> str | None:
    """None if `program` builds, else the compiler's first error."""
    path = shutil.which(compiler)
    if path is None:
        return f"{compiler} is not in PATH"
    with temporary_folder("doctor") as folder:
        (folder / "probe.c").write_text(program)
        done = gcc.call([path, *options, "probe.c", "-o", "probe.out"], folder)
    if done.returncode == 0:
        return None
    errors = [line for line in done.stderr.splitlines() if "error" in line] or [f"status {done.returncode}"]
    return errors[0]


def _qemu(boards: tuple[Board, ...], spared: Collection[str]) -> list[Finding]:
    """The QEMU of each family, and the machines of its boards; optional for the families `spared`."""
    findings: list[Finding] = []
    for family in core_families():
        if family.emulator is not None:
            emulated = [board for board in boards if board.target.cpu in family.cpus]
            optional = family.name in spared
            findings += [
                replace(finding, optional=optional) for finding in _emulator(family.emulator, emulated)
            ]
    return findings


def _emulator(emulator: EmulatorFacts, boards: Iterable[Board]) -> list[Finding]:
    program = _program(Topic.QEMU, emulator.program, "running on an emulated board", emulator.install)
    names_of: dict[str, list[str]] = {}
    for board in boards:
        if board.runner is Runner.QEMU and board.qemu_machine:
            names_of.setdefault(board.qemu_machine, []).append(board.name)
    known = _qemu_machines(emulator.program) if program.ok else frozenset[str]()
    machines = [
        Finding(
            topic=Topic.QEMU,
            name=f"QEMU machine {machine}",
            ok=machine in known,
            required_for=f"running on {', '.join(names)}",
            detail="known" if machine in known else f"this {emulator.program} does not know it",
            install=emulator.install,
        )
        for machine, names in sorted(names_of.items())
    ]
    return [program, *machines]


def _qemu_machines(program: str) -> frozenset[str]:
    """Names that `-machine help` lists: the word that each line after the heading begins with."""
    listing = gcc.call([shutil.which(program) or "", "-machine", "help"], Path.cwd()).stdout
    return frozenset(line.split()[0] for line in listing.splitlines()[1:] if line.strip())
