"""Where the data folders (templates, runtime_c, boards, examples) are: beside the package in a
checkout, inside it in an installed wheel."""

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
