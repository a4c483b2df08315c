"""What an LSTM that is refused is told."""

from typing import Any

import numpy as np
import pytest

from codegen.errors import CodegenError
from codegen.importers.tflite import import_tflite
from codegen.importers.tflite.writing.writer import ModelBuilder

LSTM = "UNIDIRECTIONAL_SEQUENCE_LSTM"


def network(
    *,
    layers: int = 1,
    sequence: str = "int8",
    variable: bool = True,
    peephole: bool = False,
    result_scale: float = 0.5,
    activation: str = "tanh",
    proj_clip: float = 0.0,
) -> bytes:
    """Layers of two units over three inputs, which share one state if there are several."""
    model = ModelBuilder()
    x = model.tensor("x", (1, 4, 3), sequence, scale=0.5)
    shapes = [(2, 3)] * 4 + [(2, 2)] * 4
    weights = [
        model.tensor(f"w{at}", shape, scale=0.5, data=np.ones(shape, np.int8))
        for at, shape in enumerate(shapes)
    ]
    sums = np.zeros(2, np.int32)
    biases = [model.tensor(f"b{at}", (2,), "int32", scale=0.25, data=sums) for at in range(4)]
    hidden = model.tensor("hidden", (1, 2), variable=variable, scale=0.5)
    cell = model.tensor("cell", (1, 2), "int16", variable=variable, scale=2.0**-11)
    cross = [model.tensor("p", (2,), "int16", scale=0.5, data=np.ones(2, np.int16)) if peephole else None] * 3
    outputs = [model.tensor(f"y{at}", (1, 4, 2), scale=result_scale) for at in range(layers)]
    for output in outputs:
        inputs = [x, *weights, *cross, *biases, None, None, hidden, cell, None, None, None, None]
        model.op(LSTM, inputs, [output], activation=activation, proj_clip=proj_clip)
    model.inputs(x)
    model.outputs(*outputs)
    return model.build()


def test_the_state_is_one_parameter_and_one_result() -> None:
    function = import_tflite(network(), "m.tflite").main
    [state] = function.states
    assert function.params[state.param].type.shape == (2 * 2 + 2,)
    assert state.initial == bytes(6)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"activation": "relu"},
            'error[E301] op 0 {} "y0": the cell gate\'s activation is not TANH',
        ),
        (
            {"peephole": True},
            'error[E301] op 0 {} "y0": has peephole weights, which is not supported',
        ),
        (
            {"proj_clip": 1.0},
            'error[E301] op 0 {} "y0": clips a projection, which is not supported',
        ),
        (
            {"sequence": "int16"},
            'error[E301] op 0 {} "y0": has other types or shapes than are supported\n'
            "help: supported are an int8 sequence with int32 biases, int16 with int64 biases, both with int8 "
            "weights of one scale each, and float32",
        ),
        (
            {"result_scale": 0.25},
            'error[E301] op 0 {} "y0": the result has another scale or zero point than the hidden',
        ),
        ({"layers": 2}, 'error[E301] op 1 {} "y1": shares its state with another operator'),
        (
            {"variable": False},
            'error[E303] op 0 {} "y0": tensor 13 "hidden" has to be a variable without data',
        ),
    ],
)
def test_what_is_refused(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(CodegenError) as caught:
        import_tflite(network(**changes), "m.tflite")
    assert text.format(LSTM) in str(caught.value)


def svdf(
    *,
    rank: int = 2,
    dtype: str = "int8",
    held: str = "int8",
    zero_point: int = 0,
    memory: int = 3,
    bias: int = 2,
) -> bytes:
    """Four filters over three inputs; weights of time and state of type `held`."""
    model = ModelBuilder()
    x = model.tensor("x", (1, 3), dtype, scale=0.5)
    shapes = ((4, 3), (4, 3))
    weights = [
        model.tensor(f"w{at}", shape, kind, scale=0.5, data=np.ones(shape, kind))
        for at, (shape, kind) in enumerate(zip(shapes, ("int8", held), strict=True))
    ]
    sums = model.tensor("b", (bias,), "int32", scale=0.25, data=np.zeros(bias, np.int32))
    state = model.tensor("state", (1, 4 * memory), held, variable=True, scale=0.5, zero_point=zero_point)
    y = model.tensor("y", (1, 2), scale=0.5)
    model.op("SVDF", [x, *weights, sums, state], [y], rank=rank)
    model.inputs(x)
    model.outputs(y)
    return model.build()


def test_a_window_lies_frame_by_frame() -> None:
    function = import_tflite(svdf(), "m.tflite").main
    [state] = function.states
    assert function.params[state.param].type.shape == (1, 3, 1, 4)
    assert [let.call.op.name for let in function.body if let.call.op.name != "RESHAPE"] == [
        "CONV_2D",
        "SHIFT",
        "CONV_2D",
    ]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"rank": 3}, 'error[E303] op 0 SVDF "y": has 4 filters of rank 3 for an input int8[1,3]'),
        (
            {"dtype": "int16"},
            'error[E301] op 0 SVDF "y": has other types than are supported\n'
            "help: supported are float32, and int8 with a state of int8 or int16",
        ),
        (
            {"zero_point": 3, "held": "int16"},
            'error[E301] op 0 SVDF "y": the int16 state has zero point 3, supported is 0\n'
            "help: quantise the state symmetrically, as tflite-micro assumes it",
        ),
        (
            {"memory": 4},
            'error[E303] op 0 SVDF "y": the state is int8[1,16], the weights of time are int8[4,3]',
        ),
        ({"bias": 1}, 'error[E303] op 0 SVDF "y": an operand is int32[1], its shape has to be [2]'),
    ],
)
def test_what_is_refused_of_an_svdf(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(CodegenError) as caught:
        import_tflite(svdf(**changes), "m.tflite")
    assert text in str(caught.value)
