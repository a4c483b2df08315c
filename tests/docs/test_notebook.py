"""The notebook of the Python interface runs from the top to the bottom and shows what is stored in it."""

import re
from typing import Any

import pytest

from tests.checkout import ROOT

NOTEBOOK = ROOT / "docs" / "examples" / "from_python.ipynb"
nbformat: Any = pytest.importorskip("nbformat", reason="nbformat is not installed: `make test` installs it")
nbclient: Any = pytest.importorskip("nbclient", reason="nbclient is not installed: `make test` installs it")
pytest.importorskip("ipykernel", reason="ipykernel is not installed: `make test` installs it")


def shown(notebook: Any) -> list[str]:
    """What each cell prints or draws, every number as N: counts of instructions vary by a little."""
    told: list[str] = []
    for cell in notebook.cells:
        words = "".join(
            each.get("text") or each.get("data", {}).get("text/html") or each.get("ename", "")
            for each in cell.get("outputs", ())
        )
        told.append(re.sub(r"\d[\d,.]*|#+", "N", words))
    return told


@pytest.mark.qemu
def test_the_notebook_shows_what_is_stored_in_it() -> None:
    stored = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(stored)
    run = nbformat.read(NOTEBOOK, as_version=4)
    where = {"metadata": {"path": str(NOTEBOOK.parent)}}
    nbclient.NotebookClient(run, timeout=120, resources=where).execute()
    assert shown(run) == shown(stored)
    said = "".join(shown(run))
    for words in (
        "proved optimal: True",
        "equals the reference",
        "error[EN] pool sram: lacks N bytes",
        "<svg",
    ):
        assert words in said
