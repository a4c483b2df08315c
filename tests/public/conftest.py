"""Tests about the public networks are collected where those are, and where one asks for them.

`--public` asks for them, and so does any path among the arguments. Otherwise one test says why not.
"""

from pathlib import Path

import pytest

from tests.public.testdata import TESTDATA

_ALWAYS = ("conftest.py", "test_presence.py")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a module whose networks are not here, or that nobody asked for."""
    if collection_path.is_dir() or collection_path.name in _ALWAYS:
        return None
    is_wanted = config.getoption("--public") or config.args != config.getini("testpaths")
    return None if is_wanted and (TESTDATA / "index.csv").exists() else True
