"""Operators with a declared kernel: what the importer takes, and what it refuses."""

import numpy as np
import pytest

from codegen.errors import CodegenError
from codegen.importers.tflite import import_tflite
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir import ConstRef, Var
from codegen.ir.ops import UserAttrs, UserKernel

KERNEL = UserKernel(op="MAXIMUM", symbol="maximum", source="maximum.c", text="")


def _refusal(model: ModelBuilder) -> str:
    with pytest.raises(CodegenError) as caught:
        import_tflite(model.build(), "m.tflite", (KERNEL,))
    return str(caught.value)


def test_a_call_is_as_the_file_says() -> None:
    """An input left out, a constant, options; the result's shape is believed."""
    model = ModelBuilder()
    x = model.tensor("user0", (1, 4), scale=0.5)
    k = model.tensor("k", (3,), "int32", data=[1, 2, 3])
    y = model.tensor("y", (2, 5), "int16", scale=0.25)
    model.op("CUSTOM", [x, None, k], [y], custom_code="Mine", custom_options=b"\x01\xff")
    model.inputs(x)
    model.outputs(y)
    mine = UserKernel(op="Mine", symbol="mine", source="mine.c", text="int x;")
    module = import_tflite(model.build(), "m.tflite", (KERNEL, mine))
    [let] = module.main.body
    first, left_out, constant = let.call.args
    assert isinstance(first, Var) and first.name == "x_user0" and left_out is None
    assert isinstance(constant, ConstRef) and module.constants[constant.id].data.tolist() == [1, 2, 3]
    assert let.call.attrs == UserAttrs(kernel=mine, shape=(2, 5), options=(1, 255))
    assert let.var.type.shape == (2, 5) and let.where == 'op 0 CUSTOM "y"'
    with pytest.raises(ValueError, match="Mine is computed by the user's kernel alone"):
        let.call.op.evaluate(let.call.attrs, [], [], let.var.type)


def test_several_results_are_refused() -> None:
    model = ModelBuilder()
    x, y, z = (model.tensor(name, (1, 4), scale=0.5) for name in "xyz")
    model.op("MAXIMUM", [x, x], [y, z])
    model.inputs(x)
    model.outputs(y, z)
    assert _refusal(model) == (
        'error[E301] op 0 MAXIMUM "y": has 2 outputs; a kernel declared in codegen.toml computes one result\n'
        "help: convert the model so that this operator has one output"
    )


def test_a_constant_result_is_refused() -> None:
    model = ModelBuilder()
    x, y, z = (model.tensor(name, (1, 4), scale=0.5) for name in "xyz")
    k = model.tensor("k", (1, 4), scale=0.5, data=np.ones((1, 4), np.int8))
    model.op("MAXIMUM", [k, k], [y])
    model.op("MAXIMUM", [x, y], [z])
    model.inputs(x)
    model.outputs(z)
    assert _refusal(model) == (
        'error[E301] op 0 MAXIMUM "y": depends on no input of the model: its result is a constant that only '
        "its kernel could compute\nhelp: convert the model with the result as a constant"
    )
