"""Files of the user's in an old folder that are to be in the new one, too. Everything here raises OSError."""

import errno
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

PASSES = 5
"""Looks for files that somebody still saves into the old folder (a compiler that runs in it)."""

Identity = tuple[int, int, int]
"""Identity of a file: inode, time of its content in nanoseconds, bytes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """A file of the user's when it was carried over: the one in the old folder, the one in the new."""

    old: Identity
    new: Identity


def carry_over(names: list[str], old: Path, new: Path) -> dict[str, Kept]:
    """Make `names` of `old` be in `new` too, as they are, with their times: files as hard links where the
    disk has those, so that nothing is copied and nothing is missing in `old` if the build ends here.

    Names that are gone meanwhile are left out. Raises OSError, of which FileExistsError where `new` has
    something of that name.
    """
    record: dict[str, Kept] = {}
    for name in names:
        kept = _kept(name, old, new)
        if kept is not None:
            record[name] = kept
    return record


def _kept(name: str, old: Path, new: Path) -> Kept | None:
    """Carry one file over; None if it is gone."""
    for _ in range(PASSES):
        try:
            before = identity(old / name)
            make_parents(old, new, name)
            carry(old / name, new / name)
            return Kept(old=before, new=identity(new / name))
        except FileNotFoundError:
            # A temporary file of an editor's, perhaps: gone, and there again with the next text.
            if not os.path.lexists(old / name):
                return None
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(old / name))


def carry(source: Path, target: Path) -> None:
    """Make one file, link or folder be at `target`, too."""
    if source.is_symlink():
        target.symlink_to(source.readlink())
    elif source.is_dir():
        target.mkdir(exist_ok=True)
        shutil.copystat(source, target)
    else:
        _link(source, target)


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except (FileExistsError, FileNotFoundError):
        raise
    except OSError:
        if not source.is_file():
            raise
        shutil.copy2(source, target)


def make_parents(old: Path, new: Path, name: str) -> None:
    """Make the folders above `name` in `new`, with the rights that they have in `old`."""
    for parent in reversed(Path(name).parents[:-1]):
        if not (new / parent).is_dir():
            (new / parent).mkdir()
            shutil.copymode(old / parent, new / parent)


def identity(path: Path) -> Identity:
    """Return what changes when a file is saved anew. Raises FileNotFoundError."""
    status = path.lstat()
    return status.st_ino, status.st_mtime_ns, status.st_size


def seen(path: Path) -> Identity | None:
    """`identity` of what may not be there."""
    try:
        return identity(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
