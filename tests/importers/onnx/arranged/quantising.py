"""Random graphs as quantised ones: QuantizeLinear and DequantizeLinear around most layers.

As exporters differ, so do graphs: int8 or uint8, inputs and outputs as integers or real numbers, one
DequantizeLinear for all readers or one for each, weights scaled per tensor or channel.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from tests.importers.onnx.arranged.graph import OPSET, Graph

_MOVES = frozenset(
    {
        "Transpose",
        "Reshape",
        "Flatten",
        "Squeeze",
        "Unsqueeze",
        "Identity",
        "Concat",
        "Split",
        "Slice",
        "Gather",
    }
    | {"Pad", "Expand", "DepthToSpace", "SpaceToDepth", "MaxPool", "ReduceMax", "ReduceMin", "Abs"}
)
"""Nodes whose results exporters give the meaning of what they read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Meaning:
    """Scale and zero point of a value."""

    scale: np.float32
    zero: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Quantised:
    """A quantised graph, what it is asked with, and the scale of a step of each of its outputs."""

    model: Any
    inputs: dict[str, np.ndarray]
    quanta: tuple[float | None, ...]
    """None for a real output that is not quantised."""


class _Rewriting:
    """State of one graph that is quantised. `values`: what its float32 form computes, by name."""

    def __init__(self, graph: Graph, values: Mapping[str, np.ndarray], seed: int) -> None:
        self._graph, self._values = graph, values
        self._rng = np.random.default_rng([40, seed])
        self._dtype: Any = np.int8 if self._chance(0.5) else np.uint8
        self._is_shared, self._is_per_channel = self._chance(0.5), self._chance(0.5)
        self._nodes: list[Any] = []
        self._constants: dict[str, np.ndarray] = {}
        self._meanings: dict[str, Meaning] = {}
        self._real: dict[str, str] = {}
        self._count = 0

    def _chance(self, share: float) -> bool:
        return bool(self._rng.random() < share)

    def _node(self, op: str, names: Sequence[str], result: str, **attributes: Any) -> str:
        self._nodes.append(helper.make_node(op, list(names), [result], **attributes))
        return result

    def _meaning(self, values: np.ndarray) -> Meaning:
        """A meaning that covers the values, or nearly."""
        low, high = min(0.0, float(values.min())), max(0.0, float(values.max()), 1e-3)
        scale = np.float32((high - low) / 255 * self._rng.uniform(0.9, 1.2))
        limits = np.iinfo(self._dtype)
        return Meaning(
            scale=scale, zero=int(np.clip(round(limits.min - low / scale), limits.min, limits.max))
        )

    def _state(self, name: str, scale: Any, zero: Any) -> list[str]:
        names = [f"{name}_s", f"{name}_z"]
        self._constants[names[0]], self._constants[names[1]] = np.asarray(scale, np.float32), np.asarray(zero)
        return names

    def _quantise(self, name: str, meaning: Meaning, *, is_integer: bool = False) -> None:
        """Let readers of the real value have its quantised one."""
        state = self._state(name, meaning.scale, np.array(meaning.zero, self._dtype))
        if not is_integer:
            self._node("QuantizeLinear", [name, *state], f"{name}_q")
        self._meanings[name] = meaning

    def _read(self, name: str) -> str:
        """The name by which a reader has the value as real numbers."""
        if name not in self._meanings:
            return name
        if name not in self._real or not self._is_shared:
            self._count += 1
            integers = [f"{name}_q", f"{name}_s", f"{name}_z"]
            self._real[name] = self._node("DequantizeLinear", integers, f"{name}_r{self._count}")
        return self._real[name]

    def _weights(self, name: str, axis: int) -> tuple[str, np.ndarray]:
        """Weights as int8, and their scales."""
        data = self._graph.constants[name]
        others = tuple(each for each in range(data.ndim) if each != axis)
        most = np.abs(data).max(axis=others) if self._is_per_channel else np.abs(data).max()
        scales = np.maximum(most, 1e-3).astype(np.float32) / np.float32(127)
        shape = [-1 if each == axis else 1 for each in range(data.ndim)] if scales.ndim else []
        self._constants[f"{name}_q"] = np.round(data / scales.reshape(shape)).astype(np.int8)
        state = self._state(name, scales, np.zeros(scales.shape, np.int8))
        self._count += 1
        real = self._node("DequantizeLinear", [f"{name}_q", *state], f"{name}_r{self._count}", axis=axis)
        return real, scales

    def _bias(self, name: str, scales: np.ndarray) -> str:
        data = self._graph.constants[name]
        self._constants[f"{name}_q"] = np.round(data / scales).astype(np.int32)
        state = self._state(name, scales, np.zeros(scales.shape, np.int32))
        return self._node("DequantizeLinear", [f"{name}_q", *state], f"{name}_r", axis=0)

    def _numbers(self, name: str) -> str:
        """A constant that is added or multiplied, quantised in most graphs."""
        data = self._graph.constants[name]
        self._constants[name] = data
        if self._chance(0.4) or name in self._meanings:
            return name
        meaning = self._meaning(data)
        limits = np.iinfo(self._dtype)
        integers = np.clip(np.round(data / meaning.scale) + meaning.zero, limits.min, limits.max)
        self._constants[f"{name}_q"] = integers.astype(self._dtype)
        self._quantise(name, meaning, is_integer=True)
        return self._read(name)

    def _inputs_of(self, node: Any) -> list[str]:
        names, scales = list[str](), np.array(0)
        for position, name in enumerate(node.input):
            stem = name[:1]
            if stem == "w":
                axis = 1 if node.op_type in ("MatMul", "ConvTranspose") else 0
                real, scales = self._weights(name, axis)
                names.append(real)
            elif stem == "b" and node.input[0] in self._meanings:
                names.append(self._bias(name, self._meanings[node.input[0]].scale * scales))
            elif stem == "k" and position < 2 and node.op_type in ("Add", "Sub", "Mul", "PRelu"):
                names.append(self._numbers(name))
            elif stem in ("x", "v"):
                names.append(self._read(name))
            else:
                names.append(name)
                if name:
                    self._constants[name] = self._graph.constants[name]
        return names

    def _translate(self, node: Any) -> None:
        copy = helper.make_node(node.op_type, self._inputs_of(node), list(node.output))
        copy.attribute.extend(node.attribute)
        self._nodes.append(copy)
        before = self._meanings.get(node.input[0])
        for name in node.output:
            if name not in self._values or self._chance(0.12):
                continue
            keeps = before is not None and node.op_type in _MOVES and self._chance(0.85)
            self._quantise(name, before if keeps and before else self._meaning(self._values[name]))

    def finish(self, inputs: Mapping[str, np.ndarray]) -> Quantised:
        """The quantised graph; `inputs`: of its float32 form."""
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(self._dtype))
        limits = np.iinfo(self._dtype)
        named: dict[str, np.ndarray] = {}
        stated: list[Any] = []
        for value in self._graph.inputs:
            data = inputs[value.name]
            meaning = self._meaning(data)
            is_integer = self._chance(0.5)
            if is_integer:
                integers = np.clip(np.round(data / meaning.scale) + meaning.zero, limits.min, limits.max)
                data = integers.astype(self._dtype)
            name = f"{value.name}_q" if is_integer else value.name
            named[name] = data
            stated.append(
                helper.make_tensor_value_info(name, kind if is_integer else TensorProto.FLOAT, value.shape)
            )
            self._quantise(value.name, meaning, is_integer=is_integer)
        for node in self._graph.nodes:
            self._translate(node)
        outputs, quanta = list[Any](), list[float | None]()
        shapes = {value.name: value.shape for value in self._graph.values}
        for name in self._graph.outputs:
            is_integer = name in self._meanings and self._chance(0.5)
            shown = f"{name}_q" if is_integer else self._read(name)
            if shown in [output.name for output in outputs]:
                continue
            output_kind = kind if is_integer else TensorProto.FLOAT
            outputs.append(helper.make_tensor_value_info(shown, output_kind, shapes[name]))
            meaning = self._meanings.get(name)
            quanta.append(1.0 if is_integer else float(meaning.scale) if meaning else None)
        graph = helper.make_graph(
            self._nodes,
            "g",
            stated,
            outputs,
            [numpy_helper.from_array(data, name) for name, data in self._constants.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
        return Quantised(model=model, inputs=named, quanta=tuple(quanta))


def quantised(
    graph: Graph, inputs: Mapping[str, np.ndarray], values: Mapping[str, np.ndarray], seed: int
) -> Quantised:
    """The graph with quantised layers, scaled for what its float32 form computes of these inputs."""
    return _Rewriting(graph, values, seed).finish(inputs)
