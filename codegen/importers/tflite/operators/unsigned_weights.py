"""Weights of uint8, which are held as int8: what their zero point and their scale become."""

from dataclasses import replace

import numpy as np

from codegen.importers.reporting import Refused
from codegen.importers.tflite.tensors import Tensors
from codegen.ir import Arg, ConstRef, TensorType


def centred(weights: Arg, tensors: Tensors, *, is_unsigned: bool) -> Arg:
    """Weights that are held of uint8: less their zero point, where int8 has room for all of them."""
    meaning = weights.type.quantization
    if not isinstance(weights, ConstRef) or meaning is None or not any(meaning.zero_points):
        return weights
    if not is_unsigned:
        raise Refused("E306", f"{weights.type.dtype.value} weights have a zero point other than 0")
    data = tensors.used_constants[weights.id].data.astype(np.int16) - meaning.zero_point
    if data.min() < -128 or data.max() > 127:
        return weights
    made = tensors.make(data.astype(np.int8), replace(meaning, zero_points=(0,)))
    return ConstRef(id=made.id, type=made.type)


_ROUNDING_PRODUCTS = frozenset({"CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV"})
"""Operators that TFLite requantizes on uint8 by a product of scales rounded to float32, on int8 by one that
is not. FULLY_CONNECTED always rounds it."""


def with_rounded_product(operator: str, image: TensorType, weights: Arg) -> Arg:
    """Weights of uint8 with the scale whose product with the image's is the one that TFLite has.

    Source: GetQuantizedConvolutionMultipler. Raises Refused E304 where the product is 0 or too large.
    """
    meaning = weights.type.quantization
    if operator not in _ROUNDING_PRODUCTS or image.quantization is None or meaning is None or not image.scale:
        return weights
    with np.errstate(all="ignore"):
        product = float(np.float32(image.scale) * np.float32(weights.type.scale))
    if not 0.0 < product < np.inf:
        text = f"the scales of its image and its weights, {image.scale:g} and {weights.type.scale:g}, have "
        raise Refused("E304", f"{text}{'no' if product else '0 as'} product in float32", "quantise it anew")
    rounded = replace(meaning, scales=(product / image.scale,))
    return replace(weights, type=replace(weights.type, quantization=rounded))
