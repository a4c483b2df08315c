"""What single public files have that no writer of ours makes."""

from codegen.importers import load
from tests.public.testdata import model_path


def test_per_channel_bias_has_one_axis_whatever_the_file_says() -> None:
    """person_detect gives its biases of one dimension the quantised dimension 3."""
    module = load(model_path("tflm/person_detect"))
    biases = [let.call.args[2] for let in module.main.body if len(let.call.args) == 3]
    axes = {bias.type.quantization.axis for bias in biases if bias is not None and bias.type.quantization}
    assert axes == {0}
