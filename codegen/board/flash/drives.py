"""USB drives of boot loaders: a board that waits for a UF2 file shows one, with INFO_UF2.TXT on it."""

import getpass
import re
import sys
from collections.abc import Iterator
from pathlib import Path

MOUNTS = Path("/proc/self/mounts")
"""Linux: a line for each mounted file system."""
VOLUMES = Path("/Volumes")
"""macOS: a folder for each mounted drive."""
_INFO = "INFO_UF2.TXT"
_INFO_BYTES = 4096
_FAT = ("vfat", "msdos")
_OCTAL = re.compile(r"\\([0-7]{3})")


def mounted_drive(board_id: str) -> Path | None:
    """The drive whose INFO_UF2.TXT names this board; None if none is mounted."""
    return next((place for place in _places() if _names_board(place / _INFO, board_id)), None)


def usual_place(board_id: str) -> Path:
    """The folder in which desktops mount the drive, which has the board's name."""
    return VOLUMES / board_id if sys.platform == "darwin" else Path("/media", getpass.getuser(), board_id)


def _places() -> Iterator[Path]:
    """Mount points of USB drives. File systems of other kinds are left out: they may not answer."""
    if MOUNTS.is_file():
        for line in MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            _, place, kind, *_ = line.split()
            if kind in _FAT:
                yield Path(_OCTAL.sub(lambda code: chr(int(code[1], 8)), place))
    elif VOLUMES.is_dir():
        yield from sorted(VOLUMES.iterdir())


def _names_board(info: Path, board_id: str) -> bool:
    try:
        with info.open(encoding="utf-8", errors="replace") as file:
            lines = file.read(_INFO_BYTES).splitlines()
    except OSError:
        return False
    return f"Board-ID: {board_id}" in (line.strip() for line in lines)
