"""Constants beside code of which only the linker knows how large it is."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from codegen.board import load_board
from codegen.driver.build import plan_model
from codegen.driver.checks.fit import LinkedTooLarge, beside_code
from codegen.driver.options import Options
from codegen.errors import CodegenError, Message
from codegen.plan.models.bundling import together
from codegen.program.program import Bundle
from codegen.toolchain import RegionsTooSmall
from tests.testdata import model_path

BOARD = load_board("mps2-an386")
LACKS = Message(code="E410", where="region FLASH", text="lacks bytes")


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    """`ad01`: 280,912 bytes of constants."""
    path: Path = model_path("mlperf_tiny/ad01_int8")
    return together([plan_model(path, BOARD, Options(board=BOARD.name)).program])


class Builds:
    """Builds that lack so many bytes one after the other, of `region`; then one that fits."""

    def __init__(self, bundle: Bundle, *lacking: int, region: str = "FLASH") -> None:
        self.limits: list[Mapping[str, int]] = []
        self._bundle, self._lacking, self._region = bundle, list(lacking), region

    def __call__(self, limits: Mapping[str, int]) -> str:
        self.limits.append(dict(limits))
        if self._lacking:
            missed = RegionsTooSmall([LACKS], {self._region: self._lacking.pop(0)})
            raise LinkedTooLarge(missed, self._bundle)
        return "built"


def test_what_fits_is_built_once(bundle: Bundle) -> None:
    builds = Builds(bundle)
    assert beside_code(builds, BOARD) == "built"
    assert builds.limits == [{}]


def test_constants_shrink_by_what_the_link_lacked(bundle: Bundle) -> None:
    """Twice: what decodes them is code as well."""
    builds = Builds(bundle, 5_000, 200)
    assert beside_code(builds, BOARD) == "built"
    assert builds.limits == [{}, {"flash": 275_912}, {"flash": 280_712}]


def test_it_ends(bundle: Bundle) -> None:
    builds = Builds(bundle, *range(1, 100))
    with pytest.raises(LinkedTooLarge):
        beside_code(builds, BOARD)
    assert len(builds.limits) == 4


@pytest.mark.parametrize(("lacking", "region"), [(280_912, "FLASH"), (100, "SRAM")])
def test_what_constants_cannot_help_is_reported_at_once(lacking: int, region: str, bundle: Bundle) -> None:
    builds = Builds(bundle, lacking, region=region)
    with pytest.raises(LinkedTooLarge):
        beside_code(builds, BOARD)
    assert builds.limits == [{}]


def test_both_reasons_are_told(bundle: Bundle) -> None:
    """The linker's first, then what compression reaches."""
    builds = Builds(bundle, 200_000)

    def build(limits: Mapping[str, int]) -> str:
        if limits:
            raise CodegenError(Message(code="E402", text="compressed as far as it goes"))
        return builds(limits)

    with pytest.raises(CodegenError) as caught:
        beside_code(build, BOARD)
    assert [message.code for message in caught.value.messages] == ["E410", "E402"]
    assert caught.value.exit_code == 4
