"""C text that clang-format leaves as it is: wrapped lists, comments, aligned macros."""

import textwrap
from collections.abc import Sequence
from itertools import groupby

COLUMNS = 100
"""Longest line of generated C."""


def comment_text(text: str) -> str:
    """`text` from a model file, safe inside a C comment: printable ASCII, no comment marks, no backslash."""
    plain = "".join(char if " " <= char <= "~" else "?" for char in text).replace("\\", "/")
    # Again and again: "*//" turns into "* //", which must not become a mark with what follows.
    return plain.replace("*/", "* /").replace("/*", "/ *")


def comment_lines(text: str, *, first: str, rest: str) -> list[str]:
    """`text` wrapped to COLUMNS, with `first` before the first line and `rest` before the others."""
    return textwrap.wrap(
        text, width=COLUMNS, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )


def block_comment(text: str, indent: str) -> str:
    """A comment on lines of its own: one line if it fits, else a starred block."""
    single = f"{indent}/* {text} */"
    if len(single) <= COLUMNS:
        return single
    lines = comment_lines(text, first=f"{indent} * ", rest=f"{indent} * ")
    return "\n".join([f"{indent}/*", *lines, f"{indent} */"])


def starred(text: str) -> str:
    """`text` as the inside of a block comment: every line with its star."""
    return "\n".join(f" * {comment_text(line)}".rstrip() for line in text.splitlines())


def wrapped(head: str, items: Sequence[str], tail: str, *, separator: str = ", ") -> str:
    """`head` (it ends where the first item begins), the items, `tail`, filled to COLUMNS.

    Further lines are aligned with the first item; where an item is too long for that, all move to
    lines of their own, four columns further in than the head, out of clang-format's reach.
    """
    line = head + separator.join(items) + tail
    if len(line) <= COLUMNS:
        return line
    stem = separator.rstrip()
    pieces = [f"{item}{stem}" for item in items[:-1]] + [f"{items[-1]}{tail}"]
    aligned = _filled(head, " " * len(head), pieces)
    if all(len(row) <= COLUMNS for row in aligned):
        return "\n".join(aligned)
    inner = " " * (len(head) - len(head.lstrip()) + 4)
    return unformatted("\n".join([head.rstrip(), *_filled(inner, inner, pieces)]))


def unformatted(text: str) -> str:
    """`text` between marks that keep clang-format off it: names too long for its rules."""
    indent = " " * (len(text) - len(text.lstrip()))
    return f"{indent}/* clang-format off */\n{text}\n{indent}/* clang-format on */"


def declaration(line: str) -> str:
    """A declaration of one line, however long it is."""
    return line if len(line) <= COLUMNS else unformatted(line)


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


def assignment(left: str, right: str) -> str:
    """`left = right;`, broken after the sign if it is too long."""
    line = f"{left} = {right};"
    if len(line) <= COLUMNS:
        return line
    indent = " " * (len(left) - len(left.lstrip()) + 4)
    return f"{left} =\n{indent}{right};"


def call_assignment(left: str, function: str, arguments: Sequence[str]) -> str:
    """`left = function(arguments);`: on one line, else the call on a line of its own, else wrapped out of
    clang-format's reach."""
    indent = " " * (len(left) - len(left.lstrip()) + 4)
    call = f"{function}({', '.join(arguments)});"
    if len(f"{left} = {call}") <= COLUMNS:
        return f"{left} = {call}"
    if len(indent + call) <= COLUMNS:
        return f"{left} =\n{indent}{call}"
    text = wrapped(f"{left} = {function}(", arguments, ");")
    return text if text.lstrip().startswith("/*") else unformatted(text)


def macros(definitions: Sequence[tuple[str, str]]) -> str:
    """`#define` lines, values in one column."""
    width = max((len(name) for name, _ in definitions), default=0)
    return "\n".join(f"#define {name:<{width}} {value}" for name, value in definitions)


def members(declarations: Sequence[tuple[str, str]]) -> str:
    """Struct members `(declaration, comment)`, comments in one column, left out where too long.

    A member without comment ends a column: clang-format aligns comments of neighbours only.
    """
    width = max((len(code) for code, _ in declarations), default=0) + 1
    lines: list[str] = []
    for fits, run in groupby(declarations, lambda row: len(_member(*row, width)) <= COLUMNS):
        rows = list(run)
        column = max(len(code) for code, _ in rows) + 1
        lines += [_member(code, comment, column) if fits else f"    {code};" for code, comment in rows]
    return "\n".join(lines)


def _member(code: str, comment: str, width: int) -> str:
    return f"    {f'{code};':<{width}} /* {comment} */"


def quoted(text: str) -> str:
    """A C string literal; raises ValueError for anything but printable ASCII."""
    if not (text.isascii() and text.isprintable()):
        raise ValueError(f"{text!r} cannot be written as a C string")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def hexadecimal(value: int) -> str:
    """An offset, at least three digits: 0x040."""
    return f"0x{value:03x}"
