"""Options of TFLM's signal operators: what is said of those that cannot be read."""

import pytest

from codegen.importers.tflite.writing.writer import Custom, ModelBuilder
from tests.importers.samples import complaint
from tests.opgen.families.signal import flexible


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (b"", "has 0 bytes of options that are no flexbuffers map of up to 32 entries"),
        (b"\xff" * 9, "has 9 bytes of options that are no flexbuffers map of up to 32 entries"),
        (flexible(size=3), 'has no option "shift" that is a whole number; found: size'),
    ],
)
def test_options_of_a_signal_operator_are_told_when_damaged(options: bytes, text: str) -> None:
    model = ModelBuilder()
    x, w, y = (model.tensor(tensor, (4,), "int16") for tensor in "xwy")
    model.op("CUSTOM", [x, w], [y], custom=Custom(code="SignalWindow", options=options))
    model.inputs(x, w)
    model.outputs(y)
    assert complaint(model.build()).split("\n")[0] == f'error[E303] op 0 SignalWindow "y": {text}'


def test_a_shift_of_a_signal_window_has_bounds() -> None:
    model = ModelBuilder()
    x, w, y = (model.tensor(tensor, (4,), "int16") for tensor in "xwy")
    options = flexible(shift=40)
    model.op("CUSTOM", [x, w], [y], custom=Custom(code="SignalWindow", options=options))
    model.inputs(x, w)
    model.outputs(y)
    assert "error[E306]" in complaint(model.build())
    assert "shift 40 is not within 0 and 31" in complaint(model.build())


def test_an_operator_of_tflite_micro_is_called_by_its_name() -> None:
    """A CIRCULAR_BUFFER of one dimension was told of as `op 0 CUSTOM`."""
    model = ModelBuilder()
    x, y = (model.tensor(tensor, (4,), "int16") for tensor in "xy")
    model.op("CUSTOM", [x], [y], custom=Custom(code="CIRCULAR_BUFFER", options=flexible(cycles_max=1)))
    model.inputs(x)
    model.outputs(y)
    assert complaint(model.build()).split("\n")[0] == (
        'error[E301] op 0 CIRCULAR_BUFFER "y": takes int16[4], supported is a row: [1,1,H,C]'
    )
