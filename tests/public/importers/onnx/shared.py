"""The shared ONNX models with each case of their golden outputs, as tests like the official ones.

The outputs are onnxruntime's, all optimisations off, or (`repo<k>`) those that the model's repository has.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.importers.onnx.official import NodeTest, bound, onnx
from tests.importers.onnx.official_models import LIGHT_LIMIT, asked, fix
from tests.public.testdata import golden, index, model_path

KEYS = sorted(
    key
    for key, row in index().items()
    if row["file"].endswith(".onnx") and row["golden"].endswith(".npz")  # one is too large to be stored
)


def cases(*keys: str) -> Iterator[NodeTest]:
    """A test a case; its `operator` is the model's key. What the file leaves open is as the case has it."""
    for key in keys or KEYS:
        arrays = golden(key)
        names = sorted({name.rsplit("_", 1)[0] for name in arrays if name.endswith("_y0")})
        for case in names:
            yield _case(key, case, arrays)


def _case(key: str, case: str, arrays: dict[str, np.ndarray]) -> NodeTest:
    model: Any = onnx.load_model(str(model_path(key)))
    values = asked(model)
    inputs = [arrays[f"{case}_x{number}"] for number in range(len(values))]
    for value, data in zip(values, inputs, strict=True):
        fix(value, data.shape)
    outputs = [arrays[f"{case}_y{number}"] for number in range(len(model.graph.output))]
    names = [each.name for each in values]
    test = NodeTest(
        name=f"{key} {case}",
        operator=key,
        model=model,
        inputs=dict(zip(names, inputs, strict=True)),
        outputs=tuple(outputs),
        relative=0.0,
        absolute=np.inf,  # 1e-5 of the largest number alone
        model_limit=LIGHT_LIMIT if key.startswith("onnx_light/") else None,
    )
    empty = [name for name, data in test.inputs.items() if not data.size and data.dtype == np.int64]
    return bound(test, empty)  # a list of no axes has no elements that an application could give
