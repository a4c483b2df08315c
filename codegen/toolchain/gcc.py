"""Calling the compilers: finding them, compiling many files at once, and saying what they said."""

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from codegen import disk
from codegen.errors import CodegenError, Message, in_bytes
from codegen.progress import Progress, silent
from codegen.targets.families import install_command

WARNINGS = (
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wshadow",
    "-Wcast-align=strict",
    "-Wcast-qual",
    "-Wundef",
    "-Wvla",
)
_WARNING_FREE_MAJOR = 12
"""Warnings are errors with the version all C is tested with; a later gcc's new warning stops nobody."""

USER_FOLDER = "user/"
"""Sources that users wrote."""


def warnings(source: str) -> tuple[str, ...]:
    """Warnings to ask for in `source`; in users' files they stop nobody: our style is not theirs to keep."""
    return (*WARNINGS, "-Wno-error") if source.startswith(USER_FOLDER) else WARNINGS


_DIAGNOSTIC = re.compile(r"^(?P<where>[^:\s]+:\d+)(?::\d+)?: (?:fatal )?error: (?P<text>.*)$")
_SHOWN_ERRORS = 8
_DISK_FULL = re.compile(r"No space left on device|Disk quota exceeded|File too large")
_NO_C_LIBRARY = re.compile(r"\b(?:string|stdint)\.h: No such file")
_NO_LIBRARY = re.compile(r"cannot find (?P<library>-l\w+|\S*lib\w+\.(?:so|a|o)\b\S*)")


def tool(name: str) -> str:
    """Path of the program `name` (`gcc`, or one of a cross compiler); raises CodegenError E501."""
    path = shutil.which(name)
    if path is None:
        raise CodegenError(_missing(name, name, " or not in PATH"))
    return path


def _missing(what: str, compiler: str, rest: str = "") -> Message:
    help_ = f"install it: {install_command(compiler)}"
    return Message(code="E501", text=f"{what} is not installed{rest}", help=help_)


