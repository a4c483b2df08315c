"""Kernels in C, gathered: a header with what a model calls, and one source with what that needs.

A source of the runtime becomes a chapter. What headers declare stands once, before all chapters, and only
where a chapter uses it. Some headers are texts with gaps, which a source fills by macros before it includes
them; these parts stand in the chapter. Names that chapters have in common are told apart by macros.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from functools import cache

from codegen.emit.gathered.conditions import decided
from codegen.emit.gathered.headers import Macros, Runtime, Shared, in_order, macros_of, shared
from codegen.emit.gathered.paragraphs import (
    Paragraph,
    arguments,
    bare,
    blocks,
    is_prefixed,
    macros,
    paragraph,
    read,
    statics_of,
)

_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Chapter:
    """A source with the parts of headers that its macros fill."""

    title: str
    paragraphs: tuple[Paragraph, ...]
    headers: tuple[str, ...]
    system: tuple[str, ...]
    code: str
    """The paragraphs without comments and strings."""


@cache
def chapter(runtime: Runtime, text: str) -> Chapter:
    """The chapter of a source, which knows what its macros decide."""
    known, source = runtime.headers, read(text)
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
    live = decided("\n\n".join(part.text for part in paragraphs), runtime.gaps)
    words = Counter(_WORD.findall(bare(live)))
    unread = [
        name for name, forms in macros(bare(live)).items() if words[name] == 1 and not forms[0].body.strip()
    ]
    live = re.sub(rf"^#define (?:{'|'.join(unread)})\n", "", live, flags=re.MULTILINE) if unread else live
    parts = tuple(map(paragraph, blocks(live)))
    return Chapter(
        title=source.title,
        paragraphs=parts,
        headers=tuple(headers),
        system=tuple(system),
        code=bare("\n\n".join(part.text for part in parts)),
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
                bound = dict(zip(macro.parameters, values, strict=False))
                body = re.sub(r"\w+", lambda word, bound=bound: bound.get(word[0], word[0]), macro.body)
                body = re.sub(r"\s*##\s*", "", body)
                yield from _WORD.findall(body)
                yield from _pasted(body, {other: known[other] for other in known if other != name})


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


def gather(
    runtime: Runtime,
    caller: str,
    headers: Iterable[str],
    kernels: Iterable[str],
    elsewhere: Set[str],
    application: Set[str] = frozenset(),
) -> Gathered:
    """Gather what models need of the sources `kernels`; `caller`: the models' text, with `headers`.

    `elsewhere`: names that files in assembly have. A kernel in C that only they call is still the linker's.
    `application`: functions that it defines. The linker is to miss those that it forgets.
    """
    known = runtime.headers
    chapters = [chapter(runtime, text) for text in kernels]
    included = {name for section in chapters for name in section.headers}
    called = {word for word in _WORD.findall(bare(caller)) if is_prefixed(word)}
    public = shared(known, headers, called)
    code = "\n".join(section.code for section in chapters)
    every = {
        name: forms
        for header in in_order(known, included)
        for name, forms in macros_of(known[header]).items()
    }
    used = set(_WORD.findall(code)) | pasted(code, {**every, **macros(code)})
    private = shared(known, included, used, public)
    defined = {**public.macros, **private.macros}
    external = public.functions | private.functions
    renamed = {macro.body.strip() for name in external for macro in defined.get(name, ())}
    names = {name for section in chapters for part in section.paragraphs for name in part.names - part.local}
    external |= {name for name in names if name.islower()}
    bodies = {name: rf"\b{name}\((?:[^;{{}}()]|\([^()]*\))*\)\s*{{" for name in external & elsewhere}
    called_back = {name for name, body in bodies.items() if re.search(body, code)}
    taken = Counter(public.names | private.names)
    return Gathered(
        header=public,
        source=private,
        chapters=tuple(_apart(section, taken, defined) for section in chapters),
        functions=tuple(sorted(((external & used - elsewhere) | renamed | called_back) - application)),
        system=tuple(sorted({name for section in chapters for name in section.system} | set(private.system))),
    )


def _apart(chapter: Chapter, taken: Counter[str], known: Macros) -> str:
    """The text of a chapter: names that are `taken` told apart, its macros undone at the end."""
    code = chapter.code
    chapter_macros = macros(code)
    names = {name for part in chapter.paragraphs for name in part.local}
    every = {**known, **chapter_macros}
    names |= {
        static
        for name in _used(code, every)
        for macro in every[name]
        for static in statics_of(name, macro, code)
    }
    names -= set(chapter_macros)
    renamed = [(name, f"{name}_{taken[name] + 1}") for name in sorted(names) if taken[name]]
    taken.update(names)
    lines = [chapter.title] if chapter.title else []
    if renamed:
        width = max(len(name) for name, _ in renamed)
        rows = (f"#define {name:<{width}} {other}" for name, other in renamed)
        lines.append("\n".join(["/* Names that a chapter above has too. */", *rows]))
    lines += [part.text for part in chapter.paragraphs]
    undone = sorted({name for name, _ in renamed} | set(chapter_macros))
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
