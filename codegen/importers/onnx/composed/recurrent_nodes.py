"""Recurrent nodes as a file states them: weights, activations and lengths, by direction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx.arithmetic import each_element
from codegen.importers.onnx.composed.element_functions import Real
from codegen.importers.onnx.layouts import Value
from codegen.importers.onnx.node_site import Site
from codegen.importers.reporting import Refused
from codegen.ir.ops import LeakyReluAttrs

Function = Callable[[Real], Real]

_DEFAULTS: Mapping[str, tuple[float, float]] = MappingProxyType(
    {"affine": (1.0, 0.0), "elu": (1.0, 0.0), "hardsigmoid": (0.2, 0.5), "leakyrelu": (0.01, 0.0)}
    | {"scaledtanh": (1.0, 1.0)}
)
"""Alpha and beta of an activation for which the file states none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """An activation: its name in the file, and its numbers, where they are stated."""

    name: str
    alpha: float | None
    beta: float | None

    def number(self, which: int) -> float:
        """Alpha (0) or beta (1): the one of the file, else ONNX's."""
        stated = (self.alpha, self.beta)[which]
        return _DEFAULTS.get(self.name.lower(), (0.0, 0.0))[which] if stated is None else stated


@dataclass(frozen=True, kw_only=True, slots=True)
class Direction:
    """One direction: weights by gate (`units` rows each), biases of the input's and of the hidden part."""

    units: int
    weights: np.ndarray
    recurrent: np.ndarray
    bias: np.ndarray
    recurrent_bias: np.ndarray
    peepholes: np.ndarray | None
    functions: tuple[Function, ...]
    named: tuple[Named, ...]
    """The functions, each with its name."""
    clip: float
    lengths: np.ndarray | None
    """Moments of each sequence of the batch, where they are not all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CellKind:
    """A kind of recurrent cell: gates of its weights, its usual functions, whether there is a cell state."""

    gates: int
    functions: tuple[str, ...]
    op: str = ""
    """The operator of a layer without a cell state."""

    @property
    def has_cell(self) -> bool:
        """True for an LSTM."""
        return not self.op


def _function(site: Site, name: str, alpha: float | None, beta: float | None) -> Function:
    """An activation by its name, any case, with its numbers or their defaults."""

    def or_else(number: float | None, usual: float) -> float:
        return usual if number is None else number

    def leaky(x: Real) -> Real:
        return Real(
            site, each_element(site, "LEAKY_RELU", x.value, LeakyReluAttrs(alpha=or_else(alpha, 0.01)))
        )

    known: Mapping[str, Function] = {
        "affine": lambda x: x * or_else(alpha, 1.0) + or_else(beta, 0.0),
        "elu": lambda x: x.at_least(0.0) + x.at_most(0.0).of("ELU") * or_else(alpha, 1.0),
        "hardsigmoid": lambda x: (x * or_else(alpha, 0.2) + or_else(beta, 0.5)).at_least(0.0).at_most(1.0),
        "leakyrelu": leaky,
        "relu": lambda x: x.of("RELU"),
        "scaledtanh": lambda x: (x * or_else(beta, 1.0)).of("TANH") * or_else(alpha, 1.0),
        "sigmoid": lambda x: x.of("LOGISTIC"),
        "softsign": lambda x: x / (x.of("ABS") + 1.0),
        "tanh": lambda x: x.of("TANH"),
    }
    function = known.get(name.lower())
    if function is None:
        raise Refused("E301", f"activation {name} is not supported, supported are {', '.join(known)}")
    return function


def _functions(site: Site, kind: CellKind, directions: int) -> tuple[list[tuple[Named, ...]], bool]:
    """Activations by direction, and whether they are the usual ones."""
    names = site.words("activations", kind.functions * directions)
    if len(names) != len(kind.functions) * directions:
        raise Refused("E303", f"has {len(names)} activations for {directions} directions")
    numbers: list[Sequence[float]] = [
        site.array(name).reshape(-1).tolist() if site.has_attribute(name) else []
        for name in ("activation_alpha", "activation_beta")
    ]
    alphas, betas = (_by_function(names, values, which) for which, values in enumerate(numbers))
    every = [
        Named(name=name, alpha=alpha, beta=beta)
        for name, alpha, beta in zip(names, alphas, betas, strict=True)
    ]
    per_direction = len(kind.functions)
    usual = [name.lower() for name in names] == [name.lower() for name in kind.functions * directions]
    return [
        tuple(every[start : start + per_direction]) for start in range(0, len(every), per_direction)
    ], usual


_NUMBERS = {"affine": 2, "elu": 1, "hardsigmoid": 2, "leakyrelu": 1, "scaledtanh": 2, "thresholdedrelu": 1}
"""How many numbers a function has: alpha, then beta."""


def _by_function(names: Sequence[str], values: Sequence[float], which: int) -> list[float | None]:
    """Numbers go to the functions that have one, in order."""
    rest = iter(values)
    return [next(rest, None) if _NUMBERS.get(name.lower(), 0) > which else None for name in names]


def _lengths(site: Site, sequence: Value) -> np.ndarray | None:
    """Moments of each sequence, None where all are as long as the longest may be."""
    if not site.has(4):
        return None
    moments, batch = sequence.shape[:2]
    lengths = site.known(4, "the lengths of the sequences").reshape(-1)
    if lengths.size != batch or lengths.min() < 0 or lengths.max() > moments:
        raise Refused("E303", f"lengths of sequences {lengths.tolist()} do not fit {list(sequence.shape)}")
    return None if bool(np.all(lengths == moments)) else lengths


def layers_of(site: Site, kind: CellKind, sequence: Value, count: int) -> tuple[list[Direction], bool]:
    """The layers of all directions, and whether an LSTM's are what its operator computes."""
    weights, recurrent = site.known(1, "the weights"), site.known(2, "the recurrent weights")
    if recurrent.ndim != 3 or recurrent.shape[0] != count:
        raise Refused("E303", f"recurrent weights of shape {list(recurrent.shape)} for {count} directions")
    units = recurrent.shape[2]
    rows = kind.gates * units
    bias = site.known(3, "the biases") if site.has(3) else np.zeros((count, 2 * rows), np.float32)
    peepholes = site.known(7, "the peepholes") if kind.has_cell and site.has(7) else None
    stated = site.integer("hidden_size", units)
    arrays, inputs = (weights, recurrent, bias), sequence.shape[2]
    shapes = [(count, rows, inputs), (count, rows, units), (count, 2 * rows)]
    fits = [array.shape for array in arrays] == shapes and {str(array.dtype) for array in arrays} == {
        "float32"
    }
    if not fits or stated != units or (peepholes is not None and peepholes.shape != (count, 3 * units)):
        raise Refused("E303", "weights, biases or hidden_size do not fit each other, or are not float32")
    functions, usual = _functions(site, kind, count)
    clip = site.real("clip", 0.0)
    lengths = _lengths(site, sequence)
    layers = [
        Direction(
            units=units,
            weights=weights[index],
            recurrent=recurrent[index],
            bias=bias[index, :rows],
            recurrent_bias=bias[index, rows:],
            peepholes=None if peepholes is None else peepholes[index],
            functions=tuple(_function(site, one.name, one.alpha, one.beta) for one in functions[index]),
            named=functions[index],
            clip=clip,
            lengths=lengths,
        )
        for index in range(count)
    ]
    return layers, usual and clip == 0.0 and peepholes is None and lengths is None
