"""Templates filled to C text that clang-format leaves as it is: long lines broken, columns aligned, comments.

What stands in a line is the templates'; the filters here say where it is broken. Undefined names raise, and
templates can `stop`.
"""

import re
import textwrap
from collections.abc import Callable, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NoReturn, cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from codegen import resources
from codegen.emit.c.spelling import float32, integer
from codegen.template_cache import TemplateCache

COLUMNS = 100
"""Longest line of generated C."""

_BLANK_LINES = re.compile(r"\n{3,}")
_OPENING, _CLOSING = "([{", ")]}"


def stop(reason: str) -> NoReturn:
    """Called by a template that meets a case it does not know; raises ValueError."""
    raise ValueError(f"template: {reason}")


def quoted(text: str) -> str:
    """A C string literal; raises ValueError for anything but printable ASCII."""
    if not (text.isascii() and text.isprintable()):
        raise ValueError(f"{text!r} cannot be written as a C string")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def hexadecimal(value: int) -> str:
    """An offset, at least three digits: 0x040."""
    return f"0x{value:03x}"


# ---- comments ---------------------------------------------------------------------------


def comment_text(text: str) -> str:
    """`text` from a model file, safe inside a C comment: printable ASCII, no comment marks, no backslash."""
    plain = "".join(char if " " <= char <= "~" else "?" for char in text).replace("\\", "/")
    # Again and again: "*//" turns into "* //", which must not become a mark with what follows.
    return plain.replace("*/", "* /").replace("/*", "/ *")


def starred(text: str) -> str:
    """`text` as the inside of a block comment: every line with its star."""
    return "\n".join(f" * {comment_text(line)}".rstrip() for line in text.splitlines())


def starred_text(text: str, first: str = " * ", rest: str = " * ") -> str:
    """`text` wrapped inside a comment, with `first` before the first line and `rest` before the others."""
    return "\n".join(
        textwrap.wrap(
            comment_text(_one_line(text)),
            width=COLUMNS,
            initial_indent=first,
            subsequent_indent=rest,
            break_on_hyphens=False,
        )
    )


def comment(text: str) -> str:
    """Paragraphs of `text`, apart by blank lines, as a starred comment wrapped to the longest line."""
    paragraphs = map(starred_text, re.split(r"\n\s*\n", text.strip()))
    return "\n".join(["/*", "\n *\n".join(paragraphs), " */"])


def comment_line(text: str, indent: str = "") -> str:
    """`text` as a comment of its own: one line if it fits, else a starred block."""
    single = f"{indent}/* {comment_text(_one_line(text))} */"
    if len(single) <= COLUMNS:
        return single
    star = f"{indent} * "
    return "\n".join([f"{indent}/*", starred_text(text, star, star), f"{indent} */"])


def _one_line(text: str) -> str:
    return re.sub(r" *\n *", " ", text.strip())


# ---- lines that are too long ------------------------------------------------------------


def wrapped(line: str, separator: str = ", ") -> str:
    """A line that ends with a list in brackets, filled to COLUMNS if it is too long.

    Further lines are aligned with the first item; where an item is too long for that, all move to
    lines of their own, four columns further in than the head, out of clang-format's reach.
    """
    if len(line) <= COLUMNS:
        return line
    head, items, tail = _parts(line, separator)
    stem = separator.rstrip()
    pieces = [f"{item}{stem}" for item in items[:-1]] + [f"{items[-1]}{tail}"]
    aligned = _filled(head, " " * len(head), pieces)
    if all(len(row) <= COLUMNS for row in aligned):
        return "\n".join(aligned)
    inner = " " * (_indent(head) + 4)
    return unformatted("\n".join([head.rstrip(), *_filled(inner, inner, pieces)]))


def _parts(line: str, separator: str) -> tuple[str, list[str], str]:
    """Split `line` at the items of its last brackets: the text in front, the items, the text behind."""
    close = max(map(line.rfind, ")}"))
    depth, begin, cuts = 0, close, [close]
    while begin >= 0:
        depth += (line[begin] in _CLOSING) - (line[begin] in _OPENING)
        if not depth:
            break
        if depth == 1 and line.startswith(separator, begin):
            cuts.append(begin)
        begin -= 1
    starts = [begin + 1, *(cut + len(separator) for cut in reversed(cuts[1:]))]
    items = [line[start:stop] for start, stop in zip(starts, reversed(cuts), strict=True)]
    return line[: begin + 1], items, line[close:]


def unformatted(text: str) -> str:
    """`text` between marks that keep clang-format off it: names too long for its rules."""
    indent = " " * _indent(text)
    return f"{indent}/* clang-format off */\n{text}\n{indent}/* clang-format on */"


def declaration(text: str) -> str:
    """A declaration, however long its lines are."""
    return text if all(len(line) <= COLUMNS for line in text.splitlines()) else unformatted(text)


def attributed(declared: str, attributes: str) -> str:
    """A declaration and its attributes, on a line of their own where one line is too short."""
    line = f"{declared} {attributes}"
    return line if len(line) <= COLUMNS else f"{declared}\n    {attributes}"


