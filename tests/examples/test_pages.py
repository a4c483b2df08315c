"""The pages name files that are there, link to pages that are there, and show the layers of today."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.checkout import ROOT

PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "CONTRIBUTING.md", ROOT / "README.md"])
DECISIONS = ROOT / "docs" / "decisions"
NAMED = re.compile(r"`((?:codegen|runtime_c|templates|boards|benchmarks|tests|docs|examples)/[\w./-]+)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_are_there(page: Path) -> None:
    """Modules move: the page that named one would send a reader nowhere."""
    text = page.read_text(encoding="utf-8")
    examples = {"docs/examples/new_operator.patch"}
    added = set(
        re.findall(r"^\+\+\+ b/(\S+)", (ROOT / examples.pop()).read_text(encoding="utf-8"), re.MULTILINE)
    )
    named = {name.rstrip("/") for name in NAMED.findall(text)} - (
        added if page.name == "CONTRIBUTING.md" else set()
    )
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_that_a_page_links_to_are_there(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    local = [link for link in links if not re.match(r"[a-z]+:", link)]
    assert [link for link in local if not (page.parent / link).exists()] == []


def test_the_architecture_shows_the_layers_of_today() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    [layers] = [each["layers"] for each in contracts if each.get("containers") == ["codegen"]]
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    shown = text.partition("\n## Layers\n")[2].partition("```\n")[2].partition("```")[0]
    assert shown.splitlines() == layers


def test_every_decision_is_listed_and_has_its_four_parts() -> None:
    pages = sorted(DECISIONS.glob("[0-9]*.md"))
    index = (DECISIONS / "index.md").read_text(encoding="utf-8")
    assert re.findall(r"^- \[\d{3}\]\((\S+)\)", index, re.MULTILINE) == [page.name for page in pages]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        lacking = [part for part in ("Context", "Alternatives", "Choice", "Consequence") if part not in text]
        assert lacking == [], page.name
        assert len(text.splitlines()) <= 60, page.name
