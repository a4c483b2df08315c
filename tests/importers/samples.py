"""Models for the importer's tests: one with every operator, small ones, and patches of single fields."""

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from tflite.Model import Model

from codegen.errors import CodegenError
from codegen.importers.tflite import import_tflite
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir import Let, Module

EVERYTHING_OPS = 20


def one_op(
    name: str,
    shape: tuple[int, ...],
    result: tuple[int, ...],
    constants: tuple[Any, ...] = (),
    *,
    dtype: str = "float32",
    **options: Any,
) -> bytes:
    """A model of one operator without quantisation; `constants` are its further inputs (int32, or arrays)."""
    model = ModelBuilder()
    x = model.tensor("x", shape, dtype)
    y = model.tensor("y", result, dtype)
    further = [_constant(model, f"k{number}", value) for number, value in enumerate(constants)]
    model.op(name, [x, *further], [y], **options)
    model.inputs(x)
    model.outputs(y)
    return model.build()


def _constant(model: ModelBuilder, name: str, value: Any) -> int:
    """Numbers and nested lists are int32; an array keeps its type."""
    array: np.ndarray = (
        cast(np.ndarray, value) if isinstance(value, np.ndarray) else np.asarray(value, np.int32)
    )
    return model.constant(name, array, str(array.dtype))


def everything() -> bytes:
    """Every kind of operator and operand once, int8 and float32, small enough to mutate byte by byte."""
    rng = np.random.default_rng(1)
    m = ModelBuilder()

    def value(name: str, shape: tuple[int, ...], scale: float | None = 0.5, zero_point: int = 3) -> int:
        return m.tensor(name, shape, "int8" if scale else "float32", scale=scale, zero_point=zero_point)

    def weights(name: str, shape: tuple[int, ...], axis: int) -> tuple[int, int]:
        scales = [0.01 * (i + 1) for i in range(shape[axis])]
        data = rng.integers(-127, 128, shape).astype(np.int8)
        bias = np.arange(shape[axis], dtype=np.int32)
        return (
            m.tensor(f"{name}/w", shape, "int8", scale=scales, axis=axis, data=data),
            m.tensor(f"{name}/b", bias.shape, "int32", scale=[s * 0.5 for s in scales], data=bias),
        )

    x = m.tensor("serving_default_input_1:0", (1, 6, 5, 2), "float32", shape_signature=(-1, 6, 5, 2))
    q = value("q", (1, 6, 5, 2))
    m.op("QUANTIZE", [x], [q])
    c = value("c", (1, 3, 3, 4))
    m.op("CONV_2D", [q, *weights("c", (4, 3, 3, 2), 0)], [c], padding="SAME", stride_w=2, stride_h=2)
    d = value("d", (1, 3, 3, 8))
    w, b = weights("d", (1, 2, 2, 8), 3)
    m.op("DEPTHWISE_CONV_2D", [c, w, b], [d], padding="SAME", depth_multiplier=2, activation="relu6")
    p = value("p", (1, 5, 4, 8))
    m.op("PAD", [d, _constant(m, "p/k", [[0, 0], [1, 1], [1, 0], [0, 0]])], [p])
    v = value("v", (1, 5, 5, 8))
    filler = m.tensor("v/f", (1,), "int8", scale=0.5, zero_point=3, data=[-7])
    m.op("PADV2", [p, _constant(m, "v/k", [[0, 0], [0, 0], [0, 1], [0, 0]]), filler], [v])
    a = value("a", (1, 2, 2, 8))
    m.op(
        "AVERAGE_POOL_2D", [v], [a], padding="VALID", filter_width=2, filter_height=2, stride_w=2, stride_h=2
    )
    n = value("n", (1, 2, 2, 8))
    m.op("MAX_POOL_2D", [a], [n], padding="SAME", filter_width=3, filter_height=3)
    s = value("s", (1, 2, 2, 8))
    m.op("ADD", [a, n], [s], activation="relu")
    cat = value("cat", (1, 2, 2, 16))
    m.op("CONCATENATION", [a, n], [cat], axis=-1)
    t = value("t", (1, 16, 2, 2))
    m.op("TRANSPOSE", [cat, _constant(m, "t/k", [0, 3, 1, 2])], [t])
    sl = value("sl", (1, 8, 2))
    slices = [
        _constant(m, f"sl/{i}", k) for i, k in enumerate(([0, -1, 0, 1], [1, -17, 2, 2], [1, -2, 1, 1]))
    ]
    m.op("STRIDED_SLICE", [t, *slices], [sl], shrink_axis_mask=8, end_mask=1)
    e = value("e", (1, 1, 8, 2))
    m.op("EXPAND_DIMS", [sl, _constant(m, "e/k", 1)], [e])
    z = value("z", (8, 2))
    m.op("SQUEEZE", [e], [z], squeeze_dims=[0, 1])
    r = value("r", (1, 16))
    m.op("RESHAPE", [z, _constant(m, "r/k", [1, -1])], [r])
    f = value("f", (1, 3))
    m.op("FULLY_CONNECTED", [r, *weights("f", (3, 16), 0)], [f])
    mean = value("mean", (1, 8))
    m.op("MEAN", [s, _constant(m, "mean/k", [1, 2])], [mean])
    soft = value("soft", (1, 3), 1 / 256, -128)
    m.op("SOFTMAX", [f], [soft], beta=1.0)
    deq = value("deq", (1, 8), None)
    m.op("DEQUANTIZE", [mean], [deq])
    leaky = value("leaky", (1, 8), None)
    m.op("LEAKY_RELU", [deq], [leaky], alpha=0.25)
    log = value("log", (1, 8), None)
    m.op("LOGISTIC", [leaky], [log])
    m.inputs(x)
    m.outputs(soft, log)
    return m.build()


