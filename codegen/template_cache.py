"""Templates are compiled once, not by every command: kept as Python keeps compiled modules."""

import contextlib
import sys
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path
from pickle import UnpicklingError

from jinja2 import FileSystemBytecodeCache
from jinja2.bccache import Bucket

_DAMAGED = (OSError, EOFError, LookupError, TypeError, ValueError, UnpicklingError)


class TemplateCache(FileSystemBytecodeCache):
    """Compiled templates of one environment, in `__pycache__` of the folder `templates`.

    A template is compiled anew when its text changes, or a module of the folder `filters`: what filters make
    of constants is part of a compiled template. As with modules, nothing is written where Python writes no
    bytecode, and what cannot be written, or is damaged, is no error.
    """

    def __init__(self, templates: Path, filters: Path) -> None:
        self._folder = Path(cache_from_source(str(templates / "_.py"))).parent
        stats = [(path.name, path.stat()) for path in sorted(filters.glob("*.py"))]
        self._filters = repr([(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats])
        super().__init__(str(self._folder), f"%s.{sys.implementation.cache_tag}.jinja")

    def get_source_checksum(self, source: str) -> str:
        """Hash of a template's source and of the filters it was compiled with."""
        return sha256(f"{self._filters}\n{source}".encode()).hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill `bucket` with what is kept, if anything is."""
        try:
            super().load_bytecode(bucket)
        except _DAMAGED:
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what `bucket` holds, if Python may write bytecode there."""
        if not sys.dont_write_bytecode:
            with contextlib.suppress(OSError):
                self._folder.mkdir(parents=True, exist_ok=True)
                super().dump_bytecode(bucket)
