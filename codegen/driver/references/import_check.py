"""Compares the imported network with an engine step by step, each step from the engine's own arguments.

So a difference is of that step alone: it does not grow with those before, and the first wrong step is named.
Floats agree within 1e-4 of the step's largest. Integers are equal, except where rounding permits one quantum:
after floats that the engine does not show, in layers that the certificate names (`rounding.may_differ`),
and in at most one of a hundred elements of another ONNX layer, which onnxruntime sums in float32.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from codegen.driver.report.output_check import Comparison, compare
from codegen.importers import Imported
from codegen.ir import ConstRef, Let, Var
from codegen.ir.evaluate import evaluate_let

_BOUNDED = frozenset({"LOGISTIC", "LOG_SOFTMAX", "SOFTMAX", "TANH"})
_LAST_PLACE_OF_ONE = 2.0**-23
"""Results of functions up to 1 are no closer than that: far below, engines approximate them otherwise."""
_STEP_TOLERANCE = 1e-4
"""Tolerance of float32 steps, relative to the step's largest value: engines order long sums otherwise."""
_ROUNDED_SHARE = 0.01
"""Share of an ONNX layer's integers that may be one quantum off."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WrongStep:
    """A step that gives something else than the engine, from the same arguments."""

    where: str
    comparison: Comparison
    elements: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportCheck:
    """Result of the comparison of all steps."""

    values: int
    """Values that the engine has too."""
    engine: str = ""
    """The engine that showed its values."""
    wrong: tuple[WrongStep, ...] = ()
    unjudged: tuple[str, ...] = ()
    """Operators of steps for which another engine rules."""


class _Walk:
    """Values so far: the engine's where it has them."""

    def __init__(
        self,
        imported: Imported,
        tensors: Mapping[str, Sequence[np.ndarray]],
        unruled: Collection[str],
        loose: Collection[str],
    ) -> None:
        self._module = imported.module
        self._tensors, self._unruled, self._loose = tensors, unruled, loose
        self._by_variable = imported.by_variable(tensors)
        self._certified = imported.module.metadata.get("may_differ", "").splitlines()
        self._is_onnx = imported.module.metadata.get("format") == "onnx"
        self._values: dict[str, np.ndarray] = {}
        self._drifting: set[str] = set()
        """Variables that follow from floats which are ours, not the engine's."""
        self._unjudged: set[str] = set()
        """Variables that follow from steps for which another engine rules."""
        self.compared = 0
        self.wrong: list[WrongStep] = []
        self.unjudged: dict[str, None] = {}

    def take(self, name: str, data: np.ndarray) -> None:
        """Give a parameter its value."""
        self._values[name] = data

    def step(self, let: Let, known: np.ndarray | None) -> None:
        """Compute a step, compare with `known` or the engine's tensor, and go on from that."""
        name, read = let.var.name, {arg.name for arg in let.call.args if isinstance(arg, Var)}
        drifts, is_judged = bool(read & self._drifting), not read & self._unjudged
        operator = let.source.op_name if let.source else let.call.op.name
        if operator in self._unruled:
            self.unjudged[operator] = None
            is_judged = False
        data = evaluate_let(let, [None if arg is None else self._value(arg) for arg in let.call.args])
        engine_data = self._theirs(let) if known is None else known
        if engine_data is None:
            self._values[name] = data
            self._drifting.update({name} if drifts or data.dtype.kind == "f" else ())
            self._unjudged.update(() if is_judged else {name})
            return
        self._values[name] = engine_data
        if not is_judged:
            return
        self.compared += 1
        comparison = compare(data, engine_data, _STEP_TOLERANCE)
        if not comparison.matches and not self._is_rounding(let, comparison, data, drifts=drifts):
            self.wrong.append(WrongStep(where=let.where, comparison=comparison, elements=data.size))

    def _value(self, arg: Var | ConstRef) -> np.ndarray:
        return self._module.array(arg) if isinstance(arg, ConstRef) else self._values[arg.name]

    def _theirs(self, let: Let) -> np.ndarray | None:
        tensor = self._by_variable.get(let.var.name)
        if tensor is None:
            return None
        held = [tensor.held(data, let.var.type) for data in self._tensors[tensor.name]]
        fitting = [data for data in held if data is not None]
        return fitting[0] if len(fitting) == 1 else None

    def _is_rounding(self, let: Let, comparison: Comparison, data: np.ndarray, *, drifts: bool) -> bool:
        if data.dtype == np.float32:
            return let.call.op.name in _BOUNDED and comparison.max_abs_difference <= _LAST_PLACE_OF_ONE
        if data.dtype.kind not in "iu" or comparison.max_abs_difference > 1:
            return False
        if drifts or (let.source is not None and let.source.op_name in self._loose):
            return True
        if not self._is_onnx or let.var.type.quantization is None:
            return False
        is_certified = any(line.startswith(f"{let.where}: ") for line in self._certified)
        return is_certified or comparison.differing <= max(1, _ROUNDED_SHARE * data.size)


def compare_steps(
    imported: Imported,
    inputs: Sequence[np.ndarray],
    outputs: Sequence[np.ndarray | None],
    tensors: Mapping[str, Sequence[np.ndarray]],
    unruled: Collection[str] = (),
    loose: Collection[str] = (),
) -> ImportCheck:
    """Every step of the imported network against the engine's `tensors`, by their printable names.

    `outputs`: the engine's, by result of the function; `unruled`: operators that it cannot judge; `loose`:
    those whose integers it rounds otherwise by one quantum.
    """
    main = imported.module.main
    walk = _Walk(imported, tensors, unruled, loose)
    results = {
        result.name: data
        for result, data in zip(main.results, outputs, strict=True)
        if isinstance(result, Var) and data is not None
    }
    for param, data in zip(main.params, inputs, strict=True):
        walk.take(param.name, data)
    for let in main.body:
        walk.step(let, results.get(let.var.name))
    return ImportCheck(values=walk.compared, wrong=tuple(walk.wrong), unjudged=tuple(walk.unjudged))
