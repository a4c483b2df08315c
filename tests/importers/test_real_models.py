"""Every shared model either imports, with the figures its index gives, or is refused with a reason."""

import hashlib
from collections import Counter

import numpy as np
import pytest

from codegen.errors import CodegenError
from codegen.importers import load
from codegen.ir import Module, Var
from tests.testdata import golden, index, model_path

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
HYBRID = {"mlperf_tiny/kws_ref_model_float32", "mlperf_tiny/model_ToyCar_quant"}
NETWORKS = [
    key
    for key, row in index().items()
    if row["family"] in ("mlperf_tiny", "tflm", "tinyengine")
    and {entry.rsplit(":", 1)[0] for entry in row["ops"].split()} <= SUPPORTED
    and key not in HYBRID
]


def _macs(module: Module) -> int:
    return sum(
        let.call.op.macs(let.call.attrs, [arg.type if arg else None for arg in let.call.args], let.var.type)
        for let in module.main.body
    )


def _distinct_bytes(module: Module) -> dict[int, int]:
    """Bytes of constants by where they are: tensors that share a buffer of the file share memory."""
    data = [constant.data for constant in module.constants.values()]
    return {int(array.__array_interface__["data"][0]): array.nbytes for array in data}


def _counts(key: str) -> dict[str, int]:
    entries = (entry.rsplit(":", 1) for entry in index()[key]["ops"].split())
    return {name: int(count) for name, count in entries}


def test_the_networks_to_import_are_all_there() -> None:
    assert len(NETWORKS) == 17


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
        assert let.var.origin == let.source.tensor_name != ""
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


@pytest.mark.parametrize("key", sorted(HYBRID))
def test_hybrid_network_is_refused_operator_by_operator(key: str) -> None:
    with pytest.raises(CodegenError) as caught:
        load(model_path(key))
    assert caught.value.exit_code == 3
    [message] = caught.value.messages
    assert "hybrid operator: the image is float32, the weights are int8" in message.text
    assert len(message.places) >= 5


def test_every_unsupported_operator_of_a_model_is_listed() -> None:
    key = "tflm/audio_preprocessor_int8"
    unsupported = sum(count for name, count in _counts(key).items() if name not in SUPPORTED)
    with pytest.raises(CodegenError) as caught:
        load(model_path(key))
    refused = {
        place
        for message in caught.value.messages
        if message.code == "E301" and "is not supported" in message.text
        for place in message.places or (message.where,)
    }
    assert unsupported == 16
    assert len(refused) == unsupported


@pytest.mark.parametrize("family", sorted({row["family"] for row in index().values()}))
def test_every_model_imports_or_is_refused(family: str) -> None:
    seen = 0
    for key, row in index().items():
        if row["family"] != family:
            continue
        path = model_path(key)
        assert hashlib.sha256(path.read_bytes()).hexdigest() == row["sha256"]
        try:
            module = load(path)
        except CodegenError as error:
            assert error.exit_code == 3
            assert all(message.code in ("E300", "E301", "E306") for message in error.messages)
        else:
            assert len(module.main.body) == int(row["n_ops"])
            assert all(isinstance(result, Var) for result in module.main.results)
        seen += 1
    assert seen > 0
