"""Headers of the runtime: declarations that stand once in a file of kernels, and those of each chapter."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from codegen.emit.gathered.paragraphs import Macro, Paragraph, bare, is_prefixed, macros, paragraph, read

_PROTOTYPES = re.compile(r"((?:/\*(?:[^*]|\*(?!/))*\*/\n)?)([^{}#=/]*\([^{}#=/]*;)\n?")
_KEPT_FILES = ("cg_runtime.h", "cg_user_kernel.h")
"""Headers that a folder has as they are."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Header:
    """A header: what stands once for all chapters, and what stands in each chapter that includes it."""

    title: str
    quoted: tuple[str, ...]
    system: tuple[str, ...]
    once: tuple[Paragraph, ...]
    in_chapters: tuple[Paragraph | str, ...]
    """Parts that depend on macros of the source, and names without the prefix; in front of what follows
    them, names of headers that it includes."""


Headers = Mapping[str, Header]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Runtime:
    """The headers of the runtime, by name, and the macros with which sources fill gaps in them."""

    headers: Headers
    gaps: frozenset[str]


Macros = Mapping[str, Sequence[Macro]]


def runtime_of(texts: Mapping[str, str], sources: Iterable[str]) -> Runtime:
    """`texts`: name -> text of all headers; `sources`: texts of all kernels.

    A macro that a source defines, or two headers, is a gap that sources fill.
    """
    read_texts = {name: read(text) for name, text in texts.items()}
    defined = Counter(
        name for text in read_texts.values() for part in text.paragraphs for name in macros(bare(part.text))
    )
    gaps = {name for name, count in defined.items() if count > 1}
    gaps |= {name for source in sources for name in macros(bare(source))}
    headers: dict[str, Header] = {}
    filled: dict[str, set[str]] = {}

    def visit(name: str) -> set[str]:
        if name in _KEPT_FILES or name not in read_texts:
            return set()
        if name not in filled:
            text = read_texts[name]
            names: set[str] = set()
            once: list[Paragraph] = []
            apart: list[Paragraph | str] = []
            for part in text.parts:
                if isinstance(part, str):
                    names |= visit(part)
                    apart.append(part)
                elif part.names and (part.words & (gaps | names) or not all(map(is_prefixed, part.names))):
                    names |= part.names
                    apart.append(part)
                else:
                    once.append(part)
            filled[name] = names
            headers[name] = Header(
                title=text.title,
                quoted=text.quoted,
                system=text.system,
                once=tuple(once),
                in_chapters=tuple(apart),
            )
        return filled[name]

    for name in sorted(texts):
        visit(name)
    return Runtime(headers=headers, gaps=frozenset(gaps))


def in_order(headers: Headers, names: Iterable[str]) -> Sequence[str]:
    """List these headers and all that they include; included ones come first."""
    ordered: dict[str, None] = {}

    def visit(name: str) -> None:
        if name in headers and name not in ordered:
            for other in headers[name].quoted:
                visit(other)
            ordered[name] = None

    for name in sorted(names):
        visit(name)
    return list(ordered)


@dataclass(frozen=True, kw_only=True, slots=True)
class Declaration:
    """A declaration of a header, with the comment that it may have in common with others of its group."""

    group: tuple[int, int]
    comment: str
    part: Paragraph


@dataclass(frozen=True, kw_only=True, slots=True)
class Shared:
    """Text before the chapters: parts of headers, in order, with their headings."""

    texts: tuple[str, ...]
    titles: frozenset[str]
    """First comments of the headers."""
    names: frozenset[str]
    """All that it defines."""
    functions: frozenset[str]
    """Names among them that a linker knows."""
    macros: Macros
    system: tuple[str, ...]


def shared(known: Headers, headers: Iterable[str], words: Set[str], before: "Shared | None" = None) -> Shared:
    """The declarations of `headers`, and of those that they include, that define any of `words`, and what
    they need themselves. What stands `before` is there already."""
    without = before.names if before else frozenset[str]()
    titles = set(before.titles if before else ())
    pieces = {name: _pieces(known[name]) for name in in_order(known, headers)}
    of_name = {
        name: piece
        for listed in pieces.values()
        for piece in listed
        for name in piece.part.names
        if name not in without
    }
    needed: set[str] = set()
    unread = [word for word in words if word in of_name]
    while unread:
        names = of_name[unread.pop()].part
        unread += [word for word in names.words - needed if word in of_name]
        needed |= names.names
    texts: list[str] = []
    system: list[str] = []
    kept: list[Paragraph] = []
    for name, listed in pieces.items():
        chosen = [piece.part for piece in listed if piece.part.names & needed]
        if chosen:
            kept += chosen
            system += known[name].system
            texts += [known[name].title] if known[name].title not in titles | {""} else []
            titles.add(known[name].title)
            texts += _texts(listed, needed, set(of_name))
    defined = macros(bare("\n".join(part.text for part in kept)))
    local = {name for part in kept for name in part.local}
    return Shared(
        texts=tuple(texts),
        titles=frozenset(titles),
        names=frozenset(needed),
        functions=frozenset(name for name in needed - local if name.islower()),
        macros=defined,
        system=tuple(system),
    )


@cache
def _pieces(header: Header) -> list[Declaration]:
    """The declarations of a header."""
    pieces: list[Declaration] = []
    for number, part in enumerate(header.once):
        groups = _PROTOTYPES.findall(part.text)
        if groups and _PROTOTYPES.sub("", part.text) == "":
            pieces += [
                Declaration(group=(number, at), comment=comment, part=paragraph(statement.strip("\n")))
                for at, (comment, code) in enumerate(groups)
                for statement in re.findall(r"[^;]+;", code)
            ]
        else:
            pieces.append(Declaration(group=(number, 0), comment="", part=part))
    return pieces


def _texts(pieces: Iterable[Declaration], needed: Set[str], known: Set[str]) -> Iterator[str]:
    """The chosen ones of a header: what is needed, headings above it, asserts about it."""
    heading: list[str] = []
    for _, group in groupby(pieces, lambda piece: piece.group):
        listed = list(group)
        parts = [piece.part for piece in listed]
        if not any(part.words for part in parts):
            heading = [part.text for part in parts]
            continue
        about = {word for part in parts for word in part.words & known}
        is_assert = not any(part.names for part in parts) and about and about <= needed
        chosen = [part.text for part in parts if part.names & needed or is_assert]
        if chosen:
            yield from heading
            heading = []
            yield listed[0].comment + "\n".join(chosen)


@cache
def macros_of(header: Header) -> Macros:
    """Macros of what stands once."""
    return macros(bare("\n".join(part.text for part in header.once)))
