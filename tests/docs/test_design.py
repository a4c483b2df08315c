"""Pictures of docs/DESIGN.md show the plans that the program makes."""

import importlib.util
import re
from collections.abc import Callable
from types import ModuleType

import pytest

from tests.checkout import ROOT

FOLDER = ROOT / "docs" / "design"


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("design_pictures", FOLDER / "draw.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = _script()


@pytest.mark.parametrize("draw", SCRIPT.PICTURES, ids=lambda draw: draw.__name__)
def test_a_picture_shows_the_plan_of_today(draw: Callable[[], str]) -> None:
    """`python docs/design/draw.py` writes them again."""
    assert draw() == (FOLDER / f"{draw.__name__}.svg").read_text(encoding="utf-8")


def test_the_page_shows_every_picture_once() -> None:
    shown = re.findall(r"\]\(design/([\w.]+)\)", (ROOT / "docs" / "DESIGN.md").read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(path.name for path in FOLDER.glob("*.svg"))
