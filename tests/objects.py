"""Objects that were compiled before, for builds in the suite's own processes: no program is started for one.

Most of what a small build took was starting ccache, and a shell in front of it, for files that it knew. Here
an object is found by all that it depends on: compiler, options, source, and each header that the source
includes or may include, by content. So a changed header makes another object, and so does a new one that
hides another. What cannot be told from the text (a header named by a macro, the time of day) is compiled.

Commands that tests start, CMake and compilers called by themselves go through ccache (tests/programs.py).
"""

import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen.toolchain import gcc

VARIABLE = "CODEGEN_TEST_OBJECTS"
"""Where objects are kept, and which compilers made them. Without it all is compiled. Children inherit it."""

AS_USERS = "CODEGEN_TEST_AS_USERS"
"""Variable under which commands stay as builds of users give them."""
_LEVEL = re.compile(r"-O[23s]")
_MOST_BYTES = 1 << 30
Call = Callable[[Sequence[str], Path], "subprocess.CompletedProcess[str]"]

_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include(?:_next)?\b[ \t]*([^\n]*)", re.MULTILINE)
_NAMED = re.compile(rb'"(?P<own>[^"\n]+)"|<(?P<other>[^>\n]+)>')
_UNTOLD = re.compile(
    rb"__(?:DATE|TIME|TIMESTAMP)__|__has_(?:include|embed)|^[ \t]*#[ \t]*embed\b|\.inc(?:bin|lude)\b",
    re.MULTILINE,
)
_SPECS = "--specs="
"""Where a file of this name lies, the compiler knows; it names headers, too."""
_OPTION = re.compile(rf"-[fgmOWD].*|-std=.*|-I.+|{_SPECS}.+|-Xassembler|--debug-prefix-map=.*", re.DOTALL)
"""Options that mean what they say. Others may name files."""
_MAPS = ("-ffile-prefix-map=", "--debug-prefix-map=")
_ONE_AT_A_TIME = threading.Lock()
"""Looking up is all Python: threads that wait for each other at every file take twice as long."""
_SETTINGS = ("CCACHE_DISABLE", "CPATH", "C_INCLUDE_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX")
"""Variables under which nothing is taken from here."""


def offer(folder: Path, compilers: Mapping[str, str]) -> None:
    """Let this process and its children keep objects in `folder`; `compilers`: by the program called."""
    if sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) > _MOST_BYTES:
        shutil.rmtree(folder, ignore_errors=True)
    os.environ[VARIABLE] = json.dumps({"folder": str(folder), "compilers": dict(compilers)})


def keep() -> None:
    """From now on files that codegen compiles in this process are looked up where `offer` said, and compiled
    without the work that no test sees (`quick_command`)."""
    inner = gcc.call
    gcc.call = lambda command, cwd: compiled(inner, quick_command(command), cwd)


def quick_command(command: Sequence[str]) -> list[str]:
    """The command without debug information, a quarter of the compiler's time; for this machine at -O1, half
    of it. Every other option stays, and so do results, which are exact.

    The fixture `as_users_compile` keeps a command as it is.
    """
    if "-g" not in command or AS_USERS in os.environ:  # then it is no build, or one to be left alone
        return list(command)
    words = [word for word in command if word != "-g"]
    is_of_this_machine = Path(command[0]).name == "gcc"
    return ["-O1" if is_of_this_machine and _LEVEL.fullmatch(word) else word for word in words]


def compiled(call: Call, command: Sequence[str], cwd: Path) -> "subprocess.CompletedProcess[str]":
    """What `call(command, cwd)` gives, and leaves."""
    offered = os.environ.get(VARIABLE)
    if not offered or any(name in os.environ for name in _SETTINGS):
        return call(command, cwd)
    folder, compilers = _offered(offered)
    unit = _unit(command, cwd, compilers)
    if unit is None:
        return call(command, cwd)
    with _ONE_AT_A_TIME:
        key = _key(unit)
        entry = key and Path(folder, key[:2], key[2:])
        if entry and _taken(entry, unit.results):
            return subprocess.CompletedProcess(command, 0, "", "")
    done = call([unit.compiler, *command[1:]], cwd)
    if entry and done.returncode == 0 and not done.stdout and not done.stderr:
        _store(entry, unit.results)
    return done


@functools.cache
def _offered(text: str) -> tuple[str, dict[str, str]]:
    told = json.loads(text)
    return told["folder"], told["compilers"]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Unit:
    """One file to compile. `words`: what decides beside files. The folder it lies in does not where an option
    keeps it out of the object."""

    compiler: str
    specs: tuple[str, ...]
    words: tuple[str, ...]
    source: Path
    includes: tuple[Path, ...]
    results: tuple[Path, ...]


