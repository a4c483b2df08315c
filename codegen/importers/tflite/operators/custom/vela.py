"""ethos-u: layers that Vela compiled, as a step whose result is the scratch, and the values in it.

Vela's convention: inputs are the command stream, constants, scratch, fast scratch, then the layers'
arguments. The metadata entry `OfflineMemoryAllocation` states where values lie in the scratch.
"""

import numpy as np
from numpy.typing import NDArray

from codegen.ethos_u import payload
from codegen.ethos_u.payload import FIXED_INPUTS, MOST_BYTES
from codegen.ethos_u.register_commands import (
    FAST_SCRATCH,
    SCRATCH,
    ByteRanges,
    extents,
    last_element,
    leaves_in_front,
    macs,
    unwritten_reads,
)
from codegen.importers.reporting import Refused
from codegen.importers.tflite.operators.site import InnerStep, Site, Translated
from codegen.ir import DType, TensorType
from codegen.ir.ops.npu_layers import NpuAttrs, NpuValueAttrs

AGAIN = "compile the file from before Vela again"


def npu_layers(site: Site) -> tuple[Translated, ...]:
    """The values that the layers give, each as bytes of one scratch."""
    inputs = site.operator.inputs
    if len(inputs) < FIXED_INPUTS or -1 in inputs:
        text = "its inputs are not stream, constants, scratch, fast scratch and values"
        raise Refused("E316", text, AGAIN)
    if not site.operator.outputs:
        raise Refused("E316", "it gives no value", AGAIN)
    stream, constants = (site.raw_bytes(position) for position in (0, 1))
    try:
        commands = payload.split(stream.tobytes())
    except ValueError as error:
        raise Refused("E316", str(error), AGAIN) from error
    if (
        any(site.is_unsigned(position) for position in range(FIXED_INPUTS, len(inputs)))
        or site.gives_unsigned
    ):
        text = "its layers take or give uint8 values"
        raise Refused("E301", text, "convert the network as int8, and compile it with Vela again")
    args = tuple(site.arg(position) for position in range(FIXED_INPUTS, len(inputs)))
    offsets = tuple(site.arena_offset(index) for index in inputs[FIXED_INPUTS:])
    results = tuple(site.arena_offset(index) for index in site.operator.outputs)
    ends = extents(commands.stream)
    values = [
        *zip(offsets, (arg.type for arg in args), strict=True),
        *zip(results, site.results, strict=True),
    ]
    stated = site.extent(2)
    if not stated:
        raise Refused("E316", "its scratch has no bytes", AGAIN)
    leaves = ends.get(SCRATCH, 0) > stated or leaves_in_front(commands.stream)
    if leaves or any(at < 0 or at + type_.size_bytes > stated for at, type_ in values):
        raise Refused("E316", f"its values or commands leave the scratch of {stated} bytes", AGAIN)
    ends_of_values = [at + type_.size_bytes for at, type_ in values]
    planned = _planned(max(ends.get(SCRATCH, 0), *ends_of_values))
    touched = max(last_element(commands.stream, SCRATCH), *ends_of_values)
    fast_bytes = _planned(ends.get(FAST_SCRATCH, 0))
    bytes_of = [(at, at + type_.size_bytes) for at, type_ in values]
    _need_whole(commands.stream, bytes_of[: len(args)], bytes_of[len(args) :])
    has_fast = inputs[3] != inputs[2] and FAST_SCRATCH in ends
    whole = InnerStep(
        op="NPU",
        args=(
            site.made(stream),
            site.made(constants) if len(constants) else None,
            *args,
        ),
        attrs=NpuAttrs(
            device=commands.device,
            scratch_bytes=planned,
            tail_bytes=planned - touched,
            fast_bytes=fast_bytes if has_fast else 0,
            offsets=offsets,
            macs=macs(commands.stream),
        ),
        type=TensorType(shape=(planned,), dtype=DType.UINT8),
    )
    return tuple(
        Translated(op="NPU_VALUE", args=(whole,), attrs=NpuValueAttrs(offset=offset, shape=result.shape))
        for offset, result in zip(results, site.results, strict=True)
    )


def _need_whole(stream: NDArray[np.uint32], held: ByteRanges, results: ByteRanges) -> None:
    """Refuse a stream that reads what nobody wrote; what other streams wrote is an argument by now."""
    for region, there, left in ((SCRATCH, held, results), (FAST_SCRATCH, (), ())):
        missing = unwritten_reads(stream, region, there, left)
        if missing:
            start, stop = missing[0]
            text = f"its stream reads bytes {start} to {stop} of its scratch, which it did not write"
            raise Refused("E316", f"{text}, and neither did anybody before it", AGAIN)


def _planned(size_bytes: int) -> int:
    """Bytes of a scratch, as far as anything reaches. Raises Refused E305 beyond what any part has."""
    if size_bytes > MOST_BYTES:
        raise Refused("E305", f"its scratch has {size_bytes} bytes, up to {MOST_BYTES} are planned")
    return size_bytes
