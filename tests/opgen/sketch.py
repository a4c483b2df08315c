"""A model under construction: the writer plus the inputs of its two cases."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.importers.tflite.writing.writer import ModelBuilder
from tests.opgen.dice import Dice

if TYPE_CHECKING:
    from tests.opgen.standing import Instead, StandIn

Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Affine:
    """Per-tensor quantisation of an int8 tensor, or one of `dtype`."""

    scale: float
    zero_point: int
    dtype: str = "int8"


@dataclass(frozen=True, kw_only=True, slots=True)
class Plain:
    """An element type without quantisation, and what an input of it is drawn from."""

    dtype: str
    low: int
    high: int


Kind = Affine | Plain | None
"""Type of a tensor's elements; None: float32."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Value:
    """A tensor of the model; without quantisation where `affine` is None."""

    index: int
    shape: tuple[int, ...]
    affine: Affine | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawn:
    """A finished model: its file and, for each case, its inputs."""

    model: bytes
    inputs: tuple[Arrays, ...]
    stand_in: "StandIn | Instead | None" = None
    """Of what else the engine is asked, where it does not have this type."""


class Sketch:
    """Builds one model. Inputs are drawn twice: over the whole range, and from the extremes only."""

    def __init__(self, dice: Dice, *, weights: str = "") -> None:
        """`weights`: the element type that weights have in the file; empty: that of the model."""
        self.dice = dice
        self.weights = weights
        self.model = ModelBuilder()
        self._inputs: list[int] = []
        self._random: list[np.ndarray] = []
        self._extreme: list[np.ndarray] = []

    @property
    def name(self) -> str:
        """Name of the next tensor."""
        return f"t{self.model.tensors}"

    def affine(self, low_exponent: int = -8, high_exponent: int = -3) -> Affine:
        """A random quantisation."""
        return Affine(scale=self.dice.float32(low_exponent, high_exponent), zero_point=self.dice.zero_point())

    def near(self, affine: Affine) -> Affine:
        """Another quantisation whose scale is a quarter to twice as large."""
        scale = float(np.float32(affine.scale * self.dice.float32(-2, 0)))
        return Affine(scale=scale, zero_point=self.dice.zero_point())

    def tensor(self, shape: Sequence[int], affine: Kind, *, data: np.ndarray | None = None) -> Value:
        """A quantised tensor, or one without quantisation; with `data` a constant."""
        if not isinstance(affine, Affine):
            dtype = "float32" if affine is None else affine.dtype
            index = self.model.tensor(self.name, shape, dtype, data=data)
        else:
            scale, zero_point = affine.scale, affine.zero_point
            index = self.model.tensor(
                self.name, shape, affine.dtype, scale=scale, zero_point=zero_point, data=data
            )
        return Value(index=index, shape=tuple(shape), affine=affine if isinstance(affine, Affine) else None)

    def half_floats(self, data: np.ndarray) -> Value:
        """A float32 tensor that a DEQUANTIZE makes of a constant of float16."""
        half = self.model.tensor(self.name, data.shape, "float16", data=data.astype(np.float16))
        return self.op("DEQUANTIZE", [half], self.tensor(data.shape, None))

    def op(self, name: str, inputs: Sequence[Value | int | None], result: Value, **options: Any) -> Value:
        """Append an operator and return its result."""
        indices = [value.index if isinstance(value, Value) else value for value in inputs]
        self.model.op(name, indices, [result.index], **options)
        return result

    def input(self, shape: Sequence[int], affine: Kind, *, sixteenths: int | None = None) -> Value:
        """A graph input. `sixteenths` draws floats as multiples of 1/16 within +-that many."""
        dice = self.dice
        if isinstance(affine, Plain):
            drawn = self.values(shape, affine)
            middle = (affine.low + affine.high) // 2
            ends = np.array([affine.low, affine.high, middle], affine.dtype)
        elif affine is not None:
            drawn = dice.integers_of(shape, affine.dtype)
            low, high = np.iinfo(affine.dtype).min, np.iinfo(affine.dtype).max
            ends = np.array([low, high, affine.zero_point, low, high], affine.dtype)
        elif sixteenths is not None:
            drawn = dice.sixteenths(shape, -sixteenths, sixteenths)
            ends = np.array([-sixteenths, sixteenths, 0, 1e4, -1e4], np.float32)
        else:
            drawn = dice.reals(shape)
            ends = np.array([-8, 8, 0, 2.0**-20, -1], np.float32)
        self._random.append(drawn)
        self._extreme.append(ends[dice.int8(shape, 0, len(ends) - 1)])
        value = self.tensor(shape, affine)
        self._inputs.append(value.index)
        return value

    def constant(self, values: Sequence[int], shape: Sequence[int] | None = None) -> int:
        """An int32 constant such as axes, paddings or a shape."""
        array = np.array(values, np.int32)
        return self.model.constant(self.name, array if shape is None else array.reshape(shape))

    def values(self, shape: Sequence[int], affine: Kind) -> np.ndarray:
        """Random elements for a constant operand."""
        if isinstance(affine, Plain):
            return self.dice.within(shape, affine.low, affine.high).astype(affine.dtype)
        return self.dice.reals(shape) if affine is None else self.dice.integers_of(shape, affine.dtype)

    def finish(self, *outputs: Value) -> Drawn:
        """The finished model with these graph outputs."""
        self.model.inputs(*self._inputs)
        self.model.outputs(*(value.index for value in outputs))
        return Drawn(model=self.model.build(), inputs=(tuple(self._random), tuple(self._extreme)))
