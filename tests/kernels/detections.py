"""Random layers of DETECTION_POST_PROCESS."""

from dataclasses import replace

import numpy as np
from numpy.random import Generator

from codegen.ir import DType, ops
from tests.kernels.layers import Layer, Operand, float32, integer, layer
from tests.tensor_types import REAL, per_tensor, tensor_type


def _operand(rng: Generator, dtype: DType, shape: tuple[int, ...], *, low: float, high: float) -> Operand:
    """Real numbers between `low` and `high`, in int8 by a scale that has them."""
    if dtype is DType.FLOAT32:
        data = rng.uniform(low, high, shape).astype(np.float32)
        return Operand(type=tensor_type(shape, dtype), data=data)
    scale = float32((high - low) / 250)
    zero_point = -125 - round(low / scale)
    meaning = per_tensor(scale, max(-128, min(127, zero_point)))
    data = rng.integers(-124, 125, shape, np.int8)
    return Operand(type=tensor_type(shape, dtype, quantization=meaning), data=data)


def detections(rng: Generator, dtype: DType) -> Layer:
    """Few boxes near each other; scores that are equal only where no box has several classes."""
    boxes, classes, most = integer(rng, 1, 30), integer(rng, 1, 5), integer(rng, 1, 10)
    of_box = integer(rng, 1, classes) if rng.random() < 0.3 else 1
    by_class = of_box == 1 and rng.random() < 0.5
    other = DType.FLOAT32 if of_box > 1 or rng.random() < 0.5 else dtype
    anchors = _operand(rng, dtype, (boxes, 4), low=0.1, high=1.5)
    operands = (
        _operand(rng, dtype, (1, boxes, integer(rng, 4, 5)), low=-4, high=4),
        _operand(rng, other, (1, boxes, classes + integer(rng, 0, 1)), low=-1, high=1),
        replace(anchors, constant=bool(rng.random() < 0.7)),
    )
    scales = [float(integer(rng, 2, 10)) for _ in range(4)]
    attrs = ops.DetectionAttrs(
        rows=most * of_box + integer(rng, 0, 1) * most,
        classes=classes,
        most=most,
        most_of_class=integer(rng, 1, 6),
        classes_of_box=of_box,
        by_class=by_class,
        score=float32(rng.uniform(-1, 0.5)),
        overlap=float32(rng.uniform(0.05, 1)),
        scales=(scales[0], scales[1], scales[2], scales[3]),
    )
    return layer("DETECTION_POST_PROCESS", attrs, operands, REAL)
