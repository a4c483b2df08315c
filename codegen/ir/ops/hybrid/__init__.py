"""Dynamic-range layers: float32 images, int8 weights, float32 results.

The image is quantised while the model runs: a FULLY_CONNECTED row by row, a convolution image by image. Files
have them as CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED. Start with `weighted`.
"""

from codegen.ir.ops.hybrid.weighted import (
    OPERATORS,
    HybridRowsAttrs,
    is_asymmetric,
    is_scaled_by_channel_first,
)

__all__ = ["OPERATORS", "HybridRowsAttrs", "is_asymmetric", "is_scaled_by_channel_first"]
