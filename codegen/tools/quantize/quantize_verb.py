"""`codegen quantize`: flags, and what people see of the loss."""

from pathlib import Path
from typing import get_args

import click
import msgspec

from codegen.api import CodegenError, ExitCode, Message, counted, printable, progress, table, to_json
from codegen.tools.quantize import TOOL
from codegen.tools.quantize.evaluation import Evaluation
from codegen.tools.quantize.quantizer import Method, Quantized, Scheme
from codegen.tools.quantize.quantizer import quantize as quantize_model
from codegen.tools.quantize.weight_bits import BitChoice

FEW_SAMPLES = 32
"""Fewer show too little of what a network sees."""
_LAYERS = 12
"""Rows of the table; --json has all."""


@click.command(help=TOOL.verbs["quantize"].help)
@click.argument("model", type=click.Path(path_type=Path))
@click.option(
    "--calibration",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE.npz",
    help="Samples: one array an input, called as it or x0, x1, ..., [samples, *shape].",
)
@click.option(
    "-o",
    "output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The quantised model.  [default: MODEL_int8.onnx beside MODEL]",
)
@click.option(
    "--method",
    type=click.Choice(get_args(Method)),
    default="minmax",
    show_default=True,
    help="How the range of a value is chosen from what calibration saw of it.",
)
@click.option(
    "--per-channel/--per-tensor",
    default=True,
    show_default=True,
    help="Scales of weights: one a channel, or one a tensor.",
)
@click.option(
    "--bits",
    type=click.Choice(["8", "auto"]),
    default="8",
    show_default=True,
    help="Bits of weights: 8, or 4 or 8 a layer, by measured loss, as --budget needs.",
)
@click.option(
    "--budget",
    metavar="flash=BYTES",
    help="With --bits auto: bytes that weights and biases may take.",
)
@click.option(
    "--evaluate",
    type=click.Path(path_type=Path),
    metavar="FILE.npz",
    help="Samples to compare with the float model; an array `labels` holds right classes.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout and nothing else.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but messages.")
def quantize(
    model: Path,
    calibration: Path,
    output: Path | None,
    method: Method,
    per_channel: bool,
    bits: str,
    budget: str | None,
    evaluate: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """`codegen quantize`."""
    target = output or model.with_name(f"{model.stem}_int8.onnx")
    budget_bytes = _budget(bits, budget)
    with progress(quiet or as_json) as stage:
        quantized = quantize_model(
            model,
            calibration,
            target,
            scheme=Scheme(method=method, per_channel=per_channel, budget_bytes=budget_bytes),
            evaluation=evaluate,
            progress=stage,
        )
    if as_json:
        document = msgspec.to_builtins(quantized, enc_hook=str)
        click.echo(to_json({"schema": 1, "method": method, "per_channel": per_channel, **document}), nl=False)
    elif not quiet:
        _show(quantized, method)
    return ExitCode.OK


def _budget(bits: str, budget: str | None) -> int | None:
    """Bytes of `--budget`; raises CodegenError E223 for other words, and for one option without the other."""
    help_ = "write --bits auto --budget flash=BYTES, as flash=200000"
    if (bits == "auto") != (budget is not None):
        text = "--bits auto has no --budget" if budget is None else "--budget is for --bits auto"
        raise CodegenError(Message(code="E223", where="--bits", text=text, help=help_))
    if budget is None:
        return None
    pool, _, number = budget.partition("=")
    if pool != "flash" or not number.isdecimal():
        text = f'"{printable(budget)}" is no number of bytes of flash'
        raise CodegenError(Message(code="E223", where="--budget", text=text, help=help_))
    return int(number)


def _show_bits(choice: BitChoice) -> None:
    """Loss against bytes, down to all layers in 4 bits."""
    marks = ["*" if index == choice.chosen else "" for index in range(len(choice.points))]
    rows = [
        [mark, point.layer or "none", f"{point.weight_bytes:,}", f"{100 * point.loss:.2f}"]
        for mark, point in zip(marks, choice.points, strict=True)
    ]
    click.echo("")
    table("weights in 4 bits, layer by layer", ["", "and this layer", "bytes", "loss %"], rows)
    click.echo("")
    click.echo(
        f"bits      4 in {counted(choice.chosen, 'layer')} of {len(choice.points) - 1}: "
        f"{choice.points[choice.chosen].weight_bytes:,} bytes of weights and biases, "
        f"{choice.budget_bytes:,} permitted"
    )


def _show(quantized: Quantized, method: str) -> None:
    for name in quantized.opened:
        click.echo(f"batch     the first extent of {name} was open and is 1")
    click.echo(f"calibrated  {counted(quantized.samples, 'sample')}, {method}")
    if quantized.samples < FEW_SAMPLES:
        click.echo(
            f"note      fewer than {FEW_SAMPLES} samples: ranges of values that they do not show are cut off"
        )
    for name, share in quantized.outside:
        click.echo(
            f"note      {share:.1%} of the evaluated samples have numbers in {name} that calibration has not "
            "seen: they are cut off"
        )
    if quantized.bits is not None:
        _show_bits(quantized.bits)
    if quantized.evaluation is not None:
        _show_loss(quantized.evaluation)
    _show_float(quantized)
    size = f"{quantized.quantised_bytes:,} bytes, of {quantized.float_bytes:,}"
    click.echo(f"written   {quantized.path}  ({size}; codegen imports it)")


def _show_float(quantized: Quantized) -> None:
    """Layers that stay in float32, why, and what their values take."""
    for line in quantized.in_float:
        click.echo(f"in float  {line}")
    cost = quantized.float_cost
    if cost.values:
        click.echo(
            f"in float  {counted(cost.values, 'value')} inside the network, the largest of "
            f"{cost.largest_bytes:,} bytes: four times those of int8"
        )
        click.echo(
            f"in float  {cost.quantised + cost.dequantised:,} numbers are converted, {cost.macs:,} "
            f"multiply-accumulates: on an M4 with an FPU about {cost.instructions:,} instructions "
            "beyond int8's"
        )


def _show_loss(evaluation: Evaluation) -> None:
    click.echo(f"evaluated   {counted(evaluation.samples, 'sample')} against the float model")
    if evaluation.agreement is not None:
        click.echo(f"agreement   {evaluation.agreement:.2%} of the samples have the same largest output")
    if evaluation.float_accuracy is not None and evaluation.quantised_accuracy is not None:
        click.echo(
            f"accuracy    {evaluation.quantised_accuracy:.2%}, in float {evaluation.float_accuracy:.2%}"
        )
    for error in evaluation.outputs:
        click.echo(
            f"error       {error.name}: mean {error.mean:.3g}, at most {error.largest:.3g}; "
            f"values up to {error.largest_value:.3g}"
        )
    rows = [
        [layer.node, layer.op, f"{100 * layer.added:.2f}", f"{100 * layer.error:.2f}"]
        for layer in evaluation.layers[:_LAYERS]
    ]
    click.echo("")
    table("layers that lose most", ["node", "operator", "adds %", "error %"], rows)
    click.echo("")
