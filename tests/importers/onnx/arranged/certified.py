"""Layers that the certificate names (`rounding.may_differ`) may be one step away, those behind them not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx

from codegen import engines
from codegen.importers import Imported
from codegen.ir import ConstRef, Let, Module
from codegen.ir.evaluate import evaluate_let
from tests.importers.onnx.engine import answers


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Judged:
    """Outputs that follow from onnxruntime's results of certified layers."""

    outputs: list[np.ndarray]
    single_steps: int
    """Elements of certified layers that are one step away from onnxruntime's."""


def is_certified(module: Module) -> bool:
    """Whether the certificate names a layer."""
    return "may_differ" in module.metadata


def judged(imported: Imported, model: Any, inputs: dict[str, np.ndarray], order: Sequence[str]) -> Judged:
    """Go on from onnxruntime's results of certified layers, where ours are at most one step away.

    A certified layer that is farther off keeps its own result, so that outputs tell. `order`: of `inputs`.
    """
    asked = onnx.ModelProto.FromString(engines.with_all_values(model.SerializeToString()))
    [arrays] = answers([(asked, inputs)])
    known = {output.name: data for output, data in zip(asked.graph.output, arrays, strict=True)}
    module, tensors, single_steps = imported.module, imported.by_variable(known), 0
    main, lines = module.main, module.metadata["may_differ"].splitlines()
    values = {param.name: inputs[name] for param, name in zip(main.params, order, strict=True)}

    def value(arg: Any) -> Any:
        return module.array(arg) if isinstance(arg, ConstRef) else values[arg.name]

    def of_engine(let: Let) -> np.ndarray | None:
        if let.var.name not in tensors or not any(line.startswith(f"{let.where}: ") for line in lines):
            return None
        return tensors[let.var.name].held(known[tensors[let.var.name].name], let.var.type)

    for let in main.body:
        data = evaluate_let(let, [None if arg is None else value(arg) for arg in let.call.args])
        right = of_engine(let)
        if right is not None:
            apart = np.abs(data.astype(np.int64) - right)
            if apart.max(initial=0) <= 1:
                data, single_steps = right, single_steps + int(np.count_nonzero(apart))
        values[let.var.name] = data
    outputs = [value(result) for result in main.results]
    return Judged(outputs=outputs, single_steps=single_steps)