def call(command: Sequence[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a tool in English (its messages are parsed) and capture what it prints."""
    environment = {**os.environ, "LC_ALL": "C", "LANGUAGE": "C"}
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, errors="replace", check=False
    )


@functools.cache
def _version(path: str) -> str:
    return call([path, "-dumpfullversion"], Path.cwd()).stdout.strip()


@dataclass(frozen=True, kw_only=True, slots=True)
class CompilePlace:
    """Place where compilers work: in `folder` of the sources, writing to `objects`, `jobs` at a time.
    `progress` hears of every file."""

    folder: Path
    objects: Path
    jobs: int = 2
    progress: Progress = silent

    def published(self, image: Path) -> Path:
        """Copy a linked image to the folder, whole or not at all; returns where it is."""
        path = self.folder / image.name
        disk.write_whole(path, image.read_bytes(), mode=0o755 & ~disk.umask())
        return path


@dataclass(frozen=True, kw_only=True, slots=True)
class CompileUnit:
    """One file to compile: `source` below the folder, the object to write, options of its own."""

    source: str
    object: Path
    options: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Compiler:
    """One gcc with the options every file gets; `prefix` is that of its programs' names."""

    prefix: str
    options: tuple[str, ...]

    @property
    def name(self) -> str:
        """Program name."""
        return f"{self.prefix}gcc"

    def version(self) -> str:
        """Version that `-dumpfullversion` prints, e.g. `12.2.1`; raises CodegenError E501."""
        return _version(tool(self.name))

    def compile(self, units: Iterable[CompileUnit], place: CompilePlace) -> None:
        """Compile all units, `place.jobs` at a time.

        Paths below `place.folder` appear relative in objects, so their bytes do not depend on where it
        lies. Raises CodegenError: E231 on a full disk, E501 without a compiler, E502 with the first errors
        of all files.
        """
        command = [tool(self.name), *self.options, f"-ffile-prefix-map={place.folder}=."]
        if self.version().split(".")[0] == str(_WARNING_FREE_MAJOR):
            command.append("-Werror")

        # gcc 12 does not hand its prefix map to the assembler for files that are assembly to begin with.
        mapped = ("-Xassembler", f"--debug-prefix-map={place.folder}=.")

        def one(unit: CompileUnit) -> list[Message]:
            more = mapped if unit.source.endswith(".S") else ()
            options = (*unit.options, *more, "-c", unit.source, "-o", str(unit.object))
            done = call([*command, *options], place.folder)
            _check_room(done, place)
            return [] if done.returncode == 0 else self._errors(unit, done)

        files, messages = tuple(units), list[Message]()
        place.progress("compile", 0, len(files))
        with ThreadPoolExecutor(max_workers=max(1, place.jobs)) as pool:
            for done, errors in enumerate(pool.map(one, files), 1):
                messages += errors
                place.progress("compile", done, len(files))
        if messages:
            raise CodegenError(_shortened(messages))

    def link(self, arguments: Sequence[str], place: CompilePlace) -> None:
        """Link; raises RegionsTooSmall E410, CodegenError E231 on a full disk, E503 for anything else."""
        done = call([tool(self.name), *self.options, *arguments], place.folder)
        _check_room(done, place)
        if done.returncode:
            messages, lacking = link_messages(done.stderr, self.name), lacking_bytes(done.stderr)
            raise RegionsTooSmall(messages, lacking) if lacking else CodegenError(messages)

    def _errors(self, unit: CompileUnit, done: subprocess.CompletedProcess[str]) -> list[Message]:
        advice = (
            "correct the file that codegen.toml names for this kernel (docs/user_kernels.md)"
            if unit.source.startswith(USER_FOLDER)
            else f"generated code compiles unless it was edited: build again into a new folder; if it stays, "
            f"report it with this version: {self.name} {self.version()}"
        )
        if _NO_C_LIBRARY.search(done.stderr):
            return [_missing(f"the C library of {self.name}", self.name)]
        diagnostics = [match for line in done.stderr.splitlines() if (match := _DIAGNOSTIC.match(line))]
        if not diagnostics:
            last = done.stderr.strip().splitlines()[-1:] or [f"it ended with status {done.returncode}"]
            problem = f"{self.name} failed: {last[0]}"
            return [Message(code="E502", where=unit.source, text=problem, help=advice)]
        texts = [(match["where"], f"does not compile: {match['text']}") for match in diagnostics]
        return [Message(code="E502", where=where, text=text, help=advice) for where, text in texts]


def _check_room(done: subprocess.CompletedProcess[str], place: CompilePlace) -> None:
    """Raise CodegenError E231 if a compiler failed because there was no room for what it wrote."""
    reason = _DISK_FULL.search(done.stderr) if done.returncode else None
    if reason is not None:
        text = f"objects cannot be written: {reason[0]}"
        help_ = "make room there, or name a folder on another disk in the environment variable TMPDIR"
        raise CodegenError(Message(code="E231", where=str(place.objects.parent), text=text, help=help_))


def _shortened(messages: list[Message]) -> list[Message]:
    shown = messages[:_SHOWN_ERRORS]
    if len(messages) > len(shown):
        shown.append(Message(code="E502", text=f"{len(messages) - len(shown)} more errors are not shown"))
    return shown


class RegionsTooSmall(CodegenError):
    """E410: what was linked exceeds regions. `lacking`: by how many bytes, by name of the region."""

    def __init__(self, messages: Iterable[Message], lacking: Mapping[str, int]) -> None:
        self.lacking = dict(lacking)
        super().__init__(messages)


_OVERFLOW = re.compile(r"region `(?P<region>[^']+)' overflowed by (?P<bytes>\d+) bytes?")
_UNDEFINED = re.compile(r"undefined reference to `(?P<symbol>[^']+)'")


def lacking_bytes(stderr: str) -> dict[str, int]:
    """By how many bytes regions overflow, by name, in what ld printed."""
    return {match["region"]: int(match["bytes"]) for match in _OVERFLOW.finditer(stderr)}


def link_messages(stderr: str, compiler: str) -> list[Message]:
    """Messages for what ld printed: one a region that overflows, a library that is missing or an
    undefined symbol; else its first line."""
    lacking = lacking_bytes(stderr)
    if lacking:
        return [
            Message(
                code="E410",
                where=f"region {region}",
                text=f"the firmware does not fit: the region lacks {in_bytes(count)}",
                help="try --optimize size, a smaller pool (--pool NAME=BYTES) or a board with more memory",
            )
            for region, count in lacking.items()
        ]
    absent = sorted({match["library"] for match in _NO_LIBRARY.finditer(stderr)})
    if absent:
        return [_missing(f"a library of {compiler}, {' and '.join(absent)},", compiler)]
    undefined = sorted({match["symbol"] for match in _UNDEFINED.finditer(stderr)})
    if undefined:
        return [
            Message(
                code="E503",
                text=f"does not link: `{symbol}` is used and nowhere defined",
                help="generated code needs memcpy, memset and libgcc only: reinstall the compiler's "
                f"C library ({install_command(compiler)}), or report this; a kernel of codegen.toml may use "
                "no more, and its source has to define its symbol",
            )
            for symbol in undefined
        ]
    lines = [line for line in stderr.strip().splitlines() if "collect2" not in line]
    return [
        Message(
            code="E503",
            text="does not link: " + (lines[0] if lines else "the linker said nothing"),
            help="see `codegen doctor` for what this machine lacks",
        )
    ]
