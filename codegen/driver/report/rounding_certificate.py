"""The certificate of a quantised ONNX network: how each channel is rounded, and what stayed in float."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from codegen.errors import counted
from codegen.program.program import Program


@dataclass(frozen=True, kw_only=True, slots=True)
class RoundedLayer:
    """A layer of sums that are scaled by a float32 number a channel."""

    step: int
    name: str
    op: str
    channels: int
    proved: int
    """Channels whose fixed point was proved equal to float32 for every sum that the weights can give."""
    exact: int
    """Channels that the kernel multiplies by float32 itself, as onnxruntime does: no fixed point is equal, or
    the core's FPU is as fast."""


def rounded_layers(program: Program) -> tuple[RoundedLayer, ...]:
    """Every such layer, in order."""
    return tuple(_layers(program))


def _layers(program: Program) -> Iterator[RoundedLayer]:
    for step, prim in enumerate(program.steps.prim_funcs):
        for constant in prim.constants:
            if constant.rounded is not None:
                proved, exact = constant.rounded
                yield RoundedLayer(
                    step=step,
                    name=constant.steps[0] if constant.steps else prim.name,
                    op=constant.op or prim.let.call.op.name,
                    channels=proved + exact,
                    proved=proved,
                    exact=exact,
                )


def _lines_of(program: Program, key: str) -> list[str]:
    """Notes of the importer about layers, one a line, under the key `left_in_float` or `may_differ`."""
    return program.metadata.get(key, "").splitlines()


def rounding_report(program: Program) -> dict[str, object] | None:
    """The `rounding` object of report.json; None where nothing is rounded as ONNX does."""
    layers, left = rounded_layers(program), _lines_of(program, "left_in_float")
    if not layers and not left:
        return None
    return {
        "channels": sum(layer.channels for layer in layers),
        "proved": sum(layer.proved for layer in layers),
        "exact": sum(layer.exact for layer in layers),
        "layers": [asdict(layer) for layer in layers],
        "left_in_float": left,
        "may_differ": _lines_of(program, "may_differ"),
    }


def rounding_lines(program: Program) -> Iterator[str]:
    """Lines for people about the rounding of a program."""
    layers = rounded_layers(program)
    if layers:
        channels, proved = (sum(getattr(layer, what) for layer in layers) for what in ("channels", "proved"))
        yield (
            f"rounding  as onnxruntime: {proved:,} of {counted(channels, 'channel')} by a fixed point "
            f"that is proved equal, {channels - proved:,} by float32"
        )
    for reason in _lines_of(program, "left_in_float"):
        yield f"in float  {reason}"
    for reason in _lines_of(program, "may_differ"):
        yield f"1 step    {reason}"
