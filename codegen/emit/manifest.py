"""What codegen wrote into a folder, so that the next build replaces that and nothing else.

The manifest is a file of the folder: a line of explanation, then lines as `sha256sum` prints them. What is
not in it is the user's (CMake's build folder, objects, notes): it is carried over into the
next build's folder.
"""

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

MANIFEST = ".codegen"
"""File that says a folder was made here, and what was made."""

_FIRST_LINE = "# Made by codegen. The next build into this folder replaces these files and keeps all others."

_REWRITTEN = "report.json"
"""Ours in every such folder, but not listed: `run` adds what it measured to it, and the planner's time is in
it, which may not make two builds of one model differ elsewhere."""


def write_manifest(folder: Path) -> None:
    """List all files of `folder`, which is ours alone, in its manifest. Raises OSError."""
    names = sorted(path.relative_to(folder).as_posix() for path in _files(folder))
    lines = [f"{_digest(folder / name)}  {name}" for name in names if name not in (MANIFEST, _REWRITTEN)]
    text = "\n".join([_FIRST_LINE, *lines, ""])
    (folder / MANIFEST).write_text(text, encoding="utf-8", newline="\n")


def read_manifest(folder: Path) -> Mapping[str, str] | None:
    """Path in `folder` -> SHA-256 of what codegen wrote there; None if there is no manifest that says so.
    Raises OSError."""
    path = folder / MANIFEST
    if not path.is_file():
        return None
    first, *lines = path.read_text(encoding="utf-8", errors="replace").splitlines() or [""]
    if first != _FIRST_LINE:
        return None
    parts = [line.partition("  ") for line in lines]
    return {name: digest for digest, _, name in parts}


def edited(folder: Path, manifest: Mapping[str, str]) -> list[str]:
    """Files of the manifest that somebody has changed since, or put something else in their place. Raises
    OSError."""
    found: list[str] = []
    for name, digest in manifest.items():
        path = folder / name
        if not os.path.lexists(path):
            continue
        if path.is_symlink() or not path.is_file() or _digest(path) != digest:
            found.append(name)
    return found


def others(folder: Path, manifest: Mapping[str, str]) -> list[str]:
    """Files (links and devices too) and empty folders of `folder` that are not in its manifest. Raises
    OSError."""
    known = {MANIFEST, _REWRITTEN, *manifest}
    names = (path.relative_to(folder).as_posix() for path in _files(folder))
    return sorted(name for name in names if name not in known)


def carry_over(names: list[str], old: Path, new: Path) -> None:
    """Make `names` of `old` be in `new` too, as they are, with their times: files as hard links where the
    disk has those, so that nothing is copied and nothing is missing in `old` if the build ends here. Raises
    OSError, of which FileExistsError where `new` has something of that name."""
    for name in names:
        source, target = old / name, new / name
        _make_parents(old, new, Path(name))
        if source.is_symlink():
            target.symlink_to(source.readlink())
        elif source.is_dir():
            target.mkdir(exist_ok=True)
            shutil.copystat(source, target)
        else:
            _link(source, target)


def _make_parents(old: Path, new: Path, name: Path) -> None:
    for parent in reversed(name.parents[:-1]):
        if not (new / parent).is_dir():
            (new / parent).mkdir()
            shutil.copymode(old / parent, new / parent)


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:
        if not stat.S_ISREG(source.stat().st_mode):
            raise
        shutil.copy2(source, target)


def _files(folder: Path) -> Iterator[Path]:
    """Everything below `folder` that is no folder with something in it; links to folders are not followed."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink() and any(path.iterdir()):
            yield from _files(path)
        else:
            yield path


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
