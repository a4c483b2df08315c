"""Files that leave the shapes of results out: TFLite makes room, and shapes, when it prepares a run.

A style-transfer network of 2020 enlarges an image by what SHAPE says; its converter stopped to write shapes
there, and thirty messages said that `[]` is none of a convolution's.
"""

import math
from dataclasses import dataclass, field

import numpy as np
import pytest

from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir.evaluate import evaluate
from tests import engines
from tests.engines import TFLITE_RUNTIME, Request, available
from tests.importers.samples import imported


@dataclass(kw_only=True, slots=True)
class Drawn:
    """A network of one image, written with its shapes or without."""

    is_left_out: bool
    model: ModelBuilder = field(default_factory=ModelBuilder)
    count: int = 0

    def result(self, shape: tuple[int, ...], dtype: str = "float32") -> int:
        """A tensor that an operator computes."""
        self.count += 1
        return self.model.tensor(f"t{self.count}", () if self.is_left_out else shape, dtype)

    def enlarged(self, x: int, shape: tuple[int, ...], factor: int) -> tuple[int, tuple[int, ...]]:
        """RESIZE_NEAREST_NEIGHBOR to `factor` times the rows and columns that SHAPE gives."""
        sizes: list[int] = []
        told = self.result((4,), "int32")
        self.model.op("SHAPE", [x], [told], out_type="int32")
        one, by = self.constant([1]), self.constant(factor)
        for axis in (1, 2):
            extent, size = self.result((), "int32"), self.result((), "int32")
            bounds = [self.constant([axis]), self.constant([axis + 1]), one]
            self.model.op("STRIDED_SLICE", [told, *bounds], [extent], shrink_axis_mask=1)
            self.model.op("MUL", [extent, by], [size])
            sizes.append(size)
        pair = self.result((2,), "int32")
        self.model.op("PACK", sizes, [pair], values_count=2, axis=0)
        wanted = (shape[0], shape[1] * factor, shape[2] * factor, shape[3])
        y = self.result(wanted)
        self.model.op("RESIZE_NEAREST_NEIGHBOR", [x, pair], [y])
        return y, wanted

    def constant(self, numbers: int | list[int]) -> int:
        self.count += 1
        return self.model.constant(f"c{self.count}", np.array(numbers, np.int32))


def drawn(seed: int, *, is_left_out: bool) -> tuple[bytes, np.ndarray]:
    """An image, twice made larger with layers behind, and the image of one run."""
    rng = np.random.default_rng(seed)
    shape = (1, *(int(extent) for extent in rng.integers(2, 5, 3)))
    network = Drawn(is_left_out=is_left_out)
    model, x = network.model, network.model.tensor("x", shape, "float32")
    model.inputs(x)
    image = rng.standard_normal(shape).astype(np.float32)
    for _ in range(2):
        x, shape = network.enlarged(x, shape, int(rng.integers(1, 4)))
        taps = (3, 3, 3, shape[3])
        weights = model.tensor(
            f"w{network.count}", taps, "float32", data=rng.standard_normal(taps).astype(np.float32)
        )
        shape = (*shape[:3], 3)
        layer, mean, y = network.result(shape), network.result((1, 1, 1, 3)), network.result(shape)
        biases = rng.standard_normal(3).astype(np.float32)
        bias = model.tensor(f"b{network.count}", (3,), "float32", data=biases)
        model.op("CONV_2D", [x, weights, bias], [layer], padding="SAME")
        model.op("MEAN", [layer, network.constant([1, 2])], [mean], keep_dims=True)
        model.op("SUB", [layer, mean], [y])
        x = y
    last = model.tensor("y", (1, math.prod(shape)), "float32")
    model.op("RESHAPE", [x, network.constant([1, -1])], [last])
    model.outputs(last)
    return model.build(), image


@pytest.mark.skipif(TFLITE_RUNTIME not in available(), reason="TFLite's engine is not installed")
def test_results_are_the_engines() -> None:
    cases = [drawn(seed, is_left_out=True) for seed in range(25)]
    requests = [Request(engine=TFLITE_RUNTIME, model=data, inputs=((x,),)) for data, x in cases]
    for (data, x), answer in zip(cases, engines.evaluate(requests), strict=True):
        assert not answer.error
        module = imported(data)
        [found] = evaluate(module, module.main, [x])
        [[wanted]] = answer.outputs
        assert found.shape == wanted.shape
        assert np.abs(found - wanted).max() <= 1e-5 * np.abs(wanted).max()


def test_shapes_are_those_of_the_same_file_with_them() -> None:
    for seed in range(25):
        without, given = (imported(drawn(seed, is_left_out=left)[0]).main for left in (True, False))
        assert str(without) == str(given)


def _of_batch(signature: tuple[int, ...] | None) -> bytes:
    model = ModelBuilder()
    x = model.tensor("x", (-1, 4), "float32", shape_signature=signature)
    y = model.tensor("y", (-1, 4), "float32")
    model.op("RELU", [x], [y])
    model.inputs(x)
    model.outputs(y)
    return model.build()


def test_a_batch_that_is_read_as_1_is_told() -> None:
    """Without a signature -1 in a shape was taken as 1 without a word."""
    assert imported(_of_batch(None)).metadata["notes"] == (
        'input tensor 0 "x" has shape [-1, 4] and no signature: its first extent is read as 1; '
        "--dim says another"
    )
    assert "notes" not in imported(_of_batch((-1, 4))).metadata
