"""Arrays of inputs by the names of the tensors, as `quantize` takes them, and by numbers."""

from pathlib import Path
from typing import Any

import numpy as np

from codegen.driver.inputs.cases import ArraySource
from codegen.ir import DType, TensorType
from codegen.program.interface import IoTensor

INT8 = TensorType(shape=(1, 3), dtype=DType.INT8)
FLOAT = TensorType(shape=(2,), dtype=DType.FLOAT32)


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
