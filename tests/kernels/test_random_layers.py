"""Every kernel against the operator's NumPy evaluation, on random layers over all options."""

import pytest

from codegen.ir import DType
from tests.kernels.builders import CASES, random_layer
from tests.kernels.calling import Library, bind, check_result

LAYERS = 60
"""Random layers of each kernel."""


@pytest.mark.usefixtures("no_reports")
@pytest.mark.parametrize(("op", "dtype"), [case for case in CASES if case[0] != "RESHAPE"])
def test_result_equals_the_reference(library: Library, op: str, dtype: DType) -> None:
    for seed in range(LAYERS):
        layer = random_layer(op, dtype, seed)
        function = bind(layer)
        first = library.run(function, layer, paint=0xA5)
        check_result(layer, first.result)
        # A second paint: nothing is read before it was written, and every workspace byte is written.
        assert library.run(function, layer, paint=0x5A) == first


@pytest.mark.usefixtures("no_reports")
@pytest.mark.parametrize(("op", "dtype"), [case for case in CASES if case[0] != "RESHAPE"])
def test_result_may_lie_where_sharing_allows(library: Library, op: str, dtype: DType) -> None:
    for seed in range(LAYERS):
        layer = random_layer(op, dtype, seed)
        function = bind(layer)
        for rule in function.sharing:
            if rule.below is None:
                continue
            step = max(function.argument_alignment, 1)
            nearest = -(-rule.below // step) * step  # the next distance that keeps both aligned
            for distance in (nearest, nearest + step, nearest + 5 * step):
                outcome = library.run(function, layer, paint=0xA5, overlap=(rule.argument, distance))
                check_result(layer, outcome.result)


@pytest.mark.parametrize("dtype", [DType.INT8, DType.FLOAT32])
def test_reshape_is_a_view(dtype: DType) -> None:
    function = bind(random_layer("RESHAPE", dtype, 0))
    assert function.view is not None
    assert (function.view.argument, function.view.offset_bytes, function.symbol) == (0, 0, "")
