"""Files and folders on disk: whole or not there, exchanged in one step, locked, temporary.

A temporary folder holds a file that its process keeps locked: a free lock is that of a folder nobody needs.
Everything here raises OSError; the caller says what it means for the user.
"""

import ctypes
import errno
import fcntl
import functools
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

_AT_FDCWD = -100
_NOREPLACE, _EXCHANGE = 1, 2
"""Flags of Linux' renameat2(2)."""

_CANNOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}
"""Errors by which systems and file systems say that renameat2 lacks a flag."""

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_POLL_SECONDS = 0.02
_PREFIX = "codegen-"
LOCK = ".codegen.lock"
_MOST_ENTRIES = 20_000
"""Entries of the system's temporary folder that are looked at."""
_YOUNG_SECONDS = 60
"""Age below which a folder is left alone: its process may be about to lock it."""


class NoTemporaryFolder(OSError):
    """The system's temporary folder is not there, or nobody may write to it."""


def is_full(error: OSError) -> bool:
    """True if a write was stopped by a full disk, a quota or a limit on file sizes."""
    return error.errno in _FULL


def umask() -> int:
    """Rights that new files of this process lack."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def write_whole(path: Path, data: bytes, *, mode: int) -> None:
    """Write a file that is there whole or not at all, with exactly the rights `mode`."""
    file, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    written = Path(name)
    try:
        with os.fdopen(file, "wb") as stream:
            stream.write(data)
        written.chmod(mode)
        written.replace(path)
    except BaseException:
        written.unlink(missing_ok=True)
        raise


def exchange(one: Path, other: Path) -> bool:
    """Let two paths swap what they name in one step: nobody sees either of them missing.

    False, with nothing done, where the system or the file system has no such step.
    """
    return _renamed(one, other, _EXCHANGE)


def rename_new(source: Path, target: Path) -> None:
    """Rename a file or link to a name that nothing has. Raises FileExistsError if something has it."""
    if _renamed(source, target, _NOREPLACE):
        return
    # Without the flag: a second link fails where a name is taken, in one step too.
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in {errno.EPERM, *_CANNOT}:
            raise
        # A disk without links: what is saved between these two lines is lost.
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        source.rename(target)
        return
    source.unlink()


def _renamed(source: Path, target: Path, flag: int) -> bool:
    call = _renameat2()
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(target), flag) == 0:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT:
        return False
    raise OSError(code, os.strerror(code), str(source), None, str(target))


@functools.cache
def _renameat2() -> Callable[[int, bytes, int, bytes, int], int] | None:
    """renameat2 of the C library (glibc from 2.28); None where it has none."""
    try:
        return ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return None


@contextmanager
def locked(path: Path, wait_seconds: float) -> Generator[None]:
    """Hold the lock of the file `path`, which is there only as long as somebody holds or wants it.

    The lock belongs to the open file, so it ends with the process: a file that a killed process left stops
    nobody. Raises TimeoutError if somebody else keeps it for `wait_seconds`.
    """
    file = _locked_file(path, time.monotonic() + wait_seconds)
    try:
        yield
    finally:
        # Removed while it is locked: who waits for it finds another file, or none, under the name.
        path.unlink(missing_ok=True)
        os.close(file)


def _locked_file(path: Path, end: float) -> int:
    while True:
        file = try_lock(path)
        if file is not None and _is_named(file, path):
            return file
        if file is not None:
            os.close(file)  # removed by the one who held it before us
        elif time.monotonic() > end:
            raise TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT), str(path))
        else:
            time.sleep(_POLL_SECONDS)


def try_lock(path: Path) -> int | None:
    """A descriptor that holds the lock of the file `path`, made if need be; None if another one holds it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return None
    except BaseException:
        os.close(file)
        raise
    return file


def _is_named(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


@contextmanager
def temporary_folder(purpose: str) -> Generator[Path]:
    """A new folder below the system's temporary one, removed at the end, `purpose` in its name.

    Raises NoTemporaryFolder if it cannot be made.
    """
    try:
        parent = Path(tempfile.gettempdir())
        _sweep_once(parent)
        folder = tempfile.TemporaryDirectory(dir=parent, prefix=f"{_PREFIX}{purpose}-")
    except OSError as error:
        if is_full(error):
            raise
        raise NoTemporaryFolder(error.errno, error.strerror, tempfile.tempdir or "TMPDIR") from error
    with folder as name:
        lock = try_lock(Path(name) / LOCK)
        place = Path(name) / "files"
        place.mkdir()
        try:
            yield place
        finally:
            if lock is not None:
                os.close(lock)


@functools.cache
def _sweep_once(parent: Path) -> None:
    sweep(parent)


def sweep(parent: Path) -> None:
    """Remove temporary folders of this user below `parent` whose processes are gone."""
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in islice(entries, _MOST_ENTRIES):
            if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False):
                with suppress(OSError):
                    _remove_abandoned(Path(entry.path))


def _remove_abandoned(folder: Path) -> None:
    status = (folder / LOCK).lstat()
    if status.st_uid != os.getuid() or time.time() - status.st_mtime < _YOUNG_SECONDS:
        return
    lock = try_lock(folder / LOCK)
    if lock is not None:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)
