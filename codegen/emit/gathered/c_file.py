"""Kernels in C, gathered: a header with what a model calls, and one source with what that needs.

A source of the runtime becomes a chapter. What headers declare stands once, before all chapters, and only where
a chapter uses it. Some headers are texts with gaps, which a source fills by macros before it includes them;
these parts stand in the chapter. Names that chapters have in common are told apart by macros of the chapter.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby

from codegen.emit.gathered.conditions import decided
from codegen.emit.gathered.paragraphs import Macro, Paragraph, arguments, bare, blocks, is_prefixed, macros, paragraph, read, statics_of

_WORD = re.compile(r"[A-Za-z_]\w*")
_PROTOTYPES = re.compile(r"((?:/\*(?:[^*]|\*(?!/))*\*/\n)?)([^{}#=/]*\([^{}#=/]*;)\n?")
_KEPT_FILES = ("cg_runtime.h",)
"""Headers that a folder has as they are."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Header:
    """A header of the runtime: what stands once for all chapters, and what stands in each that includes it."""

    title: str
    quoted: tuple[str, ...]
    system: tuple[str, ...]
    once: tuple[Paragraph, ...]
    in_chapters: tuple[Paragraph | str, ...]
    """What depends on macros of the source, and names without the runtime's prefix; in front of what follows
    them, names of headers that it includes."""


Headers = Mapping[str, Header]


@dataclass(frozen=True, kw_only=True, slots=True)
class Runtime:
    """The headers of the runtime, by name, and the macros with which sources fill gaps in them."""

    headers: Headers
    gaps: frozenset[str]


Macros = Mapping[str, Sequence[Macro]]


def runtime_of(texts: Mapping[str, str], sources: Iterable[str]) -> Runtime:
    """`texts`: name -> text of all headers; `sources`: texts of all kernels. A macro that a source defines, or
    two headers, is a gap that sources fill."""
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
    """Those headers and all that they include, what is included first."""
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
class Chapter:
    """A source with the parts of headers that its macros fill."""

    title: str
    paragraphs: tuple[Paragraph, ...]
    headers: tuple[str, ...]
    system: tuple[str, ...]

    @property
    def code(self) -> str:
        """Without comments and strings."""
        return bare("\n\n".join(part.text for part in self.paragraphs))


def chapter(known: Headers, gaps: Set[str], text: str) -> Chapter:
    """The chapter of a source, which knows what its macros decide."""
    source = read(text)
    paragraphs: list[Paragraph] = []
    system = list(source.system)
    headers: dict[str, None] = {}

    def include(name: str) -> None:
        if name in headers or name not in known:
            return
        headers[name] = None
        title = [paragraph(known[name].title)]
        for part in known[name].in_chapters:
            if isinstance(part, str):
                include(part)
            else:
                paragraphs.extend([*title, part])
                title = []
        system.extend(() if title else known[name].system)

    for part in source.parts:
        if isinstance(part, Paragraph):
            paragraphs.append(part)
        else:
            include(part)
    live = decided("\n\n".join(part.text for part in paragraphs), gaps)
    words = Counter(_WORD.findall(bare(live)))
    unread = [name for name, forms in macros(bare(live)).items() if words[name] == 1 and not forms[0].body.strip()]
    live = re.sub(rf"^#define (?:{'|'.join(unread)})\n", "", live, flags=re.MULTILINE) if unread else live
    return Chapter(
        title=source.title,
        paragraphs=tuple(map(paragraph, blocks(live))),
        headers=tuple(headers),
        system=tuple(system),
    )


def pasted(code: str, known: Macros) -> set[str]:
    """Words that macros put together from parts (`##`) where `code` uses them."""
    pasting = {name for name, forms in known.items() if any("##" in macro.body for macro in forms)}
    while more := {
        name
        for name, forms in known.items()
        if name not in pasting and any(pasting & set(_WORD.findall(macro.body)) for macro in forms)
    }:
        pasting |= more
    return set(_pasted(code, {name: known[name] for name in pasting}))