def _unit(command: Sequence[str], cwd: Path, compilers: Mapping[str, str]) -> _Unit | None:
    """The file that a command compiles; None for any other command."""
    *options, flag, source, out, result = command[1:] if len(command) > 5 else ("",) * 4
    compiler = compilers.get(command[0])
    if compiler is None or (flag, out) != ("-c", "-o") or not all(map(_OPTION.fullmatch, options)):
        return None
    words = [_without_folder(each, str(cwd)) for each in options]
    if words == options:  # then the folder may be in the object
        words.append(str(cwd))
    stack_usage = [Path(result).with_suffix(".su")] if "-fstack-usage" in options else []
    return _Unit(
        compiler=compiler,
        specs=tuple(each for each in options if each.startswith(_SPECS)),
        words=(*words, source),
        source=cwd / source,
        includes=tuple(cwd / each[2:] for each in options if each.startswith("-I")),
        results=(Path(result), *stack_usage),
    )


def _without_folder(option: str, folder: str) -> str:
    for head in _MAPS:
        if option.startswith(f"{head}{folder}="):
            return head + option.removeprefix(f"{head}{folder}")
    return option


def _key(unit: _Unit) -> str | None:
    """By all that decides what is compiled; None where the text does not tell it."""
    parts = [_identity(unit.compiler), *unit.words]
    try:
        for name, digest in _read(unit.source, unit.includes, _headers_of(unit.compiler, unit.specs)):
            parts += name, digest
    except (OSError, _UntoldError):
        return None
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


class _UntoldError(Exception):
    """What a file depends on is not in its text."""


def _read(source: Path, includes: Sequence[Path], others: tuple[Path, ...]) -> Iterator[tuple[str, str]]:
    """Source and own headers, each as it is included and by content; headers of the compiler by name."""
    left, seen = [("", source)], {source}
    while left:
        name, path = left.pop()
        data = path.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        yield name, digest
        for own, named in _included(digest, data):
            folders = [path.parent, *includes] if own else includes
            number = next((n for n, folder in enumerate(folders) if (folder / named).is_file()), None)
            if number is None:
                yield named, _of_compiler(named, others)
            elif (found := folders[number] / named) not in seen:
                seen.add(found)
                left.append((f"{number} {named}", found))


_READ: dict[str, tuple[tuple[bool, str], ...]] = {}


def _included(digest: str, data: bytes) -> tuple[tuple[bool, str], ...]:
    """Headers that a text names, and whether in quotes. Raises _UntoldError."""
    if digest not in _READ:
        if _UNTOLD.search(data):
            raise _UntoldError
        _READ[digest] = tuple(_names(data))
    return _READ[digest]


def _names(data: bytes) -> Iterator[tuple[bool, str]]:
    for match in _INCLUDE.finditer(data):
        named = _NAMED.match(match[1])
        if named is None:
            raise _UntoldError
        yield named["own"] is not None, (named["own"] or named["other"]).decode()


@functools.cache
def _of_compiler(name: str, folders: tuple[Path, ...]) -> str:
    """Digest of a header of the compiler, and of all that it names, wherever one of that name lies."""
    digest, left, seen = hashlib.sha256(), [name], {name}
    while left:
        name = left.pop()
        for path in (folder / name for folder in folders):
            if path.is_file():
                data = path.read_bytes()
                digest.update(f"{path}\0{len(data)}\0".encode() + data)
                named = {(one or other).decode(errors="replace") for one, other in _NAMED.findall(data)}
                left += sorted(named - seen)
                seen |= named
    return digest.hexdigest()


@functools.cache
def _headers_of(compiler: str, specs: tuple[str, ...]) -> tuple[Path, ...]:
    """Folders in which it looks for headers of its own, and those of its library."""
    told = _asked(compiler, *specs, "-E", "-v", "-xc", os.devnull).stderr
    listed = told.partition("#include <...> search starts here:\n")[2].partition("End of search list")[0]
    return tuple(Path(line.strip()) for line in listed.splitlines())


@functools.cache
def _identity(compiler: str) -> str:
    """Which compiler it is: its programs, as they lie there."""
    programs = [_asked(compiler, f"-print-prog-name={name}").stdout.strip() for name in ("cc1", "as")]
    paths = [Path(shutil.which(each) or each) for each in (compiler, *programs)]
    return repr([(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in paths])


def _asked(compiler: str, *words: str) -> "subprocess.CompletedProcess[str]":
    english = {**os.environ, "LC_ALL": "C"}
    return subprocess.run([compiler, *words], env=english, capture_output=True, text=True, check=True)


_LENGTH = 8


def _taken(entry: Path, results: Sequence[Path]) -> bool:
    """Write what an entry holds where it is wanted; False if there is none, or a damaged one."""
    try:
        whole = entry.read_bytes()
        digest, rest = whole[:32], whole[32:]
        if hashlib.sha256(rest).digest() != digest:
            return False
        for path in results:
            end = _LENGTH + int.from_bytes(rest[:_LENGTH], "big")
            path.write_bytes(rest[_LENGTH:end])
            rest = rest[end:]
    except OSError:
        return False
    return True


def _store(entry: Path, results: Sequence[Path]) -> None:
    """Keep what was written. On a full disk, nothing is kept."""
    try:
        parts = [path.read_bytes() for path in results]
        whole = b"".join(len(part).to_bytes(_LENGTH, "big") + part for part in parts)
        entry.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=entry.parent, delete=False) as file:
            file.write(hashlib.sha256(whole).digest() + whole)
        Path(file.name).replace(entry)
    except OSError:
        return
