"""More of the kinds that `catalogue` draws few of: 25 an operator and type, by the same draws."""

from collections.abc import Callable, Mapping
from functools import partial

from tests.opgen import elementwise, int16, pooling
from tests.opgen.dice import Dice
from tests.opgen.families import conversions
from tests.opgen.sketch import Drawn

_DRAWS: Mapping[str, Callable[..., Drawn]] = {
    "AVERAGE_POOL_2D": pooling.average_pool,
    "MAX_POOL_2D": pooling.max_pool,
    "MEAN": pooling.mean,
    "ADD": elementwise.add,
    "SUB": elementwise.sub,
    "MUL": elementwise.mul,
    "RELU": elementwise.relu,
    "RELU6": elementwise.relu6,
    "LEAKY_RELU": elementwise.leaky_relu,
    "LOGISTIC": elementwise.logistic,
    "TANH": elementwise.tanh,
    "SOFTMAX": elementwise.softmax,
}
_ENDS = ("RELU", "RELU6", "LEAKY_RELU", "LOGISTIC", "TANH", "SOFTMAX")
_INT16 = ("AVERAGE_POOL_2D", "MAX_POOL_2D", "MEAN", "MUL", "RELU", "RELU6", "LEAKY_RELU")
_CURVES = ("LOGISTIC", "TANH")

DRAWN: Mapping[str, Mapping[str, Callable[[Dice], Drawn]]] = {
    name: {
        "float32 more": partial(draw, quantised=False),
        **({"int8 more": partial(draw, quantised=True)} if name in _ENDS else {}),
        **({"int16 more": int16.INT16[name][0][1]} if name in _INT16 else {}),
        **({"int16": partial(int16.curve, name=name)} if name in _CURVES else {}),
    }
    for name, draw in _DRAWS.items()
} | {
    "SOFTMAX int16": {"int16": partial(int16.curve, name="SOFTMAX")},
    "SOFTMAX int8 to int16": {"int8": elementwise.wide_softmax},
}
"""By operator and type."""
LABELS = frozenset(
    label
    for by_label in (*DRAWN.values(), *conversions.DRAWN.values())
    for label in by_label
    if "more" in label
)
