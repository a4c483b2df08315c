"""The documentation builds as a site without a warning, reads offline, and fits a screen."""

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import codegen
from tests.checkout import ROOT

COLUMNS = 120
PAGES = sorted((*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as `make docs` builds it: every link and anchor of every page is checked."""
    if importlib.util.find_spec("mkdocs") is None:
        pytest.skip("mkdocs is not installed: `make docs` installs it")
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def test_every_page_is_in_the_site(site: Path) -> None:
    docs = ROOT / "docs"
    pages = {path.relative_to(docs).with_suffix(".html") for path in docs.glob("**/*.md")}
    assert pages
    assert {page for page in pages if not (site / page).is_file()} == set()


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    """Fonts, scripts and pictures of others' servers: they cost privacy, and offline they are not there."""
    loaded = re.compile(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"?((?:https?:)?//[^\s\">]+)")
    found = {
        f"{path.relative_to(site)}: {address}"
        for path in site.glob("**/*.html")
        for address in loaded.findall(path.read_text(encoding="utf-8"))
    }
    assert found == set()
    assert (site / "search" / "search_index.js").is_file()


def test_lists_and_tables_are_shown_as_such(site: Path) -> None:
    """Without an empty line in front MkDocs takes a list or a table for words of the paragraph above."""
    swallowed = re.compile(r"<p>(?:(?!</p>).)*\n(?:- |\d+\. |\|)|<p>(?:\||```)", re.DOTALL)
    pages = {path: swallowed.findall(path.read_text(encoding="utf-8")) for path in site.glob("**/*.html")}
    assert {str(path.relative_to(site)): found for path, found in pages.items() if found} == {}


def _wide(page: Path) -> Iterator[str]:
    fenced = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fenced ^= line.lstrip().startswith("```")
        if not fenced and len(line) > COLUMNS:
            yield f"{page.relative_to(ROOT)}:{number}: {len(line)} columns"


def test_no_line_is_wider_than_120_columns() -> None:
    """Rows of tables too: what does not fit is a list. Blocks of code alone may be wider."""
    assert [line for page in PAGES for line in _wide(page)] == []


def test_the_changelog_has_one_line_an_entry() -> None:
    """Added, Changed and Fixed of each release, the version of the package first."""
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    releases = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
    assert releases[0] == codegen.__version__
    assert {line for line in lines if line.startswith("### ")} == {"### Added", "### Changed", "### Fixed"}
    assert [line for line in lines if line and not line.startswith(("#", "- "))] == []


def test_links_of_pages_outside_the_site_lead_somewhere() -> None:
    """MkDocs checks docs alone."""
    links = re.compile(r"\]\((?!https?:)([^)#\s]+)")
    missing = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in ROOT.glob("*.md")
        for link in links.findall(page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]
    assert missing == []


def test_flags_have_anchors_and_decisions_come_last_in_the_search(site: Path) -> None:
    page = (site / "configuration.html").read_text(encoding="utf-8")
    assert 'id="flag-pool"' in page and 'href="#flag-pool"' in page
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    boosts = {entry["location"].partition("#")[0]: entry.get("boost", 1) for entry in index["docs"]}
    below = [place for place, boost in boosts.items() if boost < 1]
    assert below and all(place.startswith("decisions/") for place in below)
    assert [place for place in boosts if place.startswith("decisions/") and place not in below] == []
