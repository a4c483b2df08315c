"""Steps of training: Adagrad, Adam and Momentum of weights that are values; rate and count are constants."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx.composed.element_functions import Real
from codegen.importers.onnx.layouts import Value
from codegen.importers.onnx.node_site import Site
from codegen.importers.reporting import Refused

_Group = list[Real]
"""One weight, its gradient, and what is remembered of both."""

_DOMAIN = "ai.onnx.preview.training"


def _each(
    size: int, update: Callable[[Site, float, int, _Group], _Group]
) -> Callable[[Site], tuple[Value, ...]]:
    """`update` of every weight; inputs and outputs are all weights, then all gradients, and so on."""

    def translate(site: Site) -> tuple[Value, ...]:
        rate = site.known(0, "the learning rate").reshape(-1)
        count = site.known(1, "the count of updates").reshape(-1)
        values = [site.value(index) for index in range(2, len(site.node.inputs))]
        site.need_float(*values)
        if len(values) % size or rate.size != 1 or count.size != 1:
            raise Refused("E303", f"{len(values)} values, they have to be groups of {size}")
        number = len(values) // size
        found = [
            update(site, float(rate[0]), int(count[0]), [Real(site, each) for each in values[index::number]])
            for index in range(number)
        ]
        return tuple(group[place].value for place in range(size - 1) for group in found)

    return translate


def _regular(site: Site, weight: Real, gradient: Real) -> Real:
    norm = site.real("norm_coefficient", 0.0)
    return weight * norm + gradient if norm else gradient


def _adagrad(site: Site, rate: float, count: int, group: _Group) -> _Group:
    weight, gradient, squares = group
    rate /= 1 + count * site.real("decay_factor", 0.0)
    gradient = _regular(site, weight, gradient)
    squares = squares + gradient * gradient
    size = squares.of("SQRT") + site.real("epsilon", 1e-6)
    return [weight - gradient * rate / size, squares]


def _adam(site: Site, rate: float, count: int, group: _Group) -> _Group:
    weight, gradient, momentum, squares = group
    alpha, beta = site.real("alpha", 0.9), site.real("beta", 0.999)
    gradient = _regular(site, weight, gradient)
    momentum = momentum * alpha + gradient * (1 - alpha)
    squares = squares * beta + gradient * gradient * (1 - beta)
    if count > 0:
        rate *= float(np.sqrt(1 - beta**count)) / (1 - alpha**count)
    size = squares.of("SQRT") + site.real("epsilon", 1e-6)
    weight = weight - momentum / size * rate
    after = site.real("norm_coefficient_post", 0.0)
    return [weight * (1 - after) if after else weight, momentum, squares]


def _momentum(site: Site, rate: float, count: int, group: _Group) -> _Group:
    weight, gradient, momentum = group
    alpha, beta = site.real("alpha", 0.0), site.real("beta", 0.0)
    mode = site.word("mode", "standard")
    if mode not in ("standard", "nesterov"):
        raise Refused("E303", f"mode {mode}, it has to be standard or nesterov")
    gradient = _regular(site, weight, gradient)
    momentum = momentum * alpha + gradient * (beta if count > 0 else 1.0)
    step = momentum if mode == "standard" else gradient + momentum * alpha
    return [weight - step * rate, momentum]


NODES: Mapping[str, Callable[[Site], tuple[Value, ...]]] = MappingProxyType(
    {
        f"{_DOMAIN}.Adagrad": _each(3, _adagrad),
        f"{_DOMAIN}.Adam": _each(4, _adam),
        f"{_DOMAIN}.Momentum": _each(3, _momentum),
    }
)
