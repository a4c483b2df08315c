"""Kernels in assembly, gathered in one file: macros that several share stand once, in front of the first.

Sources and what they include are read as the C preprocessor would: conditions on macros that a source defines
are decided, and values that an including file defines are put in. What a text defines is undone where a later
one has the same names.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from codegen.emit.gathered.conditions import DEFINE, decided

_INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')
_LICENCE = re.compile(r"\A(?:/\*|@) SPDX-License-Identifier: \S+(?: \*/)?\n")
_COMMENT = re.compile(r"/\*.*?\*/|@[^\n]*", re.DOTALL)
_MACRO = re.compile(r"^[ \t]*\.macro[ \t]+(\w+).*?^[ \t]*\.endm", re.DOTALL | re.MULTILINE)
_SYMBOL = re.compile(r"^[ \t]*\.(?:equ|set)[ \t]+(\w+)[^\n]*", re.MULTILINE)
_LABEL = re.compile(r"^(\.?[A-Za-z_]\w*):", re.MULTILINE)
_EVERYWHERE = re.compile(r"^\s*\.(?:syntax \w+|[a-z]+)\s*$", re.MULTILINE)
_CALL = re.compile(r"\bblx?\s+\w+")
_WORD = re.compile(r"[A-Za-z_]\w*")
_GUARD = re.compile(r"cg_needs_\w+\.h")


def words(texts: Iterable[str]) -> set[str]:
    """Names in assembly, comments and calls left out."""
    return {word for text in texts for word in _words(text)}


@cache
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(_CALL.sub(" ", _COMMENT.sub(" ", text))))


def gather(includes: Mapping[str, str], sources: Sequence[str], every: Iterable[str]) -> str:
    """The text of `sources` in one file, without guards. `every`: all sources of the runtime, whose macros
    without a value are conditions."""
    conditions = {name for text in every for name in _conditions(text)}
    file = _File()
    for source in sources:
        file.write_section(list(_segments(includes, conditions, "", source, {})))
    return "\n\n".join(file.texts) + "\n"


@cache
def _conditions(text: str) -> frozenset[str]:
    return frozenset(name for name, value in _defines(text) if not value)


def _defines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if match := DEFINE.match(line):
            yield match[1], _COMMENT.sub("", match[2]).strip()


@dataclass(frozen=True, kw_only=True, slots=True)
class _AssemblyPart:
    """Text of a file between two includes."""

    file: str
    text: str

    @property
    def code(self) -> str:
        return _COMMENT.sub(" ", self.text)

    @property
    def names(self) -> Mapping[str, str]:
        """Names that it defines, with the line that undoes each; none for symbols: they can be set again."""
        code = self.code
        return {
            **{name: f"    .purgem {name}" for name in _MACRO.findall(code)},
            **{name: f"#undef {name}" for name, _ in _defines(code)},
            **dict.fromkeys(_SYMBOL.findall(_MACRO.sub("", code)), ""),
        }

    @property
    def only_defines(self) -> bool:
        """True if nothing in it is a line of code or has a label."""
        rest = _EVERYWHERE.sub("", _SYMBOL.sub("", _MACRO.sub("", self.code)))
        lines = (line for line in rest.splitlines() if line.strip())
        return not _LABEL.search(self.code) and all(line.lstrip().startswith("#") for line in lines)


def _segments(
    includes: Mapping[str, str], conditions: set[str], name: str, text: str, macros: Mapping[str, str]
) -> Iterator[_AssemblyPart]:
    """The segments of a file and of what it includes, in order. `macros`: macros that are defined."""
    body = decided(_LICENCE.sub("", text), conditions, macros)
    redefined = {macro for macro, _ in _defines(body)}
    put_in = {macro: value for macro, value in macros.items() if macro not in redefined and value}
    body = _WORD.sub(lambda word: put_in.get(word[0], word[0]), body)
    defined = dict(macros)
    lines: list[str] = []
    for line in body.splitlines():
        include, define = _INCLUDE.match(line), DEFINE.match(line)
        if define:
            defined[define[1]] = _COMMENT.sub("", define[2]).strip()
        if include and not _GUARD.fullmatch(include[1]):
            yield _AssemblyPart(file=name, text="\n".join(lines).strip("\n"))
            lines = []
            yield from _segments(includes, conditions, include[1], includes[include[1]], defined)
        is_needed = name or not define or len(re.findall(rf"\b{define[1]}\b", _COMMENT.sub(" ", body))) > 1
        if not include and is_needed and not line.startswith("#undef"):
            lines.append(line)
    yield _AssemblyPart(file=name, text="\n".join(lines).strip("\n"))


@dataclass(kw_only=True, slots=True)
class _File:
    """The gathered file as far as it is written."""

    texts: list[str] = field(default_factory=list[str])
    owners: dict[str, _AssemblyPart] = field(default_factory=dict[str, _AssemblyPart])
    """Name that is defined now -> part that defined it."""
    labels: dict[str, int] = field(default_factory=dict[str, int])

    def write_section(self, segments: Sequence[_AssemblyPart]) -> None:
        """Write a source with what it includes, but for what is there already."""
        renamed: dict[str, str] = {}
        for label in dict.fromkeys(label for segment in segments for label in _LABEL.findall(segment.code)):
            count = self.labels[label] = self.labels.get(label, 0) + 1
            renamed |= {label: f"{label}_{count}"} if count > 1 else {}
        pending: dict[str, str] = {}
        files = {segment.file for segment in segments}
        for segment in segments:
            text = segment.text
            for label, other in renamed.items():
                text = re.sub(rf"(?<![\w.]){re.escape(label)}(?![\w\\])", other, text)
            if not segment.code.strip():
                pending[segment.file] = text
            else:
                self._write(_AssemblyPart(file=segment.file, text=text), pending, files)

    def _write(self, segment: _AssemblyPart, pending: dict[str, str], files: set[str]) -> None:
        names = segment.names
        if names and segment.only_defines and all(self.owners.get(name) == segment for name in names):
            return
        strange = {name for name in _WORD.findall(segment.code) if self._is_strange(name, files)}
        gone = [name for name in self.owners if name in names or name in strange]
        undone = [self.owners.pop(name).names[name] for name in gone]
        title = pending.pop(segment.file, "")
        parts = [title, "\n".join(line for line in undone if line), segment.text]
        self.texts.append("\n".join(part for part in parts if part))
        self.owners |= dict.fromkeys(names, segment)

    def _is_strange(self, name: str, files: set[str]) -> bool:
        """True for a `#define` of a file that a source does not include."""
        owner = self.owners.get(name)
        return owner is not None and owner.file not in files and owner.names[name].startswith("#undef")
