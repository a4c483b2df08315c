"""One test that says why those about the public networks are left out."""

import pytest

from tests.public.testdata import TESTDATA


def test_the_public_networks_are_here(request: pytest.FixtureRequest) -> None:
    config = request.config
    if not (TESTDATA / "index.csv").exists():
        pytest.skip(
            f"tests/public needs the public networks: {TESTDATA} has no index.csv;"
            " CODEGEN_TESTDATA names the folder that has it"
        )
    if not config.getoption("--public") and config.args == config.getini("testpaths"):
        pytest.skip("tests/public is left out: `make test-all` runs it")
