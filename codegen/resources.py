"""Paths of the data folders (templates, runtime_c, boards, examples).

They lie beside the package in a checkout, and inside it in an installed wheel.
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """Path of the shipped data folder `name`.

    Raises FileNotFoundError if the installation lacks it (a packaging bug).
    """
    for candidate in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"data folder {name!r} is missing from this installation")


def licence() -> str:
    """Text of the licence of this program and of the runtime that it copies."""
    beside = _PACKAGE / "_data" / "LICENSE"
    return (beside if beside.is_file() else _PACKAGE.parent / "LICENSE").read_text(encoding="utf-8")


def runtime_includes() -> tuple[Path, ...]:
    """Folders of the runtime's headers: what all cores have, then what single core families have."""
    runtime = folder("runtime_c")
    return (runtime / "include", *sorted(runtime.glob("targets/*/include")))
