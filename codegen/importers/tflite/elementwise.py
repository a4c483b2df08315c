"""Operators on elements one by one: arithmetic, activations, requantisation, SOFTMAX."""

import math
from collections.abc import Callable
from typing import Any

from tflite.AddOptions import AddOptions
from tflite.LeakyReluOptions import LeakyReluOptions
from tflite.MulOptions import MulOptions
from tflite.SoftmaxOptions import SoftmaxOptions
from tflite.SubOptions import SubOptions

from codegen.importers.tflite.report import Refused
from codegen.importers.tflite.site import Site, Translated
from codegen.ir.ops import Activation, Attrs, BinaryAttrs, LeakyReluAttrs, SoftmaxAttrs


def binary(kind: type[AddOptions | SubOptions | MulOptions]) -> Callable[[Site], Translated]:
    """ADD, SUB, MUL: translator for the one whose options are `kind`."""

    def translate(site: Site) -> Translated:
        site.need_inputs(2, 2)
        options: Any = site.options(kind, required=False)
        activation = (
            Activation.NONE if options is None else site.activation(int(options.FusedActivationFunction()))
        )
        attrs = BinaryAttrs(activation=activation)
        return Translated(op=site.operator.name, args=site.args(2), attrs=attrs)

    return translate


def unary(site: Site) -> Translated:
    """Operators with one operand whose options, if any, say nothing."""
    site.need_inputs(1, 1)
    return Translated(op=site.operator.name, args=(site.arg(0),), attrs=Attrs())


def softmax(site: Site) -> Translated:
    """SOFTMAX over the last axis."""
    site.need_inputs(1, 1)
    options: Any = site.options(SoftmaxOptions)
    attrs = SoftmaxAttrs(beta=_finite("beta", float(options.Beta())))
    return Translated(op="SOFTMAX", args=(site.arg(0),), attrs=attrs)


def leaky_relu(site: Site) -> Translated:
    """LEAKY_RELU."""
    site.need_inputs(1, 1)
    options: Any = site.options(LeakyReluOptions)
    attrs = LeakyReluAttrs(alpha=_finite("alpha", float(options.Alpha())))
    return Translated(op="LEAKY_RELU", args=(site.arg(0),), attrs=attrs)


def _finite(what: str, value: float) -> float:
    if not math.isfinite(value):
        raise Refused("E303", f"{what} is {value}")
    return value
