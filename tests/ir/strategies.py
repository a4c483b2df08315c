"""Random modules for property tests: elementwise and shape operators over small tensors, devices set."""

import numpy as np
from hypothesis import strategies as st

from codegen.ir import ANYWHERE, DType, Module, Quantization, TensorType, Var, VirtualDevice
from codegen.ir.builder import Builder
from codegen.ir.function import Arg, Source
from codegen.ir.ops import OPS, Activation, Attrs, BinaryAttrs, PadAttrs, ReshapeAttrs, TransposeAttrs

SCOPES = ("dtcm", "sram", "ccm")
_TEXT = st.text(max_size=8)


@st.composite
def devices(draw: st.DrawFn) -> VirtualDevice:
    if draw(st.booleans()):
        return ANYWHERE
    return VirtualDevice(
        target=draw(st.none() | st.sampled_from(["m4", 'odd "name"'])),
        device_id=draw(st.none() | st.integers(0, 3)),
        memory_scope=draw(st.none() | st.sampled_from(SCOPES)),
    )


@st.composite
def modules(draw: st.DrawFn, max_steps: int = 8) -> Module:
    """A well-formed module: every operator obeys its rule, some arguments are constant."""
    builder = Builder("main")
    quantization = Quantization(
        scales=(draw(st.floats(2**-20, 100, width=32)),), zero_points=(draw(st.integers(-128, 127)),)
    )
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=2, max_size=4)))
    int8 = TensorType(shape=shape, dtype=DType.INT8, quantization=quantization)
    values: list[Arg] = [
        builder.param(f"in{i}", int8, origin=draw(_TEXT), device=draw(devices()))
        for i in range(draw(st.integers(1, 2)))
    ]
    values.append(builder.constant(np.full(shape, 3, np.int8), quantization=quantization, origin=draw(_TEXT)))
    for step in range(draw(st.integers(1, max_steps))):
        source = Source(op_index=step, op_name="X", tensor_name=draw(_TEXT)) if draw(st.booleans()) else None
        first = draw(st.sampled_from(values))
        name, attrs, args, type_ = draw(_calls(first, values))
        result = Var(name=f"step{step}", type=type_, origin=draw(_TEXT), device=draw(devices()))
        values.append(builder.call(OPS[name], args, attrs, result, source=source))
    results = draw(st.lists(st.sampled_from(values[1:]), min_size=1, max_size=3))
    return builder.build(results, {"file": "x.tflite", "format": draw(_TEXT)})


@st.composite
def _calls(draw: st.DrawFn, first: Arg, values: list[Arg]) -> tuple[str, Attrs, list[Arg | None], TensorType]:
    type_ = first.type
    kind = draw(st.sampled_from(["ADD", "RESHAPE", "TRANSPOSE", "PAD", "RELU"]))
    if kind == "ADD":
        same = [value for value in values if value.type.shape == type_.shape]
        activation = draw(st.sampled_from(list(Activation)))
        return kind, BinaryAttrs(activation=activation), [first, draw(st.sampled_from(same))], type_
    if kind == "RESHAPE":
        flat = TensorType(shape=(type_.elements,), dtype=type_.dtype, quantization=type_.quantization)
        return kind, ReshapeAttrs(shape=flat.shape), [first], flat
    if kind == "TRANSPOSE":
        permutation = tuple(draw(st.permutations(range(len(type_.shape)))))
        turned = tuple(type_.shape[axis] for axis in permutation)
        result = TensorType(shape=turned, dtype=type_.dtype, quantization=type_.quantization)
        return kind, TransposeAttrs(permutation=permutation), [first], result
    if kind == "PAD":
        paddings = tuple((draw(st.integers(0, 1)), draw(st.integers(0, 1))) for _ in type_.shape)
        grown = tuple(e + a + b for e, (a, b) in zip(type_.shape, paddings, strict=True))
        result = TensorType(shape=grown, dtype=type_.dtype, quantization=type_.quantization)
        return kind, PadAttrs(paddings=paddings, value=type_.zero_point), [first], result
    return kind, Attrs(), [first], type_
