"""How layers with weights are rounded: a rule for each kind of `Rounding`. Start with `as_tflite`."""

from collections.abc import Mapping
from types import MappingProxyType

from codegen.ir.ops.base.rounding import HybridRounding, OnnxRounding, Rounding, TfliteRounding
from codegen.ir.ops.base.weighted import WeightedRule
from codegen.ir.ops.rounded.as_onnx import AsOnnx
from codegen.ir.ops.rounded.as_tflite import AsTflite
from codegen.ir.ops.rounded.hybrid import Hybrid

RULES: Mapping[type[Rounding], WeightedRule] = MappingProxyType(
    {TfliteRounding: AsTflite(), OnnxRounding: AsOnnx(), HybridRounding: Hybrid()}
)
"""By the kind of a layer's rounding."""

__all__ = ["RULES"]
