"""Options of the whole suite."""

from collections.abc import Iterable

import pytest
from hypothesis import settings

from tests import programs
from tests.programs import uncached as uncached

# No deadline: nothing is asserted about times. Derandomised: a run on main repeats; --long draws anew.
settings.register_profile("suite", deadline=None, derandomize=True)
settings.register_profile("long", deadline=None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write golden files from what is rendered now"
    )
    parser.addoption("--long", action="store_true", help="run the long sweeps too")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("long" if config.getoption("--long") else "suite")
    programs.set_up(config)


def pytest_collection_modifyitems(config: pytest.Config, items: Iterable[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="a long sweep: run with --long")
    for item in items:
        if "long" in item.keywords:
            item.add_marker(skip)
