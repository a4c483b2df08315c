"""An old folder that another one has replaced: what was saved in it meanwhile goes to the new one.

Everything here raises OSError.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from codegen import disk
from codegen.emit.folder.carrying import PASSES, Identity, Kept, carry, identity, make_parents, seen
from codegen.emit.folder.manifest import UNLISTED, is_as_written, names_in, read_manifest

Tell = Callable[[str, str], None]
"""Told of a file of ours that the user changed while we replaced it: its name, the name of his version."""

_ASIDE = ".yours"


def drop_removed(taken: Path, old: Path, folder: Path, record: Mapping[str, Kept], tell: Tell) -> None:
    """Remove from the new folder the files that were removed from the old one after they were carried over.

    It is taken out of the folder first and looked at then: it may have been saved anew in that very moment.
    """
    for name, kept in record.items():
        path = folder / name
        if not os.path.lexists(old / name) and seen(path) == kept.new and not path.is_dir():
            (taken / name).parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                path.rename(taken / name)
    if taken.exists():
        take_apart(taken, folder, record, tell)


def take_apart(old: Path, folder: Path, kept: Mapping[str, Kept] | None, tell: Tell) -> None:
    """Remove the old folder; what the user saved in it since `kept` was carried over goes to the new one.

    Piece by piece, so that it may be ended anywhere and begun again. `kept` is None where it is not known.
    """
    apart = _Apart(old=old, folder=folder, kept=kept, tell=tell)
    for _ in range(PASSES):
        # Last the files that say which others are ours.
        for name in sorted(names_in(old), key=lambda name: (name in UNLISTED, name)):
            apart.relocate(name)
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

    def relocate(self, name: str) -> None:
        """Remove one file or empty folder of the old folder, or move it where it belongs."""
        path = self._old / name
        try:
            if name in UNLISTED or (name in self._ours and is_as_written(path, self._ours[name])):
                path.unlink()
            elif path.is_dir() and not path.is_symlink():
                self._relocate_folder(name)
            else:
                self._relocate_file(name)
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

    def _relocate_folder(self, name: str) -> None:
        path, target = self._old / name, self._folder / name
        if name not in (self._kept or {}) and not os.path.lexists(target):
            self._make_parents(name)
            with suppress(FileExistsError, NotADirectoryError):
                carry(path, target)
        with suppress(OSError):  # somebody saves into it: the next look finds that
            path.rmdir()

    def _relocate_file(self, name: str) -> None:
        path, target = self._old / name, self._folder / name
        kept = (self._kept or {}).get(name)
        here, there = identity(path), seen(target)
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
        """True if the new folder has a file of ours under that name, or a file where a folder is needed."""
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
            make_parents(self._old, self._folder, name)


def _put_in(newer: Path, target: Path, older: Identity) -> None:
    """Put `newer`, saved in the old folder, in the place of `older`; `newer` is gone afterwards.

    What is saved at `target` meanwhile is newer still: whatever comes out of an exchange and is not what was
    to come out goes back in.
    """
    while True:
        put = identity(newer)
        if not disk.exchange(newer, target):
            newer.replace(target)
            return
        if identity(newer) == older:
            newer.unlink()
            return
        older = put
