"""The payload of an operator `ethos-u`: the driver's header, the device, the register commands.

Source: driver_actions.py of Vela, ethosu_driver.c of Arm's ethos-u-core-driver.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

OPERATOR = "ethos-u"
"""Name of the custom operator that Vela makes of layers."""
FIXED_INPUTS = 4
"""Inputs in front of the network's values: stream, constants, scratch, fast scratch."""
MOST_BYTES = 1 << 28
"""Most bytes of a scratch: many times what the largest parts have."""
ALIGNMENT = 16
"""Bytes, of the command stream, of constants and of scratches."""
_MAGIC = int.from_bytes(b"COP1", "little")
_CONFIG, _STREAM, _NOP = 1, 2, 5
"""Driver actions: configuration (two words follow), stream (its words follow), padding."""
_PRODUCTS = {0: "ethos-u55", 1: "ethos-u65"}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Payload:
    """Content of an operator's first input."""

    device: str
    """Name of the configuration, such as `ethos-u55-128`."""
    stream: NDArray[np.uint32]
    """The register commands, without the driver's header."""


def split(payload: bytes) -> Payload:
    """The device that the driver's header names, and the words behind it. Raises ValueError."""
    words = np.frombuffer(payload[: len(payload) // 4 * 4], "<u4")
    if len(words) == 0 or words[0] != _MAGIC:
        raise ValueError("its command stream does not begin with COP1")
    device, position = None, 1
    while position < len(words):
        action, count = int(words[position]) & 0xFF, int(words[position]) >> 16
        if action == _CONFIG and position + 1 < len(words):
            device = _device(int(words[position + 1]))
        elif action == _STREAM and device is not None:
            count |= (int(words[position]) >> 8 & 0xFF) << 16
            stream = np.ascontiguousarray(words[position + 1 : position + 1 + count])
            if len(stream) == count:
                return Payload(device=device, stream=stream)
            break
        elif action != _NOP:
            break
        position += 3 if action == _CONFIG else 1
    raise ValueError("the header of its command stream is cut short or has an unknown action")


def _device(config: int) -> str:
    """Name of a configuration: product in bits 28 to 31, binary logarithm of its multipliers in 0 to 3."""
    product, macs = config >> 28, 1 << (config & 0xF)
    if product not in _PRODUCTS:
        raise ValueError(f"it is for product {product} of the family; the model knows U55 and U65")
    return f"{_PRODUCTS[product]}-{macs}"
