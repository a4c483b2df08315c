"""Hook of MkDocs: a folder in the navigation stands for all its pages, by name, its index first."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig


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
