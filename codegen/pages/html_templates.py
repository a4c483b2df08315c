"""Templates of HTML pages that load nothing, with the filters that they use."""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import cast

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from codegen import __version__, resources
from codegen.template_cache import TemplateCache


def _number(value: float | int | None, key: str, against: bool = False) -> Markup:
    """A number of the document, which the test of the page finds again by `key`."""
    if value is None:
        return Markup('<span class="none">&ndash;</span>')
    doc = Markup(' data-doc="against"') if against else ""
    return Markup('<data data-key="{}" value="{}"{}>{}</data>').format(key, value, doc, grouped(value))


def grouped(value: float | int) -> str:
    """A number as the page writes it: 12,345."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,g}"


def _ratio(value: int, whole: int | None, key: str, whole_key: str) -> Markup:
    """A number in percent of another one, by their keys."""
    if not whole:
        return Markup("")
    return Markup('<data class="derived" data-part="{}" data-whole="{}">{:.1f} %</data>').format(
        key, whole_key, 100 * value / whole
    )


def _json(document: object) -> Markup:
    """JSON inside a script element: nothing in it ends that element."""
    text = msgspec.json.encode(document).decode()
    for mark, code in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        text = text.replace(mark, code)
    return Markup(text)


def render_page(template: str, **values: object) -> str:
    """The page that `template`, a path below `templates/`, makes of `values`, without empty lines."""
    text = _environment().get_template(template).render(version=__version__, **values)
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip()) + "\n"


def model_titles(models: Iterable[str]) -> dict[str, str]:
    """The name of each model file on a page: its stem, or its path where two files have one stem."""
    stems = {model: Path(model).stem for model in models}
    counts = Counter(stems.values())
    return {model: stem if counts[stem] == 1 else model for model, stem in stems.items()}


@cache
def _environment() -> Environment:
    """Templates of pages, with the filters that they use."""
    templates = resources.folder("templates")
    made = Environment(
        loader=FileSystemLoader(templates),
        bytecode_cache=TemplateCache(templates, Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = cast("dict[str, object]", made.filters)
    filters |= {"number": _number, "grouped": grouped, "ratio": _ratio, "json": _json}
    return made
