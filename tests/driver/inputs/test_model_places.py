"""Places where several models are built."""

import pytest

from codegen.driver.inputs.models import check_models, places_of
from codegen.errors import CodegenError
from codegen.ir import VirtualDevice
from codegen.ir.rules import Place

DEVICE = VirtualDevice(memory_scope="sram")
ALL = Place(who="place 1", device=DEVICE, inputs=True)
KWS = Place(who="place 2", device=DEVICE, op=3, model="kws")


def test_a_place_is_for_all_models_or_for_one() -> None:
    assert places_of((ALL, KWS), "kws") == (ALL, KWS)
    assert places_of((ALL, KWS), "vww") == (ALL,)


def test_models_that_are_not_there() -> None:
    check_models((ALL, KWS), ("kws", "vww"))
    check_models((ALL, KWS), ("vww",))
    with pytest.raises(CodegenError) as caught:
        check_models((ALL, KWS), ("vww", "ad"))
    [message] = caught.value.messages
    assert str(message) == (
        "error[E244] place 2: no model is called kws\nhelp: models of this build are vww, ad"
    )
