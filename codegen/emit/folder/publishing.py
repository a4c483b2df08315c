"""Putting a new folder in the place of an old one.

At any moment, killed or not, the folder is the old one or the new one, whole; files of the user's in it,
saved meanwhile too, are in it afterwards or found by the next build. docs/decisions/008 says how and why.
Everything here raises OSError.
"""

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codegen import disk
from codegen.emit.folder.manifest import UNLISTED, is_as_written, names_in, read_manifest, write_manifest

Tell = Callable[[str, str], None]
"""Told of a file of ours that the user changed while we replaced it: its name, the name of his version."""

_SUFFIX = ".codegen"
_LOCK, _RECORD, _OLD, _TAKEN = "lock", "kept.json", "old", "taken"
"""What a workplace holds beside the staging folder: a lock as long as its build lives; what was carried over;
the old folder where two paths cannot be exchanged; files that the user removed while we carried them over."""

_ASIDE = ".yours"
_PASSES = 5
"""Looks for files that somebody still saves into the old folder (a compiler that runs in it)."""

Identity = tuple[int, int, int]
"""Of a file: inode, time of its content in nanoseconds, bytes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """A file of the user's when it was carried over: the one in the old folder, the one in the new."""

    old: Identity
    new: Identity


class Published(OSError):
    """The new folder is in its place, but the old one could not be cleared up: the next build does that."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Workplace:
    """A hidden sibling of `folder`, in which `staging` grows; no other build touches it while `lock` is held.

    `staging` is called like its inode, so whoever finds the workplace of a killed build knows whether what
    is called so is that folder, or the old one that changed places with it.
    """

    folder: Path
    path: Path
    staging: Path
    lock: int


def lock_path(folder: Path) -> Path:
    """File whose lock is held by who looks at `folder` in order to replace it."""
    return folder.with_name(f".{folder.name}.lock")


def open_workplace(folder: Path) -> Workplace:
    """A new workplace with an empty staging folder. The folder's lock is held."""
    path = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.", suffix=_SUFFIX))
    lock = disk.try_lock(path / _LOCK)
    assert lock is not None, "the folder is new"
    made = path / "new"
    made.mkdir(mode=0o777)
    staging = path / str(made.stat().st_ino)
    made.rename(staging)
    return Workplace(folder=folder, path=path, staging=staging, lock=lock)


def close_workplace(place: Workplace) -> None:
    """Remove the workplace. What is left there of the old folder stays for the next build to give back."""
    if _is_staging(place.staging):
        shutil.rmtree(place.staging, ignore_errors=True)
    with suppress(OSError):
        _remove(place.path)
    os.close(place.lock)


def recover(folder: Path, tell: Tell) -> None:
    """Finish or undo what killed builds of `folder` left beside it. The folder's lock is held."""
    for path in _siblings(folder):
        lock = disk.try_lock(path / _LOCK)
        if lock is None:
            continue  # its build lives
        try:
            for each in sorted(path.iterdir()):
                if _is_staging(each):
                    shutil.rmtree(each)  # never published: ours, and links to files that are in the folder
                elif each.is_dir():
                    _return(each, folder, _read_record(path), tell)
            _remove(path)
        finally:
            os.close(lock)


def _siblings(folder: Path) -> Iterator[Path]:
    """Workplaces beside `folder`, those of living builds too."""
    known = {_LOCK, _RECORD, _OLD, _TAKEN, "new"}
    prefix = f".{folder.name}."
    for path in sorted(folder.parent.glob(f"{_escaped(prefix)}*{_SUFFIX}")):
        is_ours = "." not in path.name[len(prefix) : -len(_SUFFIX)]  # else of a folder `folder.more`
        if is_ours and path.is_dir() and not path.is_symlink():
            names = {each.name for each in path.iterdir()}
            if all(name in known or name.isdigit() for name in names):
                yield path


