"""Random layers and the tests' networks through Vela: equal to TFLite, or as Vela rewrites the layer."""

import pytest

from tests.opgen.catalogue import kinds
from tests.tools.npu.layers import REWRITTEN, is_integer, outcomes
from tests.tools.npu.networks import DEVICES, NAMES, recorded
from tests.tools.npu.random_layers import layers
from tests.tools.npu.test_vela import needs_vela

_KINDS = {kind.stem: kind for kind in kinds() if is_integer(kind.stem)}
_QUICK = ("conv_2d_int8", "add_int16")
_LEFT = {"Vela fails", "on the core", "partly on the core"}
"""Layers that the NPU does not take."""


@needs_vela
@pytest.mark.parametrize(
    "stem",
    [pytest.param(stem, marks=[] if stem in _QUICK else [pytest.mark.long]) for stem in _KINDS],
)
def test_random_layers_are_equal(stem: str, request: pytest.FixtureRequest) -> None:
    count = 300 if request.config.getoption("--long") else 2
    answers = outcomes(layers(_KINDS[stem], count), "ethos-u55-128")
    assert {
        name: answer for name, answer in answers.items() if answer not in {"equal", REWRITTEN, *_LEFT}
    } == {}


@needs_vela
@pytest.mark.thorough
@pytest.mark.parametrize("device", DEVICES)
def test_networks_are_equal(device: str) -> None:
    assert set(outcomes([recorded(name) for name in NAMES], device).values()) == {"equal"}


@needs_vela
@pytest.mark.parametrize(
    ("stem", "number"),
    [
        ("conv_2d_without_bias_int16", 1278),
        pytest.param("conv_2d_without_bias_int8", 1081, marks=pytest.mark.thorough),
        pytest.param("conv_2d_int16", 1273, marks=pytest.mark.thorough),
        pytest.param("fully_connected_per_channel_int16", 1214, marks=pytest.mark.thorough),
    ],
)
def test_layers_of_the_campaign_that_vela_changes(stem: str, number: int) -> None:
    """Of 300 layers a kind these differed: several images of groups, sums beyond 2^31, scales below 2^-32."""
    assert set(outcomes(layers(_KINDS[stem], 1, number), "ethos-u55-128").values()) == {REWRITTEN}


@needs_vela
def test_numbers_are_stored_as_wide_as_the_tensor() -> None:
    """A QUANTIZE to int16 on the core was taken for one to int8: 111 of 300 networks seemed to differ."""
    [stem] = [name for name in _KINDS if name.startswith("quantize_pad_") and name.endswith("_int16")]
    assert set(outcomes(layers(_KINDS[stem], 2), "ethos-u55-128").values()) == {"equal"}
