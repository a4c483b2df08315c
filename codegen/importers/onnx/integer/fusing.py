"""An operator between DequantizeLinear and QuantizeLinear, and a Relu or Clip behind it, as one step."""

import numpy as np

from codegen.importers.onnx.integer import layers
from codegen.importers.onnx.integer.groups import (
    MEANS,
    MOVED,
    PAIRS,
    RESIZED,
    ROWS,
    TABLES,
    WEIGHTED,
    Group,
)
from codegen.importers.onnx.integer.layers import Translators
from codegen.importers.onnx.integer.normalizing import layer_norm, softmax
from codegen.importers.onnx.integer.resizing import resized
from codegen.importers.onnx.integer.scales import IntegerTarget, LeftInFloat
from codegen.importers.onnx.layouts import Computed, Stored, Value
from codegen.importers.onnx.node_site import Site
from codegen.ir.ops import Activation


def fused(
    group: Group, site: Site, activation: Site | None, target: IntegerTarget, others: Translators
) -> Value:
    """The integer step of a group. Raises LeftInFloat with the reason where there is none; `others`: the
    translators of the operators on real numbers."""
    op = group.node.op
    what = _activation(activation, target)
    if op in WEIGHTED:
        return _summed(op, site, target, what)
    if op in PAIRS:
        return layers.pair(site, op.upper(), (_given(site, 0), _given(site, 1)), target, what)
    if op in MEANS:
        return layers.mean(site, _given(site, 0), target, what)
    return _alone(op, site, target, others)


def _summed(op: str, site: Site, target: IntegerTarget, what: Activation) -> Value:
    """Sums of products: a layer by its weights, or two matrices."""
    image = _given(site, 0)
    if op == "MatMul" and not layers.is_layer(image, _given(site, 1)):
        if what is not Activation.NONE:
            raise LeftInFloat("a product of two matrices has no integer form with an activation behind it")
        return layers.product(site, image, _given(site, 1), target)
    make = layers.conv if op == "Conv" else layers.gemm
    return make(site, image, _weights(site, 1), _bias(site, 2), target, what)


def _alone(op: str, site: Site, target: IntegerTarget, others: Translators) -> Value:
    """An operator of one image, without an activation behind it."""
    if op in TABLES or op == "DequantizeLinear":
        return layers.table(site, _given(site, 0), target, others.get(op))
    if op in RESIZED:
        return resized(site, _given(site, 0), target, others)
    if op in ROWS:
        is_softmax = op == "Softmax"
        image = _given(site, 0)
        return softmax(site, image, target, site.opset) if is_softmax else layer_norm(site, image, target)
    if op in MOVED:
        return layers.move(site, target, others[op])
    raise LeftInFloat(f"{op} has no integer form")


def _given(site: Site, position: int) -> Stored:
    stored = site.operand(position)
    if not isinstance(stored, Stored):
        raise LeftInFloat("an argument is not quantised")
    return stored


def _weights(site: Site, position: int) -> Stored:
    stored = _given(site, position)
    if isinstance(stored.value, Computed):
        raise LeftInFloat("both factors are computed while the model runs")
    return stored


def _bias(site: Site, position: int) -> Stored | None:
    return _given(site, position) if site.has(position) else None


def _activation(site: Site | None, target: IntegerTarget) -> Activation:
    """The activation behind the operator, which then limits the integers."""
    if site is None:
        return Activation.NONE
    if site.node.op == "Relu":
        return Activation.RELU
    low, high = clip_bounds(site)
    if low != 0.0 or high not in (None, 6.0):
        raise LeftInFloat(f"a Clip between {low} and {high} is no limit of an integer step, 0 and 6 are")
    if high is None:
        return Activation.RELU
    steps = np.float32(6.0) / np.float32(target.scale)
    if float(steps) % 1.0 == 0.5:
        raise LeftInFloat("the limit 6 lies between two integers, where halves round differently")
    return Activation.RELU6


def clip_bounds(site: Site) -> tuple[float | None, float | None]:
    """The bounds of a Clip."""
    bounds: list[float | None] = [None, None]
    for place, name in enumerate(("min", "max")):
        if site.opset < 11:
            bounds[place] = site.real(name, 0.0) if site.has_attribute(name) else None
        elif site.has(place + 1):
            bound = site.known(place + 1, f"the bound {name}")
            bounds[place] = float(bound.reshape(-1)[0]) if bound.size == 1 else None
    return bounds[0], bounds[1]
