"""The browser that a module's pages are opened in."""

from collections.abc import Generator

import pytest

from tests.tools.browser import Browser, browser


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Generator[Browser, None, None]:
    with browser(tmp_path_factory.mktemp("profile")) as found:
        yield found
