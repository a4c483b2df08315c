"""DEPTHWISE_CONV_2D, 3x3, on RV32IM cores with vectors: through three padded rows of the image."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let
from codegen.kernels.base.c_kernel import arg_type
from codegen.kernels.base.registry import register
from codegen.kernels.base.weighted import DEPTHWISE
from codegen.kernels.base.window import WindowShape
from codegen.kernels.portable.convolution import DEPTHWISE_IN_PLACE_S8, DEPTHWISE_S8
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rv32.depthwise import LINES, RING_BYTES, columns_of, kept_rows, rows_below
from codegen.kernels.rv32.windowed import KeptRowsDepthwise, WindowedCall, by_kept_rows
from codegen.kernels.zve32x.channels import HEADER, ZVE32X, linked_channels, products_fields
from codegen.kernels.zve32x.price import REGISTER_BYTES, depthwise_instructions


class Zve32xDepthwise(KeptRowsDepthwise):
    """A vector of channels, pixel by pixel."""

    name = "depthwise3x3_s8_zve32x"
    kernel_set, portable = ZVE32X, DEPTHWISE_S8

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        layer = DEPTHWISE.layer(let, constants)
        if not pairs_fit(layer.weights):
            return self.portable.bind(let, constants, name)
        window, group = layer.window, self.group_of(layer.window)
        call = WindowedCall(
            symbol="cg_depthwise3x3_s8_zve32x",
            sources=(
                "kernels/zve32x/copy_s8_zve32x.S",
                "kernels/zve32x/depthwise3x3_rows_s8_zve32x.S",
                "kernels/zve32x/depthwise3x3_s8_zve32x.c",
            ),
            header=HEADER,
            space=kept_rows(window, workspace_bytes(window, group)),
            constants=linked_channels(layer),
            struct="cg_depthwise_params_zve32x",
            fields=(
                ("products", products_fields(layer, let.var.type.zero_point)),
                ("in_zero", arg_type(let, 0).zero_point),
                ("group", group),
            ),
            instructions=depthwise_instructions(window, group),
        )
        return by_kept_rows(call.bound(self, let, name, window), rows_below(window))


class Zve32xDepthwiseInPlace(Zve32xDepthwise):
    """A convolution whose result replaces its image: stride 1, same size, few channels at a time."""

    name, portable = "depthwise3x3_s8_zve32x_in_place", DEPTHWISE_IN_PLACE_S8
    is_in_place = True

    def group_of(self, window: WindowShape) -> int:
        """Channels of the fewest equal groups that `RING_BYTES` allow."""
        depth = window.image[3]
        vectors = -(-depth // REGISTER_BYTES)
        most = max(1, RING_BYTES // workspace_bytes(window, REGISTER_BYTES))
        return min(depth, REGISTER_BYTES * -(-vectors // -(-vectors // most)))


def workspace_bytes(window: WindowShape, channels: int) -> int:
    """Three rows of so many channels."""
    return LINES * columns_of(window) * channels


def pairs_fit(weights: NDArray[np.int8]) -> bool:
    """True if the products of two neighbouring weights [O, 9] with any pixels add up to 16 bits."""
    lowest = np.iinfo(np.int8).min
    return not ((weights[:, 0:8:2] == lowest) & (weights[:, 1:8:2] == lowest)).any()


register(Zve32xDepthwise())
register(Zve32xDepthwiseInPlace())