def _escaped(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _is_staging(path: Path) -> bool:
    """Whether this is the folder that a workplace was made for: none is, once places were changed."""
    if path.name == "new":
        return True  # not even called by its inode yet
    try:
        return path.name == str(path.lstat().st_ino)
    except FileNotFoundError:
        return False


def _return(old: Path, folder: Path, kept: Mapping[str, Kept] | None, tell: Tell) -> None:
    if folder.exists():
        _take_apart(old, folder, kept, tell)
    elif old.name == _TAKEN:
        shutil.rmtree(old)
    else:
        old.rename(folder)


def _remove(path: Path) -> None:
    """Remove a workplace that holds no folder any more; of another one everything stays."""
    if any(each.is_dir() for each in path.iterdir()):
        return
    for name in (_RECORD, _LOCK):
        (path / name).unlink(missing_ok=True)
    with suppress(OSError):  # somebody who looks whether this build lives makes the lock file again
        path.rmdir()


def publish(place: Workplace, kept: list[str], tell: Tell) -> None:
    """Let the staging folder, with `kept` of what is in the old one, take the old one's place.

    The folder's lock is held. If this raises before places were changed, the old folder is as it was; behind
    that it raises Published, and the new folder is there.
    """
    folder, staging = place.folder, place.staging
    write_manifest(staging)
    record = carry_over(kept, folder, staging)
    _write_record(place.path, record)
    old = staging
    if not os.path.lexists(folder):
        staging.rename(folder)
        return
    if not disk.exchange(staging, folder):
        old = place.path / _OLD
        folder.rename(old)
        try:
            staging.rename(folder)
        except OSError:
            old.rename(folder)
            raise
    try:
        _drop_removed(place.path / _TAKEN, old, folder, record, tell)
        _take_apart(old, folder, record, tell)
    except OSError as error:
        raise Published(error.errno, error.strerror or str(error)) from error


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
    for _ in range(_PASSES):
        try:
            before = _identity(old / name)
            _make_parents(old, new, name)
            _carry(old / name, new / name)
            return Kept(old=before, new=_identity(new / name))
        except FileNotFoundError:
            # A temporary file of an editor's, perhaps: gone, and there again with the next text.
            if not os.path.lexists(old / name):
                return None
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(old / name))


def _carry(source: Path, target: Path) -> None:
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


def _make_parents(old: Path, new: Path, name: str) -> None:
    for parent in reversed(Path(name).parents[:-1]):
        if not (new / parent).is_dir():
            (new / parent).mkdir()
            shutil.copymode(old / parent, new / parent)


def _drop_removed(taken: Path, old: Path, folder: Path, record: Mapping[str, Kept], tell: Tell) -> None:
    """What was removed from the old folder after it was carried over goes from the new one, too.

    It is taken out of the folder first and looked at then: it may have been saved anew in that very moment.
    """
    for name, kept in record.items():
        path = folder / name
        if not os.path.lexists(old / name) and _seen(path) == kept.new and not path.is_dir():
            (taken / name).parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                path.rename(taken / name)
    if taken.exists():
        _take_apart(taken, folder, record, tell)


def _take_apart(old: Path, folder: Path, kept: Mapping[str, Kept] | None, tell: Tell) -> None:
    """Remove the old folder; what the user saved in it since `kept` was carried over goes to the new one.

    Piece by piece, so that it may be ended anywhere and begun again. `kept` is None where it is not known.
    """
    apart = _Apart(old=old, folder=folder, kept=kept, tell=tell)
    for _ in range(_PASSES):
        # Last the files that say which others are ours.
        for name in sorted(names_in(old), key=lambda name: (name in UNLISTED, name)):
            apart.settle(name)
        with suppress(OSError):
            old.rmdir()
        if not old.exists():
            return


