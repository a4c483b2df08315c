"""Putting a new folder in the place of an old one.

At any moment, killed or not, the folder is the old one or the new one, whole; files of the user's in it,
saved meanwhile too, are in it afterwards or found by the next build. docs/decisions/008 says how and why.
Everything here raises OSError.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codegen import disk
from codegen.emit.folder.carrying import Kept, carry_over
from codegen.emit.folder.manifest import write_manifest
from codegen.emit.folder.old_folder import Tell, drop_removed, take_apart

_SUFFIX = ".codegen"
_LOCK, _RECORD, _OLD, _TAKEN = "lock", "kept.json", "old", "taken"
"""Names in a workplace beside the staging folder: a lock as long as its build lives; what was carried
over; the old folder where two paths cannot be exchanged; files that the user removed while we carried them
over.
"""


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
    """Remove the workplace, a folder beside the one being built. Files of the old folder in it stay: the next
    build gives them back."""
    if _is_staging(place.staging):
        shutil.rmtree(place.staging, ignore_errors=True)
    with suppress(OSError):
        _remove(place.path)
    os.close(place.lock)


def recover(folder: Path, tell: Tell) -> None:
    """Finish or undo what killed builds of `folder` left beside it. The folder's lock is held."""
    for path in _siblings(folder):
        try:
            if _is_workplace(path):
                _recover_from(path, folder, tell)
        except FileNotFoundError:
            if path.exists():
                raise
            # A build that lives removes its workplace without the folder's lock: this one is gone just now.


def _recover_from(path: Path, folder: Path, tell: Tell) -> None:
    lock = disk.try_lock(path / _LOCK)
    if lock is None:
        return  # its build lives
    try:
        for entry in sorted(path.iterdir()):
            if _is_staging(entry):
                shutil.rmtree(entry)  # never published: ours, and links to files that are in the folder
            elif entry.is_dir():
                _return(entry, folder, _read_record(path), tell)
        _remove(path)
    finally:
        os.close(lock)


def _siblings(folder: Path) -> Iterator[Path]:
    """Paths beside `folder` that are called like workplaces."""
    prefix = f".{folder.name}."
    for path in sorted(folder.parent.glob(f"{_escaped(prefix)}*{_SUFFIX}")):
        if "." not in path.name[len(prefix) : -len(_SUFFIX)]:  # else of a folder `folder.more`
            yield path


def _is_workplace(path: Path) -> bool:
    """True if a build made it, one that lives or not."""
    known = {_LOCK, _RECORD, _OLD, _TAKEN, "new"}
    if not path.is_dir() or path.is_symlink():
        return False
    return all(entry.name in known or entry.name.isdigit() for entry in path.iterdir())


def _escaped(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _is_staging(path: Path) -> bool:
    """True if this is the folder that a workplace was made for: none is, once places were changed."""
    if path.name == "new":
        return True  # not even called by its inode yet
    try:
        return path.name == str(path.lstat().st_ino)
    except FileNotFoundError:
        return False


def _return(old: Path, folder: Path, kept: Mapping[str, Kept] | None, tell: Tell) -> None:
    if folder.exists():
        take_apart(old, folder, kept, tell)
    elif old.name == _TAKEN:
        shutil.rmtree(old)
    else:
        old.rename(folder)


def _remove(path: Path) -> None:
    """Remove a workplace that holds no folder any more; of another one everything stays."""
    if any(entry.is_dir() for entry in path.iterdir()):
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
        drop_removed(place.path / _TAKEN, old, folder, record, tell)
        take_apart(old, folder, record, tell)
    except OSError as error:
        raise Published(error.errno, error.strerror or str(error)) from error


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
