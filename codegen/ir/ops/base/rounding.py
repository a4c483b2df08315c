"""Rounding: how the exact sums of a layer become its results. It is a value of the layer, no operator."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from codegen.ir.operator import Attrs


@dataclass(frozen=True, kw_only=True, slots=True)
class Rounding:
    """Base of the kinds of rounding."""

    def of_channels(self, kept: Iterable[int]) -> "Rounding":
        """The rounding of a layer that keeps these result channels alone."""
        del kept
        return self


@dataclass(frozen=True, kw_only=True, slots=True)
class TfliteRounding(Rounding):
    """By fixed-point multipliers that follow from the scales of the types. Float32 has none to apply."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HalvesUp(Rounding):
    """Rounding of TFLite's averages of uint8: halves go up, those of int8 go away from zero."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OnnxRounding(Rounding):
    """Rounding of onnxruntime: in float32, halves to even."""

    scales: tuple[float, ...] = ()
    """Factors in float32 from a sum to units of the result, one a result channel, of layers with weights."""

    def of_channels(self, kept: Iterable[int]) -> "OnnxRounding":
        """With the scales of these channels."""
        return replace(self, scales=tuple(self.scales[channel] for channel in kept))


@dataclass(frozen=True, kw_only=True, slots=True)
class HybridRounding(Rounding):
    """Rounding of dynamic range: a float32 image is quantised at run time, results are float32."""

    asymmetric: bool
    """True if the quantised image has a zero point."""


TFLITE = TfliteRounding()
ONNX = OnnxRounding()
"""ONNX's rounding of operators whose scales are those of their types."""


ROUNDINGS: Mapping[str, type[Rounding]] = MappingProxyType(
    {"tflite": TfliteRounding, "halves_up": HalvesUp, "onnx": OnnxRounding, "hybrid": HybridRounding}
)
"""Kinds by the word of the text form."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RoundedAttrs(Attrs):
    """Attributes of an operator whose results are rounded in one of these ways."""

    rounding: Rounding = TFLITE


def rounding_of(attrs: Attrs) -> Rounding:
    """The rounding of a step with `attrs`; TFLite's where they state none."""
    return attrs.rounding if isinstance(attrs, RoundedAttrs) else TFLITE
