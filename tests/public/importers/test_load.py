"""Every public model either imports, with the figures its index gives, or is refused with a reason."""

import hashlib
from collections import Counter

import numpy as np
import pytest

from codegen.errors import CodegenError
from codegen.importers import STATE_OPS, load
from codegen.importers.printable_names import printable
from codegen.ir import Module, Var
from tests.public.testdata import golden, index, model_path

SUPPORTED = {
    *(
        "CONV_2D",
        "DEPTHWISE_CONV_2D",
        "FULLY_CONNECTED",
        "AVERAGE_POOL_2D",
        "MAX_POOL_2D",
        "MEAN",
        "ADD",
        "SUB",
    ),
    *("MUL", "CONCATENATION", "PAD", "RESHAPE", "TRANSPOSE", "STRIDED_SLICE", "SOFTMAX", "LOGISTIC", "TANH"),
    *("RELU", "RELU6", "LEAKY_RELU", "QUANTIZE", "DEQUANTIZE"),
}
NETWORKS = [
    key
    for key, row in index().items()
    if row["family"] in ("mlperf_tiny", "tflm", "tinyengine")
    and {entry.rsplit(":", 1)[0] for entry in row["ops"].split()} <= SUPPORTED
]


def _macs(module: Module) -> int:
    return sum(let.macs for let in module.main.body)


def _distinct_bytes(module: Module) -> dict[int, int]:
    """Bytes of constants by where they are: tensors that share a buffer of the file share memory."""
    data = [constant.data for constant in module.constants.values()]
    return {int(array.__array_interface__["data"][0]): array.nbytes for array in data}


def _check_steps(key: str, module: Module) -> None:
    """Every operator of the file is in the steps, which may be several, or moves variables."""
    sources = [let.source for let in module.main.body if let.source is not None]
    steps = {source.op_index for source in sources if source.op_name not in STATE_OPS}
    moving = sum(count for name, count in _counts(key).items() if name in STATE_OPS)
    assert len(steps) + moving == sum(_counts(key).values())


def _counts(key: str) -> dict[str, int]:
    entries = (entry.rsplit(":", 1) for entry in index()[key]["ops"].split())
    return {name: int(count) for name, count in entries}


def test_the_networks_to_import_are_all_there() -> None:
    assert len(NETWORKS) == 19


@pytest.mark.parametrize("key", NETWORKS)
def test_network_has_the_structure_the_index_tells(key: str) -> None:
    row = index()[key]
    module = load(model_path(key))
    main = module.main
    ops = Counter(let.call.op.name for let in main.body)
    assert _counts(key) == ops
    assert len(main.body) == int(row["n_ops"])
    assert _macs(module) == int(row["macs"])
    assert " ".join(str(param.type) for param in main.params) == row["inputs"]
    assert " ".join(str(result.type) for result in main.results) == row["outputs"]
    assert sum(var.type.size_bytes for var in main.variables()) == int(row["activation_bytes_sum"])
    assert sum(_distinct_bytes(module).values()) <= int(row["weight_bytes"])
    assert module.metadata["sha256"] == row["sha256"]
    assert module.metadata["format"] == "tflite"
    assert module.metadata["file"] == model_path(key).name


@pytest.mark.parametrize("key", NETWORKS)
def test_network_names_are_unlike_and_lead_back_to_the_file(key: str) -> None:
    main = load(model_path(key)).main
    names = [var.name for var in main.variables()]
    assert len(set(names)) == len(names)
    for number, let in enumerate(main.body):
        assert let.var.name == f"{let.call.op.short}{number}"
        assert let.source is not None
        assert let.source.op_index == number
        assert let.var.origin == printable(let.source.tensor_name) != ""
    inputs, outputs = main.params, main.results
    arrays = golden(key)
    assert [list(arrays[f"a_x{i}"].shape) for i in range(len(inputs))] == [
        list(var.type.shape) for var in inputs
    ]
    assert [list(arrays[f"a_y{i}"].shape) for i in range(len(outputs))] == [
        list(out.type.shape) for out in outputs
    ]


@pytest.mark.parametrize("key", NETWORKS)
def test_golden_input_c_is_the_zero_point_of_the_input(key: str) -> None:
    for number, param in enumerate(load(model_path(key)).main.params):
        assert np.all(golden(key)[f"c_x{number}"] == param.type.zero_point)


@pytest.mark.parametrize("family", sorted({row["family"] for row in index().values()}))
def test_every_model_imports_or_is_refused(family: str) -> None:
    seen = 0
    for key, row in index().items():
        if row["family"] != family:
            continue
        path = model_path(key)
        is_tflite = path.suffix == ".tflite"
        assert hashlib.sha256(path.read_bytes()).hexdigest() == row["sha256"]
        try:
            module = load(path)
        except CodegenError as error:
            assert error.exit_code == 3
            codes = {message.code for message in error.messages}
            assert codes <= ({"E300", "E301", "E306"} if is_tflite else {"E301", "E303", "E305", "E306"})
        else:
            assert module.metadata["sha256"] == row["sha256"]
            if is_tflite:
                _check_steps(key, module)
            assert all(isinstance(result, Var) for result in module.main.results)
        seen += 1
    assert seen > 0
