"""Where a run builds: the folder the user named, else one that is removed afterwards."""

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def build_folder(folder: Path | None) -> Generator[Path, None, None]:
    """`folder`, or a new folder below the system's temporary one that is removed at the end."""
    if folder is not None:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="codegen-") as parent:
        yield Path(parent) / "build"
