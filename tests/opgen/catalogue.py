"""Which models there are: so many of each kind, in a fixed order, each from dice of its own."""

import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from types import MappingProxyType
from typing import Protocol

from tests.opgen import convolutions, elementwise, pooling, shapes
from tests.opgen.dice import Dice
from tests.opgen.families import EACH, FAMILIES, control, more, moved, unsigned
from tests.opgen.int16 import INT16
from tests.opgen.pairs import PAIRS
from tests.opgen.sketch import Drawn


class _Draw(Protocol):
    def __call__(self, dice: Dice, quantised: bool) -> Drawn: ...


_INT8: Mapping[str, tuple[_Draw, int]] = MappingProxyType(
    {
        "CONV_2D": (convolutions.conv, 100),
        "CONV_2D without bias": (partial(convolutions.conv, bias=False), 12),
        "DEPTHWISE_CONV_2D": (convolutions.depthwise, 90),
        "FULLY_CONNECTED": (convolutions.fully_connected, 40),
        "FULLY_CONNECTED per channel": (partial(convolutions.fully_connected, per_channel=True), 15),
        "AVERAGE_POOL_2D": (pooling.average_pool, 35),
        "MAX_POOL_2D": (pooling.max_pool, 25),
        "MEAN": (pooling.mean, 40),
        "ADD": (elementwise.add, 40),
        "SUB": (elementwise.sub, 25),
        "MUL": (elementwise.mul, 35),
        "CONCATENATION": (shapes.concatenation, 25),
        "PAD": (shapes.pad, 25),
        "RESHAPE": (shapes.reshape, 15),
        "TRANSPOSE": (shapes.transpose, 20),
        "STRIDED_SLICE": (shapes.strided_slice, 40),
        "SOFTMAX": (elementwise.softmax, 20),
        "LOGISTIC": (elementwise.logistic, 15),
        "TANH": (elementwise.tanh, 15),
        "RELU": (elementwise.relu, 12),
        "RELU6": (elementwise.relu6, 12),
        "LEAKY_RELU": (elementwise.leaky_relu, 20),
        "QUANTIZE": (elementwise.quantize, 15),
    }
)
"""By operator under test: how to draw one, and how many int8 ones there are."""

_FLOAT32: Mapping[str, int] = MappingProxyType(
    {name: 15 if name == "QUANTIZE" else 3 for name in _INT8 if name != "FULLY_CONNECTED per channel"}
)
"""How many float32 ones there are; a QUANTIZE of float32 gives int8."""

_DEQUANTIZES = 10
_PAIRS_EACH = 5
_ON_TARGETS = 1
"""Of each operator and type of the families, whose kernels the fuzz runs on every core."""
_UNSIGNED_ON_TARGETS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "QUANTIZE")
"""Others of uint8 are what those of int8 are."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One model of the catalogue."""

    name: str
    operator: str
    """What is under test, a key of the table of ruling engines; of pairs all operators, joined by `+`."""
    draw: Callable[[], Drawn]
    """Draws it when it is first asked for: there are thousands, and most who ask want a few."""
    kind: str
    """What it has in common with models of the same operator and type."""
    on_targets: bool
    """Whether the suite runs it on boards; others only with `--long`."""

    @property
    def drawn(self) -> Drawn:
        """The model and its inputs, always the same ones."""
        return self.draw()


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """Models of one operator and type."""

    operator: str
    label: str
    draw: Callable[[Dice], Drawn]
    count: int
    on_targets: int
    """So many of them, the first ones."""

    @property
    def stem(self) -> str:
        """What the names of its models begin with."""
        return re.sub(r"\W+", "_", f"{self.operator} {self.label}".strip().lower())

    def drawn(self, number: int) -> Drawn:
        """One of its models."""
        return self.draw(Dice(zlib.crc32(self.stem.encode()), number))

    def entries(self) -> Iterator[Entry]:
        """All of its models."""
        for number in range(self.count):
            yield Entry(
                name=f"{self.stem}_{number:03}",
                operator=self.operator,
                draw=cache(partial(self.drawn, number)),
                kind=self.stem,
                on_targets=number < self.on_targets,
            )


def kinds() -> Iterator[Kind]:
    """All kinds of models."""
    for operator, label, draw, count in _singles():
        yield Kind(operator=operator, label=label, draw=draw, count=count, on_targets=count)
    for operator, by_label in FAMILIES.items():
        for label, draw in by_label.items():
            is_known = label in moved.LABELS | more.LABELS | control.LABELS or (
                label == unsigned.LABEL and operator not in _UNSIGNED_ON_TARGETS
            )
            count = 0 if is_known else _ON_TARGETS
            yield Kind(operator=operator, label=label, draw=draw, count=EACH, on_targets=count)


def _singles() -> Iterator[tuple[str, str, Callable[[Dice], Drawn], int]]:
    for operator, (draw, count) in _INT8.items():
        yield operator, "int8", partial(draw, quantised=True), count
    for operator, count in _FLOAT32.items():
        yield operator, "float32", partial(_INT8[operator][0], quantised=False), count
    yield "DEQUANTIZE", "int8", elementwise.dequantize, _DEQUANTIZES
    for operator, kinds in INT16.items():
        for label, draw, count in kinds:
            yield operator, label, draw, count
    for operators, pair in PAIRS.items():
        yield operators, "int8", pair, _PAIRS_EACH
    yield unsigned.NETWORK, "uint8", unsigned.network, _PAIRS_EACH


@cache
def entries() -> tuple[Entry, ...]:
    """All models, always the same ones."""
    return tuple(entry for kind in kinds() for entry in kind.entries())