def _pasted(code: str, known: Macros) -> Iterator[str]:
    for name, forms in known.items():
        for match in re.finditer(rf"\b{name}\b\(?", code):
            values = arguments(code, match.end()) if match[0].endswith("(") else []
            for macro in forms:
                given = dict(zip(macro.parameters, values, strict=False))
                body = re.sub(r"\w+", lambda word, given=given: given.get(word[0], word[0]), macro.body)
                body = re.sub(r"\s*##\s*", "", body)
                yield from _WORD.findall(body)
                yield from _pasted(body, {other: known[other] for other in known if other != name})


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A declaration of a header, with the comment that it may have in common with others of its group."""

    group: tuple[int, int]
    comment: str
    part: Paragraph


@dataclass(frozen=True, kw_only=True, slots=True)
class Shared:
    """What stands before chapters: parts of headers, in order, headings with them."""

    texts: tuple[str, ...]
    titles: frozenset[str]
    """What headers say of themselves."""
    names: frozenset[str]
    """All that it defines."""
    functions: frozenset[str]
    """Of these: what a linker knows."""
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


def _pieces(header: Header) -> list[Piece]:
    """The declarations of a header."""
    pieces: list[Piece] = []
    for number, part in enumerate(header.once):
        groups = _PROTOTYPES.findall(part.text)
        if groups and _PROTOTYPES.sub("", part.text) == "":
            pieces += [
                Piece(group=(number, at), comment=comment, part=paragraph(statement.strip("\n")))
                for at, (comment, code) in enumerate(groups)
                for statement in re.findall(r"[^;]+;", code)
            ]
        else:
            pieces.append(Piece(group=(number, 0), comment="", part=part))
    return pieces


def _texts(pieces: Iterable[Piece], needed: Set[str], known: Set[str]) -> Iterator[str]:
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Gathered:
    """Kernels in C: the parts of a header and of a source, and what the linker takes from any folder."""

    header: Shared
    source: Shared
    chapters: tuple[str, ...]
    functions: tuple[str, ...]
    """Functions and variables that the source defines and other files see."""
    system: tuple[str, ...]
    """Headers of the compiler that the source includes."""


def gather(runtime: Runtime, caller: str, headers: Iterable[str], kernels: Iterable[str], elsewhere: Set[str]) -> Gathered:
    """What the models of text `caller`, which know `headers`, need of `kernels`, sources. `elsewhere`: names
    that files in assembly have."""
    known = runtime.headers
    chapters = [chapter(known, runtime.gaps, text) for text in kernels]
    included = {name for each in chapters for name in each.headers}
    words = set(_WORD.findall(bare(caller)))
    public = shared(known, headers, {word for word in words if is_prefixed(word)})
    code = "\n".join(each.code for each in chapters)
    used = set(_WORD.findall(code))
    own = macros(code)
    every = {name: macro for header in in_order(known, included) for name, macro in _macros_of(known[header]).items()}
    used |= pasted(code, every | own)
    private = shared(known, included, used, public)
    defined = {**public.macros, **private.macros}
    taken = Counter(public.names | private.names)
    renamed = {macro.body.strip() for name in public.functions | private.functions for macro in defined.get(name, ())}
    defined_here = {name for each in chapters for part in each.paragraphs for name in part.names - part.local}
    external = public.functions | private.functions | {name for name in defined_here if name.islower()}
    functions = (external & used - elsewhere) | renamed
    texts = [_apart(each, taken, defined) for each in chapters]
    system = {name for each in chapters for name in each.system} | set(private.system)
    return Gathered(
        header=public,
        source=private,
        chapters=tuple(texts),
        functions=tuple(sorted(functions)),
        system=tuple(sorted(system)),
    )


def _macros_of(header: Header) -> Macros:
    return macros(bare("\n".join(part.text for part in header.once)))


def _apart(chapter: Chapter, taken: Counter[str], known: Macros) -> str:
    """The text of a chapter: names that are `taken` told apart by macros, and its macros undone at its end."""
    code = chapter.code
    own = macros(code)
    names = {name for part in chapter.paragraphs for name in part.local}
    every = {**known, **own}
    names |= {static for name in _used(code, every) for macro in every[name] for static in statics_of(name, macro, code)}
    names -= set(own)
    renamed = [(name, f"{name}_{taken[name] + 1}") for name in sorted(names) if taken[name]]
    taken.update(names)
    lines = [chapter.title] if chapter.title else []
    if renamed:
        width = max(len(name) for name, _ in renamed)
        rows = (f"#define {name:<{width}} {other}" for name, other in renamed)
        lines.append("\n".join(["/* Names that a chapter above has too. */", *rows]))
    lines += [part.text for part in chapter.paragraphs]
    undone = sorted({name for name, _ in renamed} | set(own))
    lines += ["\n".join(f"#undef {name}" for name in undone)] if undone else []
    return "\n\n".join(lines)


def _used(code: str, known: Macros) -> set[str]:
    """Macros that `code` uses, and those that they use."""
    used: set[str] = set()
    words = set(_WORD.findall(code))
    while more := (words & set(known)) - used:
        used |= more
        words = {word for name in more for macro in known[name] for word in _WORD.findall(macro.body)}
    return used