def quantised(scale: float = 0.5, zero_point: int = 0) -> bytes:
    """QUANTIZE of a float input; everything of the result's quantisation is stored explicitly."""
    model = ModelBuilder()
    x = model.tensor("x", (1, 4), "float32")
    y = model.tensor("y", (1, 4), "int8", scale=scale, zero_point=zero_point)
    model.op("QUANTIZE", [x], [y])
    model.inputs(x)
    model.outputs(y)
    return model.build()


def chain(*ops: tuple[str, Sequence[str], Sequence[str]], outputs: Sequence[str] = ("y",)) -> bytes:
    """Operators over float32 tensors of shape [1, 4], named in the operators; x is the input."""
    model = ModelBuilder()
    tensors: dict[str, int] = {"x": model.tensor("x", (1, 4), "float32")}
    for name, reads, writes in ops:
        for tensor in (*reads, *writes):
            if tensor not in tensors:
                tensors[tensor] = model.tensor(tensor, (1, 4), "float32")
        model.op(name, [tensors[t] for t in reads], [tensors[t] for t in writes])
    model.inputs(tensors["x"])
    model.outputs(*(tensors[t] for t in outputs))
    return model.build()


def typed(dtype: str, **more: Any) -> bytes:
    model = ModelBuilder()
    x = model.tensor("x", (1, 4), dtype, **more)
    y = model.tensor("y", (1, 4), "float32")
    model.op("DEQUANTIZE", [x], [y])
    model.inputs(x)
    model.outputs(y)
    return model.build()


_SCHEMA_WORDS = {
    "activation": "FusedActivationFunction",
    "dilation_w": "DilationWFactor",
    "dilation_h": "DilationHFactor",
}


def schema_word(option: str) -> str:
    """The schema package's accessor of an option that the writer calls `option`."""
    return _SCHEMA_WORDS.get(option, option.title().replace("_", ""))


def imported(data: bytes) -> Module:
    """`import_tflite` under a fixed name."""
    return import_tflite(data, "m.tflite")


def step(data: bytes) -> Let:
    """The only step of a one-operator model."""
    body = imported(data).main.body
    assert len(body) == 1
    return body[0]


def complaint(data: bytes) -> str:
    """Text of the CodegenError that importing `data` raises, whose exit code is 3."""
    try:
        imported(data)
    except CodegenError as error:
        assert error.exit_code == 3
        return str(error)
    raise AssertionError("the model was imported")


def outcome(data: bytes) -> str:
    """First message code, or `ok`; any other exception than CodegenError passes through."""
    try:
        imported(data)
    except CodegenError as error:
        assert error.exit_code == 3
        return error.messages[0].code
    return "ok"


class Patch:
    """A copy of a model file in which single fields are overwritten; fields must be stored explicitly."""

    def __init__(self, data: bytes) -> None:
        self.data = bytearray(data)

    @property
    def model(self) -> Any:
        return cast(Any, Model.GetRootAs(bytes(self.data), 0))

    @property
    def graph(self) -> Any:
        return self.model.Subgraphs(0)

    def tensor(self, name: str) -> Any:
        tensors = (self.graph.Tensors(i) for i in range(self.graph.TensorsLength()))
        return next(tensor for tensor in tensors if tensor.Name() == name.encode())

    def operator(self, index: int) -> Any:
        return self.graph.Operators(index)

    def scalar(self, table: Any, field: int, form: str, value: float) -> "Patch":
        """Overwrite field number `field` of a table."""
        offset = table._tab.Offset(4 + 2 * field)
        assert offset, "the field has its default value, so it is not in the file"
        struct.pack_into(form, self.data, table._tab.Pos + offset, value)
        return self

    def element(self, table: Any, field: int, index: int, form: str, value: float) -> "Patch":
        """Overwrite element `index` of a vector field; -1 overwrites its length."""
        offset = table._tab.Offset(4 + 2 * field)
        assert offset, "the vector is not in the file"
        start = table._tab.Vector(offset)
        position = start - 4 if index < 0 else start + index * struct.calcsize(form)
        struct.pack_into(form, self.data, position, value)
        return self

    def build(self) -> bytes:
        return bytes(self.data)


def written(folder: Path, name: str, data: bytes) -> Path:
    """`data` as a file."""
    path = folder / name
    path.write_bytes(data)
    return path
