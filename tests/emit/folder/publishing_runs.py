"""Builds of a folder that are killed, disturbed or stopped by a full disk: each a forked process.

`python -m tests.emit.folder.publishing_runs WHAT FOLDER` runs one of `_RUNS` and ends with status 0 if all
held.
It is a process of its own because it forks, and because an audit hook (which sees each system call that
Python's os module is about to make) cannot be taken off again.
"""

import argparse
import ctypes
import errno
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from codegen.emit import write
from codegen.emit.folder.manifest import edited, read_manifest
from codegen.errors import CodegenError
from codegen.program.image import ProductFunctions, Sources

_CALLS = {
    *("open", "os.chmod", "os.link", "os.listdir", "os.mkdir", "os.remove", "os.rename", "os.rmdir"),
    *(
        "os.scandir",
        "os.symlink",
        "os.utime",
        "os.truncate",
        "fcntl.flock",
        "shutil.rmtree",
        "tempfile.mkdtemp",
    ),
}
_WRITES = {"os.link", "os.mkdir", "os.rename", "os.symlink", "tempfile.mkdtemp"}
_FILES = ("model.c", "model.h", "runtime/kernel.c", "runtime/kernel.h", "firmware/main.c")


def sources(version: int) -> Sources:
    """Files that all say which build they are of; every other build has one more."""
    names = [*_FILES, "extra.c"] if version % 2 else _FILES
    return Sources(
        files=dict.fromkeys(names, f"{version}\n" * 500),
        c_files=(),
        model_files=(),
        include_dirs=(".",),
        linker_script=None,
        functions=ProductFunctions(entries=()),
        prefix="",
    )


def check_whole(folder: Path, among: range) -> None:
    """Every file of one build is there, as it was written."""
    manifest = read_manifest(folder)
    assert manifest is not None, "no manifest"
    assert not edited(folder, manifest), edited(folder, manifest)
    texts = {name: (folder / name).read_text().split()[0] for name in manifest}
    assert len(set(texts.values())) == 1 and set(_FILES) <= set(texts), texts
    assert int(texts["model.c"]) in among, (texts, among)


def check_alone(folder: Path) -> None:
    """Nothing lies beside the folder."""
    beside = [path.name for path in folder.parent.iterdir() if path != folder]
    assert not beside, beside


def save(path: Path, text: str) -> None:
    """As editors save: a file beside it that takes its place."""
    written = path.with_name(f"{path.name}~")
    written.write_text(text)
    written.replace(path)


def child(work: Callable[[], object]) -> int:
    """Process that does `work` and ends with 0, with 9 if a user's error stopped it, with 1 for a bug."""
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        work()
        status = 0
    except CodegenError as error:
        status = 9 if "No space left" in str(error) else 1
        if status == 1:
            sys.stderr.write(f"child: {error!r}\n")
    except BaseException as error:
        sys.stderr.write(f"child: {error!r}\n")
    finally:
        os._exit(status)


def ended(process: int) -> int:
    """Its exit status, or minus its signal."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


_NOT_REACHED = 8
"""Exit status of a build that made fewer calls."""


def disturbed(version: int, folder: Path, number: int, act: Callable[[], None], calls: set[str]) -> int:
    """Exit status of a build before whose `number`th call of those in `calls` `act` is called."""

    def work() -> None:
        left = _before_call(number, calls, act)
        write(sources(version), folder)
        if left[0] >= 0:
            os._exit(_NOT_REACHED)

    return ended(child(work))


def _before_call(number: int, calls: set[str], act: Callable[[], None]) -> list[int]:
    left = [number]

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event not in calls or left[0] < 0 or str(arguments[0]).endswith((".py", ".pyc")):
            return
        left[0] -= 1
        if left[0] < 0:
            act()

    sys.addaudithook(hook)
    return left


def start(folder: Path) -> dict[str, str]:
    """A first build with files of the user's in it; what those hold."""
    write(sources(0), folder)
    (folder / "build" / "objects").mkdir(parents=True)
    mine = {
        "notes": "first",
        "build/CMakeCache.txt": "cache",
        "build/objects/a.o": "object",
        "runtime/my.c": "m",
    }
    for name, text in mine.items():
        (folder / name).write_text(text)
    return mine


def check_mine(folder: Path, mine: dict[str, str]) -> None:
    """Every file of the user's is there, as it was last saved."""
    found = {name: (folder / name).read_text() if (folder / name).exists() else None for name in mine}
    assert found == mine, {name: (text, mine[name]) for name, text in found.items() if text != mine[name]}


def kill_everywhere(folder: Path, *, saving: bool, exchanges: bool) -> int:
    """Kill a build before each of its calls, with `saving` right after the user saved; returns how many."""
    mine = start(folder)
    for number in range(100_000):
        version = 2 * number + 1

        def act(number: int = number) -> None:
            if saving and folder.exists():
                save(folder / "notes", str(number))
                (folder / "fresh").write_text(str(number))
            os.kill(os.getpid(), signal.SIGKILL)

        status = disturbed(version, folder, number, act, _CALLS)
        if exchanges:
            check_whole(folder, range(version - 1, version + 1))
        if status == _NOT_REACHED:
            return number
        assert status == -signal.SIGKILL, status
        if saving:
            mine |= {"notes": str(number), "fresh": str(number)}
        elif exchanges:
            check_mine(folder, mine)
        write(sources(version + 1), folder)
        check_whole(folder, range(version + 1, version + 2))
        check_alone(folder)
        if saving and not exchanges:  # nothing could be saved where the folder was away
            mine |= {name: (folder / name).read_text() for name in ("notes", "fresh")}
            assert mine["notes"] == mine["fresh"]
        check_mine(folder, mine)
    raise AssertionError("a build without an end")


