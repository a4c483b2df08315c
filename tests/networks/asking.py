"""What the ruling engine of a network answers now.

onnxruntime computes quantised layers as integers where its optimisations join them to operators of its own;
without those it adds real numbers in float32, whose sums may lie on the other side of a half.
"""

from collections.abc import Sequence

import onnx

from tests.engines import Request, evaluate
from tests.importers.onnx.engine import answers
from tests.networks import ONNX_NAMES, drawn, engine_of
from tests.networks.whole import WHOLE
from tests.opgen.sketch import Arrays


def engine_outputs(names: Sequence[str]) -> dict[str, tuple[Arrays, ...]]:
    """The outputs of every case, by network. Raises ValueError with what an engine refuses."""
    tflite = [name for name in names if name not in ONNX_NAMES]
    requests = [
        Request(
            engine=engine_of(name),
            model=drawn(name).model,
            inputs=drawn(name).inputs,
            is_sequence=name in WHOLE and WHOLE[name].is_sequence,
        )
        for name in tflite
    ]
    told = dict(zip(tflite, evaluate(requests) if requests else [], strict=True))
    if refused := [f"{name}: {answer.error}" for name, answer in told.items() if answer.error]:
        raise ValueError("\n".join(refused))
    return {name: told[name].outputs if name in told else _onnx_outputs(name) for name in names}


def _onnx_outputs(name: str) -> tuple[Arrays, ...]:
    model = onnx.load_from_string(drawn(name).model)
    inputs = [value.name for value in model.graph.input]
    questions = [(model, dict(zip(inputs, case, strict=True))) for case in drawn(name).inputs]
    return tuple(map(tuple, answers(questions, "ORT_ENABLE_EXTENDED")))
