"""One thing that the doctor looked for."""

import enum
from dataclasses import dataclass


class Topic(enum.Enum):
    """Subject of a finding: people read one line for each."""

    PYTHON = "python"
    CROSS = "cross"
    """A compiler for the boards of a core family."""
    QEMU = "qemu"
    HOST = "host"
    EXTRAS = "extras"
    FLASH = "flash"
    PORT = "port"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing looked for; an `optional` one may be missing."""

    topic: Topic
    name: str
    ok: bool
    required_for: str
    detail: str
    """Version found, or what is wrong."""
    install: str
    """Command that installs it, for Debian and Ubuntu or pip."""
    optional: bool = False
    family: str = ""
    """The core family, of topic CROSS."""
