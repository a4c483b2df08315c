"""Jinja set up so that a mistake stops generation: undefined names raise, and templates can `stop`."""

import re
from functools import cache
from typing import NoReturn, cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from codegen import resources
from codegen.emit.c.c_text import assignment, block_comment, call_assignment, comment_lines, wrapped

_BLANK_LINES = re.compile(r"\n{3,}")


def stop(reason: str) -> NoReturn:
    """Called by a template that meets a case it does not know; raises ValueError."""
    raise ValueError(f"template: {reason}")


def comment(text: str) -> str:
    """Paragraphs of `text`, apart by blank lines, as a starred comment wrapped to the longest line."""
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip())]
    lines = [comment_lines(part, first=" * ", rest=" * ") for part in paragraphs]
    rows = [row for part in lines for row in (" *", *part)][1:]
    return "\n".join(["/*", *rows, " */"])


def comment_line(text: str) -> str:
    """`text` as a comment: one line if it fits, else a starred block."""
    return block_comment(" ".join(text.split()), "")


def starred_text(text: str) -> str:
    """`text` wrapped inside a comment."""
    return "\n".join(comment_lines(text, first=" * ", rest=" * "))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(resources.folder("templates")),
        undefined=StrictUndefined,
        autoescape=False,  # the output is C, not HTML
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["comment"] = comment
    environment.filters["starred_text"] = starred_text
    environment.filters["comment_line"] = comment_line
    # How lines are broken: what stands in them is the templates'.
    known = cast("dict[str, object]", environment.globals)
    known |= {"assignment": assignment, "call_assignment": call_assignment, "wrapped": wrapped}
    return environment


def statement(template: str, kind: str, *values: object) -> str:
    """The text of one kind of statement: macro `kind` of `template`, without a newline at its end."""
    text: str = getattr(_environment().get_template(template).module, kind)(*values)
    return text.removesuffix("\n")


def fill(template: str, **views: object) -> str:
    """The text of `template` (path below templates/); raises on anything the views do not define.

    Where parts of a template are left out, one blank line stays between what is left.
    """
    text = _environment().get_template(template).render(stop=stop, **views)
    # The search for a plain text is many times faster, and weights are megabytes of text.
    return _BLANK_LINES.sub("\n\n", text) if "\n\n\n" in text else text
