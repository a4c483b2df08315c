"""The official model tests of the installed `onnx` package: of PyTorch's operators, converted from PyTorch,
simple ones, and large networks without their weights (`light`)."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tests.importers.onnx.official import NodeTest, onnx

KINDS = ("pytorch-operator", "pytorch-converted", "simple", "light")
LIGHT_LIMIT = 600 << 20
"""Bytes for light ones: vgg19 makes 575 MB of weights, densenet121 has 327 MiB of values."""
_RELATIVE, _ABSOLUTE = 1e-3, 1e-7
"""What the package's runner permits."""


def models(*kinds: str) -> Iterator[NodeTest]:
    """Tests of these kinds, of all without any; their `operator` is the kind."""
    for kind in kinds or KINDS:
        folder = Path(onnx.__file__).parent / "backend" / "test" / "data" / kind
        for path in sorted(folder.glob("*.onnx" if kind == "light" else "*/model.onnx")):
            yield _light(path) if kind == "light" else _stored(path, kind)


def _stored(path: Path, kind: str) -> NodeTest:
    data = path.parent / "test_data_set_0"
    inputs, outputs = (_arrays(data, what) for what in ("input", "output"))
    return _test(path.parent.name, kind, onnx.load_model(str(path)), inputs, outputs)


def _light(path: Path) -> NodeTest:
    """Its inputs count up, as the package's runner has it."""
    model = onnx.load_model(str(path))
    inputs: list[Any] = []
    for value in asked(model):
        shape = [each.dim_value or 1 for each in value.type.tensor_type.shape.dim]
        count = int(np.prod(shape))
        inputs.append((np.arange(count).reshape(shape) / count).astype(np.float32))
    outputs = [_array(each) for each in sorted(path.parent.glob(f"{path.stem}_output_*.pb"))]
    return replace(_test(path.stem, "light", model, inputs, outputs), model_limit=LIGHT_LIMIT)


def asked(model: Any) -> list[Any]:
    """Graph inputs that are no constants."""
    constants = {each.name for each in model.graph.initializer}
    return [each for each in model.graph.input if each.name not in constants]


def _test(name: str, kind: str, model: Any, inputs: list[Any], outputs: list[Any]) -> NodeTest:
    values = asked(model)
    names = [each.name for each in values]
    for value, data in zip(values, inputs, strict=True):
        fix(value, np.shape(data))
    return NodeTest(
        name=name,
        operator=kind,
        model=model,
        inputs=dict(zip(names, inputs, strict=True)),
        outputs=tuple(outputs),
        relative=_RELATIVE,
        absolute=_ABSOLUTE,
    )


def fix(value: Any, shape: tuple[int, ...]) -> None:
    """Extents that the file leaves open are those of the test, as `--dim` says them."""
    for declared, extent in zip(value.type.tensor_type.shape.dim, shape, strict=False):
        if not declared.dim_value:
            declared.dim_value = extent


def _arrays(folder: Path, what: str) -> list[Any]:
    return [
        _array(folder / f"{what}_{number}.pb") for number in range(len(list(folder.glob(f"{what}_*.pb"))))
    ]


def _array(path: Path) -> Any:
    """A tensor; a sequence or an optional value as it is."""
    try:
        tensor = onnx.TensorProto.FromString(path.read_bytes())
        return onnx.numpy_helper.to_array(tensor)
    except Exception:  # the package says in no other way that it is no tensor
        return path.read_bytes()
