"""Which values the outputs of a file's graph are."""

from collections.abc import Container

from codegen.importers.reporting import AlreadyReported, ImportReport, Refused
from codegen.importers.tflite.operators.site import Values
from codegen.ir import Var


def graph_output(
    values: Values, report: ImportReport, inputs: Container[int], index: int, places: tuple[int, int]
) -> Var:
    """Tensor `index` as an output; `places`: where it is listed, and where the same tensor is listed first.

    Raises Refused for one that no step computes or that is listed twice.
    """
    tensor = values.tensors.tensor(index)
    if index in inputs:
        raise Refused(
            "E301",
            f"{tensor} is also a graph input: nothing computes it",
            "remove this output from the model, the caller has its value already",
        )
    if places[0] != places[1]:
        raise Refused(
            "E301",
            f"{tensor} is also graph output {places[1]}",
            "list each output once when converting the model",
        )
    value = values.read(index)
    if len(report):
        raise AlreadyReported  # what the value depends on is not known after an operator was refused
    if not isinstance(value, Var) or not values.depends_on_inputs(index):
        raise Refused(
            "E301",
            f"{tensor} does not depend on the model's inputs: it is a constant",
            "remove this output from the model",
        )
    return value