class _Apart:
    """An old folder that is taken apart, file by file."""

    def __init__(self, *, old: Path, folder: Path, kept: Mapping[str, Kept] | None, tell: Tell) -> None:
        self._old, self._folder, self._kept, self._tell = old, folder, kept, tell
        self._ours = read_manifest(old) or {}
        self._new = read_manifest(folder) or {}

    def settle(self, name: str) -> None:
        """Remove one file or empty folder of the old folder, or move it where it belongs."""
        path = self._old / name
        try:
            if name in UNLISTED or (name in self._ours and is_as_written(path, self._ours[name])):
                path.unlink()
            elif path.is_dir() and not path.is_symlink():
                self._settle_folder(name)
            else:
                self._settle_file(name)
        except FileNotFoundError:
            pass  # the user removed or renamed it just now; what it is now, the next look finds
        self._prune(path.parent)

    def _prune(self, folder: Path) -> None:
        """Remove folders that the last file left."""
        while folder != self._old:
            try:
                folder.rmdir()
            except OSError:
                return
            folder = folder.parent

    def _settle_folder(self, name: str) -> None:
        path, target = self._old / name, self._folder / name
        if name not in (self._kept or {}) and not os.path.lexists(target):
            self._make_parents(name)
            with suppress(FileExistsError, NotADirectoryError):
                _carry(path, target)
        with suppress(OSError):  # somebody saves into it: the next look finds that
            path.rmdir()

    def _settle_file(self, name: str) -> None:
        path, target = self._old / name, self._folder / name
        kept = (self._kept or {}).get(name)
        here, there = _identity(path), _seen(target)
        if there is not None and here[0] == there[0]:
            path.unlink()  # one file in both folders
        elif kept is not None and here in (kept.old, kept.new):
            path.unlink()  # carried over like this: what happened to it in the new folder counts
        elif self._is_blocked(name) or (there is not None and self._kept is None):
            self._set_aside(name)
        elif there is None:
            self._make_parents(name)
            with suppress(FileExistsError):  # saved there just now: the next look decides
                disk.rename_new(path, target)
        elif kept is not None and kept.new == there:
            _put_in(path, target, kept.new)
        else:
            path.unlink()  # saved again since then

    def _is_blocked(self, name: str) -> bool:
        """Whether the new folder has a file of ours under that name, or a file where a folder is needed."""
        target = self._folder / name
        files = (self._folder / parent for parent in Path(name).parents[:-1])
        return (
            name in self._new
            or (target.is_dir() and not target.is_symlink())
            or any(os.path.lexists(path) and not path.is_dir() for path in files)
        )

    def _set_aside(self, name: str) -> None:
        """The user changed a file of ours while it was replaced: both stay."""
        parent = self._folder / Path(name).parent
        base = name if parent.is_dir() else name.replace("/", ".")
        numbers = ("", *(str(number) for number in range(2, 1000)))
        for number in numbers:
            aside = f"{base}{_ASIDE}{number}"
            with suppress(FileExistsError):
                disk.rename_new(self._old / name, self._folder / aside)
                self._tell(name, aside)
                return

    def _make_parents(self, name: str) -> None:
        with suppress(FileExistsError):
            _make_parents(self._old, self._folder, name)


def _put_in(newer: Path, target: Path, older: Identity) -> None:
    """Put `newer`, saved in the old folder, in the place of `older`; `newer` is gone afterwards.

    What is saved at `target` meanwhile is newer still: whatever comes out of an exchange and is not what was
    to come out goes back in.
    """
    while True:
        put = _identity(newer)
        if not disk.exchange(newer, target):
            newer.replace(target)
            return
        if _identity(newer) == older:
            newer.unlink()
            return
        older = put


def _identity(path: Path) -> Identity:
    status = path.lstat()
    return status.st_ino, status.st_mtime_ns, status.st_size


def _seen(path: Path) -> Identity | None:
    try:
        return _identity(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _write_record(place: Path, record: Mapping[str, Kept]) -> None:
    document = {name: [kept.old, kept.new] for name, kept in record.items()}
    (place / _RECORD).write_text(json.dumps(document), encoding="utf-8")


def _read_record(place: Path) -> Mapping[str, Kept] | None:
    try:
        document = json.loads((place / _RECORD).read_bytes())
        return {
            name: Kept(old=(old[0], old[1], old[2]), new=(new[0], new[1], new[2]))
            for name, (old, new) in document.items()
        }
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return None
