"""Shapes that the file computes: folded where they follow from the shapes that it states.

Seven of 126 public networks were refused for SHAPE, STRIDED_SLICE, PACK and nothing else.
"""

import math
from typing import Any

import numpy as np
import pytest

from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir.evaluate import evaluate
from tests import engines
from tests.engines import TFLITE_RUNTIME, Request, available
from tests.importers.samples import complaint, imported

needs_engine = pytest.mark.skipif(TFLITE_RUNTIME not in available(), reason="tflite-runtime is not installed")


class Network:
    """RELU, a RESHAPE whose shape is computed, RELU; the batch of every tensor is open."""

    def __init__(self, shape: tuple[int, ...], dtype: str = "float32") -> None:
        self.model = ModelBuilder()
        self.scale = 0.5 if dtype == "int8" else None
        self.dtype = dtype
        self.x = self.value("x", shape)
        self.image = self.value("a", shape)
        self.model.op("RELU", [self.x], [self.image])
        self.extents = self.numbers("shape", len(shape))
        self.model.op("SHAPE", [self.image], [self.extents], out_type="int32")

    def value(self, name: str, shape: tuple[int, ...]) -> int:
        signature = (-1, *shape[1:])
        return self.model.tensor(name, shape, self.dtype, shape_signature=signature, scale=self.scale)

    def numbers(self, name: str, *shape: int) -> int:
        return self.model.tensor(name, shape, "int32")

    def constant(self, values: Any) -> int:
        return self.model.constant(f"k{self.model.tensors}", np.asarray(values, np.int32))

    def extent(self, axis: int) -> int:
        """One extent of the image's shape, as a scalar."""
        found = self.numbers(f"extent{self.model.tensors}")
        bounds = [self.constant([number]) for number in (axis, axis + 1, 1)]
        self.model.op("STRIDED_SLICE", [self.extents, *bounds], [found], shrink_axis_mask=1)
        return found

    def packed(self, parts: list[int]) -> int:
        found = self.numbers("new_shape", len(parts))
        self.model.op("PACK", parts, [found], values_count=len(parts), axis=0)
        return found

    def reshaped(self, wanted: int, shape: tuple[int, ...]) -> bytes:
        between, y = self.value("r", shape), self.value("y", shape)
        self.model.op("RESHAPE", [self.image, wanted], [between])
        self.model.op("RELU", [between], [y])
        self.model.inputs(self.x)
        self.model.outputs(y)
        return self.model.build()


def drawn(seed: int) -> tuple[bytes, np.ndarray]:
    """A network whose new shape takes the batch, and now and then another extent, from SHAPE; an input."""
    rng = np.random.default_rng(seed)
    shape = (1, *(int(extent) for extent in rng.integers(1, 6, rng.integers(1, 4))))
    dtype = str(rng.choice(["float32", "int8"]))
    network = Network(shape, dtype)
    others = [int(extent) for extent in shape[1:]]
    if rng.random() < 0.5:
        others = [math.prod(others)] if rng.random() < 0.5 else [*reversed(others)]
    elif rng.random() < 0.5:
        others.insert(int(rng.integers(len(others) + 1)), 1)
    result = (1, *others)
    told: list[Any] = list(others)
    if rng.random() < 0.3:
        told[int(rng.integers(len(told)))] = -1
    if rng.random() < 0.3:  # a run of the shape, joined with constants: no PACK
        batch = network.numbers("batch", 1)
        bounds = [network.constant([number]) for number in (0, 1, 1)]
        network.model.op("STRIDED_SLICE", [network.extents, *bounds], [batch])
        wanted = network.numbers("new_shape", len(result))
        network.model.op("CONCATENATION", [batch, network.constant(told)], [wanted], axis=0)
    else:
        parts = [network.extent(0)]
        for number, extent in enumerate(told):
            same = number + 1 < len(shape) and shape[number + 1] == extent and rng.random() < 0.5
            parts.append(network.extent(number + 1) if same else network.constant(extent))
        wanted = network.packed(parts)
    values = rng.integers(-128, 128, shape)
    return network.reshaped(wanted, result), values.astype(dtype)


@needs_engine
def test_folded_shapes_are_the_engines() -> None:
    """Forty drawn networks: the same bytes as the engine that computes the shape while it runs."""
    cases = [drawn(seed) for seed in range(40)]
    requests = [Request(engine=TFLITE_RUNTIME, model=data, inputs=((x,),)) for data, x in cases]
    for (data, x), answer in zip(cases, engines.evaluate(requests), strict=True):
        assert not answer.error
        module = imported(data)
        assert [let.call.op.name for let in module.main.body] == ["RELU", "RESHAPE", "RELU"]
        [found] = evaluate(module, module.main, [x])
        [[wanted]] = answer.outputs
        assert found.shape == wanted.shape and np.array_equal(found, wanted)


def test_a_chain_of_shape_slice_pack_leaves_one_reshape() -> None:
    network = Network((1, 4, 3, 2))
    data = network.reshaped(network.packed([network.extent(0), network.constant(24)]), (1, 24))
    body = imported(data).main.body
    assert [(let.call.op.name, let.var.type.shape) for let in body] == [
        ("RELU", (1, 4, 3, 2)),
        ("RESHAPE", (1, 24)),
        ("RELU", (1, 24)),
    ]


def test_a_result_unlike_the_file_is_refused() -> None:
    network = Network((1, 4, 3, 2))
    three = network.numbers("three", 3)
    network.model.op("PACK", [network.extent(0), network.constant(24)], [three], values_count=2, axis=0)
    assert 'op 3 PACK "three": result is int32[3], the operator gives int32[2]' in complaint(
        network.reshaped(three, (1, 24))
    )


def test_a_pack_of_unlike_numbers_is_refused() -> None:
    network = Network((1, 4, 3, 2))
    two = network.packed([network.extent(0), network.constant([24])])
    assert 'op 3 PACK "new_shape": packs 2 tensors, which have to be alike' in complaint(
        network.reshaped(two, (1, 24))
    )


def test_a_pack_of_values_is_refused_as_an_operator_without_a_kernel() -> None:
    model = ModelBuilder()
    x, y = model.tensor("x", (1, 4), "float32"), model.tensor("y", (2, 1, 4), "float32")
    model.op("PACK", [x, x], [y], values_count=2, axis=0)
    model.inputs(x)
    model.outputs(y)
    assert 'error[E301] op 0 PACK "y": operator PACK is not supported' in complaint(model.build())


def test_a_shape_as_an_output_is_a_constant() -> None:
    network = Network((1, 4))
    network.model.inputs(network.x)
    network.model.outputs(network.image, network.extents)
    assert "does not depend on the model's inputs: it is a constant" in complaint(network.model.build())


def test_a_folded_tensor_gets_no_second_value() -> None:
    network = Network((1, 4))
    network.model.op("SHAPE", [network.x], [network.extents], out_type="int32")
    assert f'tensor {network.extents} "shape" gets a value twice' in complaint(
        network.reshaped(network.extents, (1, 4))
    )
