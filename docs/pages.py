"""Hook of MkDocs: folders in the navigation, the rank of decisions in the search, anchors of flags.

A folder in the navigation stands for all its pages, by name, its index first. Decisions say why, so the
search lists them below the pages that say how.
Each flag of the configuration page has the anchor `flag-NAME`.
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page

_DECISIONS = 0.05
"""Weight of decisions in the search; other pages have 1."""
_FLAG_LINE = re.compile(r"^- (`--[^:]*):", re.MULTILINE)
_FLAG = re.compile(r"`--(?P<name>[a-z][a-z-]*)[^`]*`")
_FLAG_CELL = re.compile(r"^\| (`--(?P<name>[a-z][a-z-]*)[^`]*`)", re.MULTILINE)


def _filled(entry: object, docs: Path) -> object:
    if isinstance(entry, list):
        return [_filled(part, docs) for part in entry]
    if isinstance(entry, dict):
        return {title: _filled(part, docs) for title, part in entry.items()}
    if isinstance(entry, str) and (docs / entry).is_dir():
        pages = sorted((docs / entry).glob("*.md"), key=lambda path: (path.name != "index.md", path.name))
        return [path.relative_to(docs).as_posix() for path in pages]
    return entry


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Writes the pages of folders into the navigation before anything reads it."""
    config.nav = _filled(config.nav, Path(config.docs_dir))
    return config


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Ranks decisions, and gives each flag its anchor; links of tables lead there."""
    if page.file.src_uri.startswith("decisions/"):
        page.meta["search"] = {"boost": _DECISIONS}
    return with_anchors(markdown) if page.file.src_uri == "configuration.md" else markdown


def with_anchors(markdown: str) -> str:
    """The page with an anchor in front of each line about flags, and links in the first column of tables."""
    known: set[str] = set()

    def anchored(line: re.Match[str]) -> str:
        names = [name for name in dict.fromkeys(_names(line[1])) if name not in known]
        known.update(names)
        return "- " + "".join(f'<a id="flag-{name}"></a>' for name in names) + line[1] + ":"

    def linked(cell: re.Match[str]) -> str:
        return f"| [{cell[1]}](#flag-{cell['name']})" if cell["name"] in known else cell[0]

    return _FLAG_CELL.sub(linked, _FLAG_LINE.sub(anchored, markdown))


def _names(text: str) -> list[str]:
    return [match["name"] for match in _FLAG.finditer(text)]
