"""Models of one node with random inputs, attributes and constants, and how far they are from onnxruntime."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from codegen.ir.evaluate import evaluate
from tests.importers.onnx.engine import answers
from tests.importers.onnx.models import imported


@dataclass(kw_only=True)
class Drawn:
    """A node under construction: `x` is the model's input, other values are constants."""

    rng: np.random.Generator
    names: list[str] = field(default_factory=lambda: ["x"])
    constants: dict[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    outputs: list[str] = field(default_factory=lambda: ["y"])
    kinds: dict[str, int] = field(default_factory=dict[str, int])
    """Element types of outputs that are no float32."""
    image: tuple[int, ...] = ()
    inputs: dict[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    """Those beside `x`, or `x` itself where it is no float32."""

    def shape(self, rank: int) -> tuple[int, ...]:
        return tuple(int(extent) for extent in self.rng.integers(1, 7, rank))

    def maybe(self) -> bool:
        return bool(self.rng.integers(0, 2))

    def add(self, shape: tuple[int, ...], *, is_given: bool = True) -> None:
        name = f"c{len(self.names)}" if is_given else ""
        self.names.append(name)
        if is_given:
            self.constants[name] = self.rng.standard_normal(shape).astype(np.float32)

    def give(self, data: np.ndarray | None, *, is_input: bool = False) -> None:
        """Another input of the node; None leaves it out."""
        if data is None:
            self.names.append("")
            return
        name = f"c{len(self.names)}"
        self.names.append(name)
        (self.inputs if is_input else self.constants)[name] = data

    def normal(self, *shape: int) -> np.ndarray:
        return self.rng.standard_normal(shape).astype(np.float32)

    def may_say(self, name: str, *values: Any) -> None:
        if self.maybe():
            self.attributes[name] = values[int(self.rng.integers(0, len(values)))]


def question(
    name: str, draw: Callable[[Drawn], None], seed: int, opset: int = 13
) -> tuple[Any, dict[str, np.ndarray]]:
    """A model of one node of type `name`, and its inputs."""
    drawn = Drawn(rng=np.random.default_rng(seed))
    draw(drawn)
    if "x" in drawn.names:
        drawn.inputs = {"x": drawn.normal(*drawn.image), **drawn.inputs}
    domain, _, op = name.rpartition(".")
    kinds = {key: helper.np_dtype_to_tensor_dtype(data.dtype) for key, data in drawn.inputs.items()}
    graph = helper.make_graph(
        [helper.make_node(op, drawn.names, drawn.outputs, domain=domain, **drawn.attributes)],
        "g",
        [
            helper.make_tensor_value_info(key, kinds[key], list(data.shape))
            for key, data in drawn.inputs.items()
        ],
        [
            helper.make_tensor_value_info(key, drawn.kinds.get(key, TensorProto.FLOAT), None)
            for key in drawn.outputs
            if key
        ],
        [numpy_helper.from_array(data, key) for key, data in drawn.constants.items()],
    )
    sets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    made = helper.make_model(graph, opset_imports=sets, ir_version=10)
    return made, drawn.inputs


def differences(
    name: str, draw: Callable[[Drawn], None], seeds: range, folder: Path, opset: int = 13
) -> list[int]:
    """Seeds whose outputs are not onnxruntime's within 1e-5 of the largest, or of the largest argument."""
    questions = [question(name, draw, seed, opset) for seed in seeds]
    wrong: list[int] = []
    for seed, (made, inputs), expected in zip(seeds, questions, answers(questions), strict=True):
        module = imported(folder, made)
        computed = evaluate(module, module.main, list(inputs.values()))
        for result, right in zip(computed, expected, strict=True):
            scale = max(float(np.abs(right).max(initial=0.0)), 1.0)
            if result.shape != right.shape or np.abs(result - right).max(initial=0.0) > 1e-5 * scale:
                wrong.append(seed)
    return wrong
