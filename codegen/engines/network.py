"""Which engine rules for the operators of a TFLite file, by the table of `ruling`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tflite.BuiltinOperator import BuiltinOperator
from tflite.Model import Model
from tflite.TensorType import TensorType

from codegen.engines.names import AI_EDGE_LITERT, TFLITE_MICRO, TFLITE_RUNTIME
from codegen.engines.ruling import NPU_RULES, RULING_ENGINE, STATEFUL_RULES

_RULES: Mapping[str, str] = {**RULING_ENGINE, **STATEFUL_RULES, **NPU_RULES}
_NAMES = {code: name for name, code in vars(BuiltinOperator).items() if isinstance(code, int)}
_TYPES = {code: name.lower() for name, code in vars(TensorType).items() if isinstance(code, int)}
_BIAS: Mapping[str, int] = {"CONV_2D": 2, "FULLY_CONNECTED": 2, "TRANSPOSE_CONV": 3}
"""Operator -> the place of its bias, where one without has a rule of its own."""

_DATA_INPUT: Mapping[str, int] = {"TRANSPOSE_CONV": 2, "SPLIT": 1}
"""Operator -> the input whose type tells its kernel; 0 for all others."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ruling:
    """The engine that rules for each operator of one network."""

    engines: Mapping[str, str]
    """Key of the table -> engine, of the network's operators; of one that the table does not have, none."""

    @property
    def preferred(self) -> tuple[str, ...]:
        """Engines to ask, in this order: tflite-micro first where it rules for an operator, for it agrees
        with tflite-runtime on nearly all others."""
        if TFLITE_MICRO in self.engines.values():
            return TFLITE_MICRO, TFLITE_RUNTIME, AI_EDGE_LITERT
        return TFLITE_RUNTIME, AI_EDGE_LITERT, TFLITE_MICRO

    def others(self, engine: str) -> Mapping[str, str]:
        """Operators for which `engine` does not rule -> the engine that does."""
        return {key: name for key, name in self.engines.items() if not _is_ruled(name, engine)}


ROUNDED_OTHERWISE: Mapping[str, tuple[str, ...]] = {AI_EDGE_LITERT: ("FULLY_CONNECTED",)}
"""Engine -> operators whose integers it rounds otherwise than the ruling engine, by one quantum."""


def _is_ruled(ruling: str, engine: str) -> bool:
    """True if `engine` is the ruling one; ai-edge-litert is the newer tflite-runtime."""
    return ruling == (TFLITE_RUNTIME if engine == AI_EDGE_LITERT else engine)


def ruling_of(model: bytes) -> Ruling:
    """The ruling engines of a file that can be imported."""
    engines: dict[str, str] = {}
    for keys in _operators(Model.GetRootAs(model, 0)):
        key = next((key for key in keys if key in _RULES), None)
        if key is not None:
            engines[key] = _RULES[key]
    return Ruling(engines=engines)


def _operators(model: Any) -> Iterator[list[str]]:
    """Keys that each operator of the file may have in the table, the most special first."""
    for number in range(model.SubgraphsLength()):
        graph = model.Subgraphs(number)
        for index in range(graph.OperatorsLength()):
            operator = graph.Operators(index)
            code = model.OperatorCodes(operator.OpcodeIndex())
            builtin = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
            name = _NAMES.get(builtin, "")
            if name == "CUSTOM":
                name = (code.CustomCode() or b"").decode("utf-8", errors="replace")
            yield _keys(name, operator, graph)


def _keys(name: str, operator: Any, graph: Any) -> list[str]:
    place = _DATA_INPUT.get(name, 0)
    source = _type(graph, operator.Inputs(place)) if operator.InputsLength() > place else ""
    result = _type(graph, operator.Outputs(0)) if operator.OutputsLength() else ""
    bias = _BIAS.get(name)
    is_bare = bias is not None and (operator.InputsLength() <= bias or operator.Inputs(bias) < 0)
    per_channel = name == "FULLY_CONNECTED" and _is_per_channel(graph, operator)
    return [
        *([f"{name} {source} without bias", f"{name} without bias"] if is_bare else []),
        *([f"{name} per channel"] if per_channel else []),
        f"{name} {source} to {result}",
        f"{name} {source}",
        name,
    ]


def _type(graph: Any, index: int) -> str:
    return "" if index < 0 else _TYPES.get(graph.Tensors(index).Type(), "")


def _is_per_channel(graph: Any, operator: Any) -> bool:
    index = operator.Inputs(1) if operator.InputsLength() > 1 else -1
    quantization = None if index < 0 else graph.Tensors(index).Quantization()
    return quantization is not None and quantization.ScaleLength() > 1