def save_everywhere(folder: Path, *, exchanges: bool) -> int:
    """Before each call of a build the user saves, adds and removes a file; returns how many."""
    mine = start(folder)
    for number in range(100_000):
        (folder / "unwanted").write_text("x")
        (folder / "build" / "new.o").unlink(missing_ok=True)

        def act(number: int = number) -> None:
            if exchanges or folder.exists():
                save(folder / "notes", str(number))
                (folder / "build" / "new.o").write_text(str(number))
                (folder / "unwanted").unlink()

        status = disturbed(number + 1, folder, number, act, _CALLS)
        check_whole(folder, range(number + 1, number + 2))
        check_alone(folder)
        if status == _NOT_REACHED:
            return number
        assert status == 0, (number, status)
        if exchanges or (folder / "build" / "new.o").exists():
            mine |= {"notes": str(number), "build/new.o": str(number)}
            assert not (folder / "unwanted").exists(), number
        else:
            mine.pop("build/new.o", None)
        check_mine(folder, mine)
    raise AssertionError("a build without an end")


def fill_everywhere(folder: Path) -> int:
    """The disk is full at each call that writes: E231, and the folder is as it was or as it becomes."""
    mine = start(folder)
    stopped = 0
    for number in range(100_000):
        version = 2 * number + 1

        def act() -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        status = disturbed(version, folder, number, act, _WRITES)
        check_whole(folder, range(version - 1, version + 1))
        check_mine(folder, mine)
        if status == _NOT_REACHED:
            return stopped
        assert status in (0, 9), (number, status)
        stopped += status == 9
        write(sources(version + 1), folder)
        check_alone(folder)
    raise AssertionError("a build without an end")


def kill_at_random(folder: Path, count: int, seed: int) -> int:
    """Kill builds at random times, the next one is never told; returns how many were killed."""
    dice = random.Random(seed)
    mine = start(folder)
    killed = version = 0
    began = time.monotonic()
    write(sources(version), folder)
    lasts = 2 * (time.monotonic() - began)
    while killed < count:
        version += 1
        process = child(lambda version=version: write(sources(version), folder))
        time.sleep(dice.uniform(0, lasts))
        os.kill(process, signal.SIGKILL)
        killed += ended(process) == -signal.SIGKILL
        check_whole(folder, range(version + 1))
        check_mine(folder, mine)
    write(sources(version), folder)
    check_alone(folder)
    return killed


def build_together(folder: Path, seconds: float, builders: int, seed: int) -> int:
    """Builders of one folder, some of them killed, and an editor in it; returns how often that saved."""
    mine = start(folder)
    dice = random.Random(seed)
    end = time.monotonic() + seconds

    def builds(number: int) -> None:
        version = number
        while time.monotonic() < end:
            write(sources(version), folder)
            version += builders

    processes = [child(lambda number=number: builds(number)) for number in range(builders)]
    saved = 0
    while time.monotonic() < end:
        saved += 1
        name = dice.choice([*mine, f"new{saved % 50}", f"build/objects/{saved % 50}.o"])
        for _ in range(1000):
            try:
                save(folder / name, str(saved))
            except FileNotFoundError:
                continue  # its temporary file was in the folder that changed places just now
            break
        mine[name] = str(saved)
        if saved % 100 == 0:
            victim = dice.randrange(builders)
            os.kill(processes[victim], signal.SIGKILL)
            assert ended(processes[victim]) == -signal.SIGKILL
            processes[victim] = child(lambda number=victim: builds(number))
        time.sleep(0.001)
    assert [ended(process) for process in processes] == [0] * builders
    write(sources(1), folder)
    check_whole(folder, range(1, 2))
    check_mine(folder, mine)
    check_alone(folder)
    return saved


_RUNS: dict[str, Callable[[Path, argparse.Namespace], int]] = {
    "kill": lambda folder, given: kill_everywhere(folder, saving=False, exchanges=given.exchanges),
    "save-and-kill": lambda folder, given: kill_everywhere(folder, saving=True, exchanges=given.exchanges),
    "save": lambda folder, given: save_everywhere(folder, exchanges=given.exchanges),
    "full": lambda folder, given: fill_everywhere(folder),
    "random": lambda folder, given: kill_at_random(folder, given.count, given.seed),
    "together": lambda folder, given: build_together(folder, given.seconds, given.builders, given.seed),
}


def _without_exchange(*_: object, **__: object) -> None:
    raise OSError("a system without renameat2")


def _main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=_RUNS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--no-exchange", dest="exchanges", action="store_false")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--builders", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if not given.exchanges:
        ctypes.CDLL = _without_exchange  # pyright: ignore[reportAttributeAccessIssue]
    sys.stdout.write(f"{_RUNS[given.what](given.folder, given)}\n")


if __name__ == "__main__":
    _main()
