"""Manifest of the files that codegen wrote into a folder, so that the next build replaces these alone.

The manifest is a file of the folder: a line of explanation, then lines as `sha256sum` prints them. What is
not in it is the user's (CMake's build folder, objects, notes): it is carried over into the next build's
folder (`codegen.emit.folder.publishing`).
"""

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

MANIFEST = ".codegen"
"""File that says a folder was made here, and what was made."""

_FIRST_LINE = "# Made by codegen. The next build into this folder replaces these files and keeps all others."

_REWRITTEN = "report.json"
"""Ours in every such folder, but not listed: `run` adds what it measured to it."""

UNLISTED = (MANIFEST, _REWRITTEN)
"""Ours without a line in the manifest."""


def write_manifest(folder: Path) -> None:
    """List all files of `folder`, which is ours alone, in its manifest. Raises OSError."""
    names = sorted(name for name in names_in(folder) if name not in UNLISTED)
    lines = [f"{_digest(folder / name)}  {name}" for name in names]
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
    return [name for name, digest in manifest.items() if not is_as_written(folder / name, digest)]


def is_as_written(path: Path, digest: str) -> bool:
    """True if `path` is a file with this digest, or gone. Raises OSError."""
    if not os.path.lexists(path):
        return True
    if path.is_symlink() or not path.is_file():
        return False
    try:
        return _digest(path) == digest
    except FileNotFoundError:
        return True  # removed just now


def others(folder: Path, manifest: Mapping[str, str]) -> list[str]:
    """Files (links and devices too) and empty folders of `folder` that are not in its manifest. Raises
    OSError."""
    return sorted(name for name in names_in(folder) if name not in UNLISTED and name not in manifest)


def names_in(folder: Path) -> Iterator[str]:
    """Everything below `folder` that is no folder with something in it, by its path there; links to folders
    are not followed. What appears or goes meanwhile may be missed. Raises OSError."""
    yield from _below(folder, "")


def _below(folder: Path, above: str) -> Iterator[str]:
    try:
        with os.scandir(folder / above) as scanned:
            entries = sorted(scanned, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return  # gone since it was listed
    if above and not entries:
        yield above
    for entry in entries:
        name = f"{above}/{entry.name}" if above else entry.name
        if entry.is_dir(follow_symlinks=False):
            yield from _below(folder, name)
        else:
            yield name


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
