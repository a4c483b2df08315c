"""Arrays of inputs: by the names of the tensors, as `quantize` takes them, or by numbers; their shapes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.driver.inputs.cases import ArraySource
from codegen.errors import CodegenError
from codegen.ir import DType, TensorType
from codegen.program.interface import IoTensor
from tests.tensor_types import tensor_type

INT8 = tensor_type((1, 3))
FLOAT = tensor_type((2,), DType.FLOAT32)


def tensors(*types: TensorType) -> list[IoTensor]:
    """Inputs of these types, called in0:0, in1:0 by their file and field0, field1 in C."""
    return [
        IoTensor(field=f"field{index}", origin=f"in{index}:0", value=f"v{index}", type=each)
        for index, each in enumerate(types)
    ]


def test_arrays_by_the_names_of_tensors(tmp_path: Path) -> None:
    """`quantize` took names only, `run --input` numbers only: one file was no good for both."""
    path = tmp_path / "named.npz"
    samples: dict[str, Any] = {"in0:0": np.array([1, 2, 3], np.int8), "field1": np.zeros(2, np.float32)}
    np.savez(path, **samples)
    first, second = ArraySource.parse(str(path)).read("x", tensors(INT8, FLOAT), "input")
    assert first is not None and first.tolist() == [[1, 2, 3]] and second is not None
    prefixed: dict[str, Any] = {f"b_{name}": data for name, data in samples.items()}
    np.savez(path, **prefixed)
    source = ArraySource.parse(f"{path}:b")
    source.check("x", "input")
    assert source.read("x", tensors(INT8, FLOAT), "input")[0] is not None


IMAGE = tensor_type((1, 3, 8, 9), DType.FLOAT32)
NHWC = "it looks like NHWC, the model takes NCHW: "
NCHW = "it looks like NCHW, the model takes NHWC: "


def read(path: Path, shape: tuple[int, ...], type_: TensorType, dtype: str = "float32") -> np.ndarray | None:
    np.savez(path, x0=np.arange(np.prod(shape), dtype=dtype).reshape(shape))
    [data] = ArraySource.parse(str(path)).read("x", tensors(type_), "input")
    return data


@pytest.mark.parametrize("shape", [(1, 3, 8, 9), (3, 8, 9), (1, 1, 3, 8, 9), (216,)])
def test_shapes_that_keep_the_order_of_elements(shape: tuple[int, ...], tmp_path: Path) -> None:
    data = read(tmp_path / "a.npz", shape, IMAGE)
    assert data is not None and data.shape == IMAGE.shape and data.ravel().tolist() == list(range(216))


@pytest.mark.parametrize(
    ("shape", "type_", "help_"),
    [
        ((1, 8, 9, 3), IMAGE, f"{NHWC}x0.transpose(0, 3, 1, 2)"),
        ((8, 9, 3), IMAGE, f"{NHWC}x0[None].transpose(0, 3, 1, 2)"),
        ((7, 8, 9, 3), IMAGE, f"{NHWC}x0.transpose(0, 3, 1, 2)"),
        (
            (1, 3, 8, 9),
            tensor_type((1, 8, 9, 3), DType.FLOAT32),
            f"{NCHW}x0.transpose(0, 2, 3, 1)",
        ),
        (
            (1, 5, 7),
            tensor_type((1, 7, 5), DType.FLOAT32),
            "its axes look swapped: x0.transpose(0, 2, 1)",
        ),
        ((1, 9, 8, 3), IMAGE, "give an array of the model's shape, its axes in the model's order"),
        (
            (100, 3, 8, 9),
            IMAGE,
            "it holds 100 samples: run one of them, `x0[:1]`, or all as a sequence with `--sequence`",
        ),
    ],
)
def test_an_image_in_another_layout_is_refused(
    shape: tuple[int, ...], type_: TensorType, help_: str, tmp_path: Path
) -> None:
    """An NHWC image was taken for an NCHW input of as many elements: it ran, and the result meant nothing."""
    with pytest.raises(CodegenError) as caught:
        read(tmp_path / "a.npz", shape, type_)
    [message] = caught.value.messages
    assert (message.code, message.help) == ("E222", help_)
    assert message.text == f"array x0 is float32{list(shape)}, input 0 is {type_}"


def test_a_sequence_in_another_layout_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, x0=np.zeros((5, 8, 9, 3), np.float32))
    with pytest.raises(CodegenError) as caught:
        ArraySource.parse(str(path)).read_rows("x", tensors(IMAGE), "input", ())
    [message] = caught.value.messages
    assert message.code == "E222" and message.help is not None
    assert message.help.endswith(f"; {NHWC}x0.transpose(0, 3, 1, 2)")


def test_arrays_of_another_type_say_how_to_convert(tmp_path: Path) -> None:
    with pytest.raises(CodegenError, match=r"own element type: x0\.astype\(numpy\.float32\)"):
        read(tmp_path / "a.npz", (1, 3, 8, 9), IMAGE, "float64")


def test_a_number_that_no_tensor_has_is_refused(tmp_path: Path) -> None:
    """A second input of a file for another model was dropped without a word. Other arrays may stay."""
    path = tmp_path / "a.npz"
    held: dict[str, Any] = {
        "x0": np.zeros(3, np.int8),
        "labels": np.zeros(1),
        "y3": np.zeros(1),
        "b_x1": np.zeros(1),
    }
    np.savez(path, **held)
    assert ArraySource.parse(str(path)).read("x", tensors(INT8), "input")[0] is not None
    np.savez(path, **held, x1=np.zeros(3, np.int8))
    with pytest.raises(CodegenError, match=r"error\[E221\] .*: array x1 is no input of the model"):
        ArraySource.parse(str(path)).read("x", tensors(INT8), "input")
