"""Where the shared test models and their golden outputs are."""

import csv
import os
from functools import cache
from pathlib import Path

import numpy as np

from tests.checkout import ROOT

TESTDATA = Path(os.environ.get("CODEGEN_TESTDATA") or ROOT.parent / "shared" / "testdata")


@cache
def index() -> dict[str, dict[str, str]]:
    """Rows of index.csv by `family/name`."""
    with (TESTDATA / "index.csv").open(newline="") as file:
        return {f"{row['family']}/{row['name']}": row for row in csv.DictReader(file)}


def model_path(key: str) -> Path:
    """Path of the model file of `family/name`."""
    return TESTDATA / index()[key]["file"]


def golden(key: str) -> dict[str, np.ndarray]:
    """Arrays of the golden file of `family/name`: `<case>_x<i>`, `<case>_y<j>`."""
    with np.load(TESTDATA / index()[key]["golden"]) as arrays:
        return {name: arrays[name] for name in arrays.files}
