"""Files made by hand: every integer option at its edges, and small ones that ask for much."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from codegen.importers.tflite.file.option_tables import BY_OPERATOR, OptionStorage
from codegen.importers.tflite.writing.writer import ModelBuilder
from tests.importers.fuzz.mutations import OPTION_NUMBERS
from tests.importers.samples import one_op

Shape = tuple[int, ...]

_IMAGE: Shape = (1, 6, 6, 2)
_LAYERS: dict[str, tuple[Shape, tuple[Any, ...]]] = {
    "CONV_2D": ((1, 6, 6, 3), (np.ones((3, 3, 3, 2), np.float32),)),
    "DEPTHWISE_CONV_2D": (_IMAGE, (np.ones((1, 3, 3, 2), np.float32),)),
    "STRIDED_SLICE": (_IMAGE, ([0, 0, 0, 0], [1, 6, 6, 2], [1, 1, 1, 1])),
    "SPLIT_V": (_IMAGE, ([2], 3)),
}
"""Result and constants of a layer on an image, for operators with integer options; others have one input."""


def option_files() -> Iterator[tuple[str, bytes]]:
    """Every integer field of every operator's options at 0, -1, 2^15 and 2^31 - 1."""
    for op, table in BY_OPERATOR.items():
        for field, option in table.fields.items():
            if option.kind not in (OptionStorage.INT, OptionStorage.INTS):
                continue
            result, constants = _LAYERS.get(op, (_IMAGE, ()))
            paddings: tuple[dict[str, Any], ...] = ({},)
            if "padding" in table.fields:
                paddings = ({"padding": "SAME"}, {"padding": "VALID"})
            for number in OPTION_NUMBERS:
                value = [number] if option.kind is OptionStorage.INTS else number
                for padding in paddings:
                    name = " ".join([op, f"{field}={number}", *padding.values()])
                    shape = _result(op, field, number, padding, result)
                    options: dict[str, Any] = {**padding, field: value}
                    yield name, one_op(op, _IMAGE, shape, constants, **options)


def _result(op: str, field: str, number: int, padding: dict[str, Any], result: Shape) -> Shape:
    """The shape that the layer then has, so that the file is refused for its option alone or not at all."""
    axis = {"stride_h": 1, "stride_w": 2}.get(field)
    if number > 0 and axis is not None:
        return tuple(1 if index == axis else extent for index, extent in enumerate(result))
    if padding.get("padding") == "VALID" and op in ("CONV_2D", "DEPTHWISE_CONV_2D"):
        return (1, 4, 4, result[3])
    return result


def _pool(filter: int, image: int = 6, **more: Any) -> bytes:
    shape = (1, image, image, 2)
    return one_op(
        "AVERAGE_POOL_2D", shape, shape, padding="SAME", filter_width=filter, filter_height=filter, **more
    )


def _quantised_relu6(scale: float) -> bytes:
    model = ModelBuilder()
    x, y = (model.tensor(name, (1, 4), "int8", scale=scale) for name in "xy")
    model.op("RELU6", [x], [y])
    model.inputs(x)
    model.outputs(y)
    return model.build()


def _pads(count: int, step: int) -> bytes:
    """A chain of PADs, each `step` elements longer than the one before."""
    model = ModelBuilder()
    last = model.tensor("x", (1, 4), "int8", scale=0.5)
    model.inputs(last)
    paddings = model.constant("k", np.array([[0, 0], [0, step]], np.int32))
    for number in range(1, count + 1):
        following = model.tensor(f"t{number}", (1, 4 + number * step), "int8", scale=0.5)
        model.op("PAD", [last, paddings], [following])
        last = following
    model.outputs(last)
    return model.build()


def _folded(count: int, extent: int) -> bytes:
    """Floats made of constants alone: `count` PADs of one element to `extent`, added to the input's."""
    model = ModelBuilder()
    x, y = (model.tensor(name, (1, 1), "float32") for name in "xy")
    one = model.tensor("one", (1, 1), "float32", data=np.ones((1, 1), np.float32))
    paddings = model.constant("k", np.array([[0, 0], [0, extent - 1]], np.int32))
    model.op("ADD", [x, one], [y])
    outputs = [y]
    for number in range(count):
        large = model.tensor(f"f{number}", (1, extent), "float32")
        added = model.tensor(f"y{number}", (1, extent), "float32")
        model.op("PAD", [one, paddings], [large])
        model.op("ADD", [x, large], [added])
        outputs.append(added)
    model.inputs(x)
    model.outputs(*outputs)
    return model.build()


def _global_pool(extent: int) -> bytes:
    """A window as large as the image, at every place: (2 * extent)^2 taps of extent^2 results."""
    return _pool(2 * extent, extent)


def _windows(count: int, side: int) -> bytes:
    """A chain of windows over images of one channel: distances were counted pixel by pixel in Python."""
    model = ModelBuilder()
    images = [model.tensor(f"x{index}", (1, side, side, 1), "int8", scale=0.1) for index in range(count + 1)]
    window: dict[str, Any] = {"filter_width": 3, "filter_height": 3, "stride_w": 1, "stride_h": 1}
    for image, result in itertools.pairwise(images):
        model.op("MAX_POOL_2D", [image], [result], padding="SAME", **window)
    model.inputs(images[0])
    model.outputs(images[-1])
    return model.build()


def _same_names(count: int) -> bytes:
    model = ModelBuilder()
    inputs = [model.tensor("x", (1, 4), "float32") for _ in range(count)]
    outputs = [model.tensor("y", (1, 4), "float32") for _ in range(count)]
    for x, y in zip(inputs, outputs, strict=True):
        model.op("RELU", [x], [y])
    model.inputs(*inputs)
    model.outputs(*outputs)
    return model.build()


def _scales() -> Iterator[tuple[str, bytes]]:
    for scale in (1e-45, 1e-38, 3e38, float("inf"), float("nan"), 0.0, -1.0):
        yield f"RELU6 scale={scale:g}", _quantised_relu6(scale)


def greedy_files() -> Iterator[tuple[str, bytes]]:
    """Small files that ask for gigabytes or minutes."""
    for size in (2000, 30_000, 100_000, (1 << 31) - 1):
        yield f"pool of {size}", _pool(size)
        yield f"pool of {size}, stride {size}", _pool(size, 1, stride_w=size, stride_h=size)
    for dilation in (1000, 100_000, (1 << 31) - 1):
        weights = np.ones((3, 3, 3, 2), np.float32)
        options: dict[str, Any] = {"padding": "SAME", "dilation_h": dilation, "dilation_w": dilation}
        yield f"dilation {dilation}", one_op("CONV_2D", _IMAGE, (1, 6, 6, 3), (weights,), **options)
    yield "one PAD to 128 MB", _pads(1, (127 << 20))
    yield "ten PADs to 64 MB", _pads(10, (6 << 20))
    yield "a chain of 300 PADs", _pads(300, 100_000)
    yield "a value of 63 MB", _pads(1, (63 << 20))
    yield "folded floats", _folded(20, 30 << 20)
    yield "folded floats, each within the limit", _folded(40, 1 << 20)
    yield "a window at every place", _global_pool(1100)
    yield "a window at every place of a small image", _global_pool(96)
    yield "windows over thirty large images", _windows(30, 512)
    yield "inputs of one name", _same_names(100)
    yield from _scales()


def files() -> list[tuple[str, bytes]]:
    """All of them, by name."""
    return [*option_files(), *greedy_files()]
