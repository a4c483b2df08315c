"""Collects what is wrong with a file while translation goes on."""

from codegen.errors import CodegenError, Message
from codegen.importers.limits import MAX_MESSAGES


class Refused(Exception):
    """Ends the translation of one operator; never leaves the importer."""

    def __init__(self, code: str, text: str, advice: str | None = None) -> None:
        super().__init__(text)
        self.message = (code, text, advice)


class AlreadyReported(Exception):
    """Ends the translation of one operator whose operand was reported before; never leaves the importer."""


class Report:
    """Messages in order of discovery, each once; beyond a limit they are only counted."""

    def __init__(self, file_name: str) -> None:
        self._file_name = file_name
        self._messages: dict[Message, None] = {}
        self._dropped = 0

    def __len__(self) -> int:
        return len(self._messages) + self._dropped

    def add(self, code: str, text: str, *, where: str | None = None, advice: str | None = None) -> None:
        """Record a problem of the file or, with `where`, of one operator."""
        message = Message(code=code, text=text, where=where or self._file_name, help=advice)
        if message in self._messages:
            return
        if len(self._messages) < MAX_MESSAGES:
            self._messages[message] = None
        else:
            self._dropped += 1

    def raise_if_any(self) -> None:
        """Raise CodegenError with everything recorded."""
        if not self._messages:
            return
        rest = Message(code="E301", where=self._file_name, text=f"and {self._dropped} more problems")
        raise CodegenError([*self._messages, rest] if self._dropped else list(self._messages))