def _filled(first: str, rest: str, pieces: Sequence[str]) -> list[str]:
    rows: list[str] = []
    row = first + pieces[0]
    for piece in pieces[1:]:
        if len(row) + 1 + len(piece) <= COLUMNS:
            row = f"{row} {piece}"
        else:
            rows.append(row)
            row = rest + piece
    return [*rows, row]


def assignment(line: str) -> str:
    """`left = right;`, broken after the sign if it is too long; a choice that is too long for that as well,
    behind each `:`."""
    if len(line) <= COLUMNS:
        return line
    left, right = line.split(" = ", 1)
    inner = " " * (_indent(left) + 4)
    whole = f"{left} =\n{inner}{right}"
    if len(inner) + len(right) <= COLUMNS or " ? " not in right:
        return whole
    return unformatted(whole.replace(" : ", f" :\n{inner}"))


def call_assignment(line: str) -> str:
    """`left = function(arguments);`: on one line, else the call on a line of its own, else wrapped out of
    clang-format's reach."""
    broken = assignment(line)
    if len(broken.split("\n")[-1]) <= COLUMNS:
        return broken
    text = wrapped(line)
    return text if text.lstrip().startswith("/*") else unformatted(text)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


# ---- columns ----------------------------------------------------------------------------


def macros(text: str) -> str:
    """Lines `#define NAME value`, values in one column."""
    rows = [line.split(" ", 2)[1:] for line in text.splitlines()]
    width = max((len(name) for name, _ in rows), default=0)
    return "\n".join(f"#define {name:<{width}} {value}" for name, value in rows)


def members(text: str) -> str:
    """Struct members `declaration; /* comment */`, comments in one column.

    A comment too long for that stands above its member; one too long for a line is left out.

    A member without comment ends a column: clang-format aligns comments of neighbours only.
    """
    every = [line.partition("; /* ") for line in text.splitlines()]
    declared = [(code, note.removesuffix(" */")) for code, _, note in every]
    width = max((len(code) for code, _ in declared), default=0) + 1
    lines: list[str] = []
    for fits, run in groupby(declared, lambda row: len(_member(*row, width)) <= COLUMNS):
        rows = list(run)
        column = max(len(code) for code, _ in rows) + 1
        if fits:
            lines += [_member(code, note, column) for code, note in rows]
            continue
        for code, note in rows:
            above = f"    /* {note} */"
            lines += [above] * (len(above) <= COLUMNS) + [f"    {code};"]
    return "\n".join(lines)


def _member(code: str, note: str, width: int) -> str:
    return f"    {f'{code};':<{width}} /* {note} */"


def list_macro(name: str, items: Sequence[str]) -> str:
    """The definition of a macro that is a list, in as many lines as it takes."""
    line = f"#define {name} {', '.join(items)}"
    if len(line) <= COLUMNS:
        return line
    rows, row = [f"#define {name}"], "   "
    for item in items:
        if len(row) + len(item) + 2 > COLUMNS - 2 and row.strip():  # room for a backslash
            rows.append(row)
            row = "   "
        row += f" {item},"
    text = " \\\n".join([*rows, row.rstrip(",")])
    return f"/* clang-format off */\n{text}\n/* clang-format on */"


# ---- templates --------------------------------------------------------------------------


def _on_blocks(layout: Callable[..., str], *, by_line: bool = False) -> Callable[..., str]:
    """`layout` as a filter of a block: the newline at its end stays; `by_line`: each line is laid out."""

    def laid_out(text: str, *words: str) -> str:
        body = text.removesuffix("\n")
        parts = body.split("\n") if by_line else [body]
        return "\n".join(layout(part, *words) for part in parts) + text[len(body) :]

    return laid_out


@cache
def _environment() -> Environment:
    templates = resources.folder("templates")
    environment = Environment(
        loader=FileSystemLoader(templates),
        bytecode_cache=TemplateCache(templates, Path(__file__).parent),
        undefined=StrictUndefined,
        autoescape=False,  # the output is C, not HTML
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    texts = (comment_text, starred_text, comment, comment_line, macros, members, unformatted, quoted)
    lines = (wrapped, assignment, call_assignment)
    environment.filters |= {
        text_filter.__name__: _on_blocks(text_filter) for text_filter in (*texts, declaration)
    }
    environment.filters |= {
        line_filter.__name__: _on_blocks(line_filter, by_line=True) for line_filter in lines
    }
    environment.filters |= {"hexadecimal": hexadecimal, "integer": integer, "float32": float32}
    known = cast("dict[str, object]", environment.globals)
    known |= {"stop": stop, "attributed": attributed, "list_macro": list_macro, "COLUMNS": COLUMNS}
    return environment


def statement(template: str, kind: str, *values: object) -> str:
    """The text of one kind of statement: macro `kind` of `template`, without a newline at its end."""
    text: str = getattr(_environment().get_template(template).module, kind)(*values)
    return text.removesuffix("\n")


def fill(template: str, **views: object) -> str:
    """The text of `template` (path below templates/); raises on anything the views do not define.

    Where parts of a template are left out, one blank line stays between what is left.
    """
    text = _environment().get_template(template).render(**views)
    # The search for a plain text is many times faster, and weights are megabytes of text.
    return _BLANK_LINES.sub("\n\n", text) if "\n\n\n" in text else text
