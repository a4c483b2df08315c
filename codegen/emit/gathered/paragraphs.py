"""A C text in paragraphs: what stands between blank lines outside of all braces, and which names it defines.

A paragraph is a comment with the declarations under it. Names in the other arm of an #if count as defined
too: an #if is kept or left out whole.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
_WORD = re.compile(r"[A-Za-z_]\w*")
_INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)[^\n]*\n', re.MULTILINE)
_GUARD = re.compile(r"^#ifndef (\w+)\n#define \1\n(.*)^#endif[^\n]*\s*\Z", re.DOTALL | re.MULTILINE)
_LINKAGE = re.compile(r'^#ifdef __cplusplus\n(?:extern "C" \{|\})\n#endif\n', re.MULTILINE)
_TITLE = re.compile(r"\A\s*(/\*(?:[^*]|\*(?!/))*? -- .*?\*/)\n", re.DOTALL)
_LICENCE = re.compile(r"\A(?:/\* SPDX-License-Identifier: \S+ \*/|@ SPDX-License-Identifier: \S+)\n")
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)]*\))?((?:\\\n|[^\n])*)", re.MULTILINE)
_ATTRIBUTE = re.compile(
    r"__attribute__\(\((?:[^()]|\([^()]*\))*\)\)|\bCG_\w+\(\w*\)(?=\s*[;={])|\b_?CG_MAY_ALIAS\b"
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
_TAG = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*\{")
_ENUM = re.compile(r"\benum\b[^{;]*\{([^}]*)\}")
_ENUMERATOR = re.compile(r"(?:^|,)\s*(\w+)")
_LOCAL = re.compile(r"(?:\w+\s+)*?(?:static|typedef)\b")
_BRACE = re.compile(r"([{}])")
_STATEMENT_END = re.compile(r";|\}(?!\s*\w+\s*(?:;|\[|$))")
_POINTER = re.compile(r"\(\s*\*\s*(\w+)\s*\)\s*\(")
_FUNCTION = re.compile(r"\b(\w+)\s*\(")
_DIMENSION_OR_VALUE = re.compile(r"\[[^]]*\]|=.*", re.DOTALL)
_STATIC_IN_MACRO = re.compile(r"\bstatic\b[^;{(]*?\b(\w+)\(")


def is_prefixed(name: str) -> bool:
    """True for a name of the runtime; others are a kernel's alone."""
    return name.startswith(("cg_", "CG_"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Macro:
    """A #define: parameters, none of an object's, and what stands for it."""

    parameters: tuple[str, ...]
    body: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Paragraph:
    """Lines that stay together, and the names they define; a heading defines none and has no code."""

    text: str
    names: frozenset[str]
    words: frozenset[str]
    """Identifiers outside of comments and strings, `names` among them."""
    local: frozenset[str]
    """Static names and types among `names`: no linker sees them, and they are no macros."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceText:
    """A C file: what it says of itself, what it includes, in order, and the rest in paragraphs."""

    title: str
    quoted: tuple[str, ...]
    system: tuple[str, ...]
    parts: tuple["Paragraph | str", ...]
    """Paragraphs, and names of quoted headers where they are included."""

    @property
    def paragraphs(self) -> tuple["Paragraph", ...]:
        """The parts that are text."""
        return tuple(part for part in self.parts if isinstance(part, Paragraph))


@cache
def read(text: str) -> SourceText:
    """The text of a header or a source without its licence, guard and C++ linkage."""
    body = _LICENCE.sub("", text)
    title = _TITLE.match(body)
    body = body[title.end() :] if title else body
    guarded = _GUARD.search(body)
    body = _LINKAGE.sub("", guarded[2] if guarded else body)
    pieces = _INCLUDE.split(body)
    parts: list[Paragraph | str] = []
    for lines, quoted in zip(pieces[::3], [*pieces[1::3], None], strict=True):
        parts += map(paragraph, blocks(lines))
        parts += [quoted] if quoted else []
    return SourceText(
        title=title[1] if title else "",
        quoted=tuple(part for part in parts if isinstance(part, str)),
        system=tuple(name for name in pieces[2::3] if name),
        parts=tuple(parts),
    )


def paragraph(text: str) -> Paragraph:
    """These lines with their names."""
    code = bare(text)
    names, local = _defined(code)
    return Paragraph(text=text, names=names, words=frozenset(_WORD.findall(code)), local=local)


def bare(text: str) -> str:
    """C without comments and strings."""
    return _STRING.sub('""', _COMMENT.sub(" ", text))


def macros(text: str) -> Mapping[str, Sequence[Macro]]:
    """The #defines of a text without comments, by name: several where arms of an #if differ."""
    forms: dict[str, list[Macro]] = {}
    for name, parameters, body in _MACRO.findall(text):
        macro = Macro(parameters=tuple(_WORD.findall(parameters)), body=body.replace("\\\n", " "))
        forms.setdefault(name, []).append(macro)
    return forms


def statics_of(name: str, macro: Macro, code: str) -> set[str]:
    """Static functions that uses of a macro in `code` define."""
    names = _STATIC_IN_MACRO.findall(macro.body)
    calls = [arguments(code, match.end()) for match in re.finditer(rf"\b{name}\(", code)] if names else []
    bindings = [dict(zip(macro.parameters, values, strict=False)) for values in calls]
    return {str(values.get(static, static)) for values in bindings for static in names}


def arguments(code: str, start: int) -> list[str]:
    """The arguments of a call, from behind its opening bracket on."""
    depth, values = 1, [""]
    for char in code[start:]:
        depth += (char in "({[") - (char in ")}]")
        if depth == 0:
            break
        if char == "," and depth == 1:
            values.append("")
        else:
            values[-1] += char
    return [value.strip() for value in values]


def blocks(text: str) -> Iterator[str]:
    """Lines between blank lines outside of braces, comments and #if."""
    lines: list[str] = []
    depth = conditions = 0
    for line, code in zip(text.splitlines(), bare_lines(text), strict=True):
        if not line.strip() and depth == 0 and conditions == 0 and not (lines and _is_open(lines)):
            if lines:
                yield "\n".join(lines)
            lines = []
            continue
        lines.append(line)
        stripped = code.strip()
        conditions += stripped.startswith("#if") - stripped.startswith("#endif")
        if not stripped.startswith("#"):
            depth += sum(code.count(char) for char in "({[") - sum(code.count(char) for char in ")}]")
    if lines:
        yield "\n".join(lines)


def bare_lines(text: str) -> list[str]:
    """The lines of a text without comments and strings, as many as it has."""
    blank = _COMMENT.sub(lambda match: " " + "\n" * match[0].count("\n"), text)
    return _STRING.sub('""', blank).splitlines()


def _is_open(lines: Sequence[str]) -> bool:
    """True if a comment or a macro goes on behind these lines."""
    text = "\n".join(lines)
    return text.count("/*") > text.count("*/") or text.endswith("\\")


def _defined(code: str) -> tuple[frozenset[str], frozenset[str]]:
    """Names that a text without comments defines; of these, those of this file alone."""
    names = {name for name, _, _ in _MACRO.findall(code)}
    local = set[str]()
    rest = _ATTRIBUTE.sub(" ", _DIRECTIVE.sub("", code))
    local |= set(_TAG.findall(rest))
    for inside in _ENUM.findall(rest):
        local |= set(_ENUMERATOR.findall(inside))
    for statement in _statements(rest):
        is_local = _LOCAL.match(statement)
        for name in _names_of(statement):
            (local if is_local or not is_prefixed(name) else names).add(name)
    return frozenset(names | local), frozenset(local)


def _statements(code: str) -> Iterator[str]:
    """Declarations outside of braces, what is in braces left out."""
    depth = 0
    plain: list[str] = []
    for part in _BRACE.split(code):
        depth += part == "{"
        if depth == 0:
            plain.append(part)
        if part == "}":
            depth -= 1
            plain.append("}" if depth == 0 else "")
    for statement in _STATEMENT_END.split("".join(plain)):
        yield statement.replace("}", " ").strip()


def _names_of(statement: str) -> list[str]:
    """The names that a declaration without braces declares."""
    pointer = _POINTER.search(statement)
    function = _FUNCTION.search(statement.split("=")[0])
    if pointer and statement.startswith("typedef"):
        return [pointer[1]]
    if function:
        return [function[1]] if statement[: function.start()].strip() else []
    first, *others = _DIMENSION_OR_VALUE.sub("", statement).split(",")
    words = _WORD.findall(first)
    return [words[-1], *(_WORD.findall(other)[-1] for other in others)] if len(words) > 1 else []
