"""Writing a finished image into the user's folder in one step."""

import os
import shutil
import tempfile
from pathlib import Path


def publish(image: Path, destination: Path) -> Path:
    """Copy `image` to `destination` so that it is there whole or not at all; returns `destination`."""
    file, name = tempfile.mkstemp(dir=destination.parent, prefix=f".{destination.name}.")
    os.close(file)
    written = Path(name)
    try:
        shutil.copyfile(image, written)
        written.chmod(0o755 & ~_umask())
        written.replace(destination)
    except BaseException:
        written.unlink(missing_ok=True)
        raise
    return destination


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
