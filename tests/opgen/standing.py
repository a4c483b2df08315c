"""Types that no engine has for an operator: it is asked for the same model on another type.

An operator that moves elements moves each of their bytes: int16 is asked for as int8, once for all low bytes
and once for all high ones; uint32 as int32. A comparison of int16 is one of int32. Constants of the type must
be of the other type's size.

Where no other type stands in for it either, the engine is asked for other operators that give the same.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, cast

import numpy as np
from tflite.Model import Model
from tflite.TensorType import TensorType

from tests.engines import Request
from tests.opgen.dice import Dice
from tests.opgen.sketch import Arrays, Drawn

_TYPE_FIELD = 4 + 2 * 1


@dataclass(frozen=True, kw_only=True, slots=True)
class StandIn:
    """The type that a model has, and the one that the engine is asked for."""

    own: str
    other: str

    @property
    def parts(self) -> int:
        """Models of the engine for one case."""
        return max(1, np.dtype(self.own).itemsize // np.dtype(self.other).itemsize)

    def model(self, model: bytes) -> bytes:
        """The file with the other type."""
        data = bytearray(model)
        graph: Any = cast(Any, Model.GetRootAs(model, 0)).Subgraphs(0)
        for index in range(graph.TensorsLength()):
            tensor = graph.Tensors(index)
            if tensor.Type() == getattr(TensorType, self.own.upper()):
                place = tensor._tab.Pos + tensor._tab.Offset(_TYPE_FIELD)
                data[place] = getattr(TensorType, self.other.upper())
        return bytes(data)

    def inputs(self, cases: Sequence[Arrays]) -> tuple[Arrays, ...]:
        """What the engine gets, `parts` for each case."""
        return tuple(tuple(self._part(x, part) for x in case) for case in cases for part in range(self.parts))

    def outputs(self, cases: Sequence[Arrays]) -> tuple[Arrays, ...]:
        """The engine's results in the type of the model."""
        groups = [cases[at : at + self.parts] for at in range(0, len(cases), self.parts)]
        return tuple(tuple(self._joined(each) for each in zip(*group, strict=True)) for group in groups)

    def _part(self, x: np.ndarray, part: int) -> np.ndarray:
        if x.dtype != np.dtype(self.own):
            return x
        if np.dtype(self.other).itemsize > x.itemsize:
            return x.astype(self.other)
        stored = np.ascontiguousarray(x).reshape(-1).view(self.other)
        return stored[part :: self.parts].reshape(x.shape)

    def _joined(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        first = parts[0]
        if first.dtype != np.dtype(self.other):
            return first
        if first.itemsize > np.dtype(self.own).itemsize:
            return first.astype(self.own)
        stored = np.stack(parts, -1).reshape(-1).view(self.own)
        return stored.reshape(first.shape)


@dataclass(frozen=True, kw_only=True, slots=True)
class Instead:
    """Another model of the same inputs and results."""

    file: bytes

    def model(self, model: bytes) -> bytes:
        """The file that the engine is asked for."""
        del model
        return self.file

    def inputs(self, cases: Sequence[Arrays]) -> tuple[Arrays, ...]:
        """What the engine gets."""
        return tuple(cases)

    def outputs(self, cases: Sequence[Arrays]) -> tuple[Arrays, ...]:
        """The engine's results."""
        return tuple(cases)


class _DrawEither(Protocol):
    def __call__(self, dice: Dice, *, asked: bool) -> Drawn: ...


def instead(draw: _DrawEither) -> Callable[[Dice], Drawn]:
    """What `draw` draws, with the engine asked for what it draws of the same dice with `asked`."""
    return partial(_either, draw=draw)


def _either(dice: Dice, draw: _DrawEither) -> Drawn:
    other = draw(deepcopy(dice), asked=True)
    return replace(draw(dice, asked=False), stand_in=Instead(file=other.model))


def standing(draw: Callable[[Dice], Drawn], own: str, other: str) -> Callable[[Dice], Drawn]:
    """`draw` with the engine asked for `other` in place of `own`."""
    return partial(_stands, draw=draw, own=own, other=other)


def _stands(dice: Dice, draw: Callable[[Dice], Drawn], own: str, other: str) -> Drawn:
    return replace(draw(dice), stand_in=StandIn(own=own, other=other))


def asked(drawn: Drawn, engine: str) -> Request:
    """What to ask the engine for a model."""
    if drawn.stand_in is None:
        return Request(engine=engine, model=drawn.model, inputs=drawn.inputs)
    model, inputs = drawn.stand_in.model(drawn.model), drawn.stand_in.inputs(drawn.inputs)
    return Request(engine=engine, model=model, inputs=inputs)


def answered(drawn: Drawn, outputs: tuple[Arrays, ...]) -> tuple[Arrays, ...]:
    """The engine's outputs as those of the model."""
    return outputs if drawn.stand_in is None else drawn.stand_in.outputs(outputs)
