"""Jinja set up so that a mistake stops generation: undefined names raise, and templates can `stop`."""

import re
from functools import cache
from typing import NoReturn

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from codegen import resources

_BLANK_LINES = re.compile(r"\n{3,}")


def stop(reason: str) -> NoReturn:
    """Called by a template that meets a case it does not know; raises ValueError."""
    raise ValueError(f"template: {reason}")


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(resources.folder("templates")),
        undefined=StrictUndefined,
        autoescape=False,  # the output is C, not HTML
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def fill(template: str, **views: object) -> str:
    """The text of `template` (path below templates/); raises on anything the views do not define.

    Where parts of a template are left out, one blank line stays between what is left.
    """
    text = _environment().get_template(template).render(stop=stop, **views)
    return _BLANK_LINES.sub("\n\n", text)
