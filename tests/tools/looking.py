"""What is asked of every page that we write: axe finds nothing in it, and pictures of it are kept.

axe-core is the checker that browsers' own tools use; its script comes in the package axe-core-python.
"""

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tests.tools.browser import Browser

PICTURES = ROOT / "build" / "pages"
"""Where pictures are kept: the next run of the tests replaces them."""

MODES = ("light", "dark")
_RUN = """axe.run(document).then(found => [
    ...found.violations, ...found.incomplete.filter(each => each.error)].map(
    each => [each.id, each.message || '', each.nodes.map(
        node => node.target.join(' ') + ': ' + node.failureSummary)]))"""
"""What is wrong, and the rules that axe failed at."""
_PLAIN = "document.querySelector('nav').style.background = 'var(--bg)'"
"""axe 4.4 reads no colour that `color-mix` gives; that of the bar at the top is 92 % of this one."""
_NAMED = (
    *("button", "combobox", "link", "searchbox", "slider"),
    *("group", "image", "navigation", "region", "status"),
)


def in_both_modes(shown: Browser) -> Iterator[str]:
    """The page that is open in the light, then in the dark; afterwards as the system has it."""
    for mode in MODES:
        shown.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": mode}])
        yield mode
    shown.call("Emulation.setEmulatedMedia", features=[])


def check_for_everybody(shown: Browser, name: str) -> None:
    """Light and dark: axe finds nothing in the page that is open, what is used has a name. Keeps pictures."""
    shown.value(_axe())
    shown.value(_PLAIN)
    for mode in in_both_modes(shown):
        found = shown.value(_RUN)
        assert found == [], f"{mode}: {json.dumps(found, indent=1)}"
        keep(shown, f"{name}-{mode}")
    nameless = [role for role, said in _used(shown) if not said]
    assert nameless == []


def keep(shown: Browser, name: str, *, whole: bool = True) -> None:
    """A picture of the page that is open, in `PICTURES`."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    shown.picture(PICTURES / f"{name}.png", whole=whole)


def roles(shown: Browser) -> set[str]:
    """Of all that is used on the page, as a screen reader gets it."""
    return {role for role, _ in _used(shown)}


def _used(shown: Browser) -> Iterator[tuple[str, str]]:
    """Role and name of each."""
    for node in shown.call("Accessibility.getFullAXTree")["nodes"]:
        role = node["role"]["value"]
        if node["ignored"] or role not in _NAMED:
            continue
        # Chromium makes a group of `details`, too.
        if role != "group" or any(each["name"] == "focusable" for each in node["properties"]):
            yield role, node.get("name", {}).get("value", "")


def _axe() -> str:
    """The script; skips the test where it is not installed."""
    found = importlib.util.find_spec("axe_core_python")
    if found is None or found.origin is None:
        pytest.skip("axe-core-python is not installed: `make test` installs it")
    return Path(found.origin).with_name("axe.min.js").read_text(encoding="utf-8") + "\n;0"
