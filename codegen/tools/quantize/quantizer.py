"""Calls onnxruntime's static quantiser: QDQ, int8 weights and activations."""

import importlib
import io
import logging
from collections.abc import Generator, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from codegen.api import (
    CodegenError,
    Message,
    Progress,
    check_outputs,
    existing,
    install_extra,
    load_model,
    model_bytes,
    onnx_package,
    printable,
    silent,
    temporary_folder,
    write_file,
)
from codegen.tools.quantize.biased_products import join_biases
from codegen.tools.quantize.evaluation import Evaluation, evaluate
from codegen.tools.quantize.float_cost import NO_COST, FloatCost, float_cost
from codegen.tools.quantize.float_model import float_model
from codegen.tools.quantize.samples import Samples, read_samples
from codegen.tools.quantize.spatial_means import MORE_TYPES, rewrite_means
from codegen.tools.quantize.weight_bits import BitChoice, choose_bits

Method = Literal["minmax", "entropy", "percentile"]
"""How the range of a value is chosen from what calibration saw of it."""

_METHODS = {"minmax": "MinMax", "entropy": "Entropy", "percentile": "Percentile"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Quantized:
    """A quantised model that was written."""

    path: Path
    float_bytes: int
    quantised_bytes: int
    samples: int
    """Samples of the calibration."""
    opened: tuple[str, ...]
    """Inputs whose first extent was open; it is 1 in the quantised model."""
    evaluation: Evaluation | None
    in_float: tuple[str, ...] = ()
    """Layers that stay in float32, and why."""
    float_cost: FloatCost = NO_COST
    """Cost of these layers."""
    outside: tuple[tuple[str, float], ...] = ()
    """Inputs with numbers that calibration has not seen: the share of samples of the evaluation."""
    bits: BitChoice | None = None
    """Layers with int4 weights, where a budget was stated."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scheme:
    """How numbers become integers."""

    method: Method = "minmax"
    """How the range of a value is chosen from what calibration saw of it."""
    per_channel: bool = True
    """Scales of weights: one a channel, or one a tensor."""
    budget_bytes: int | None = None
    """Bytes that weights and biases may take: some layers then have int4 weights. None: all have int8."""


PLAIN_SCHEME = Scheme()


def quantize(
    model: Path,
    calibration: Path,
    output: Path,
    *,
    scheme: Scheme = PLAIN_SCHEME,
    evaluation: Path | None = None,
    progress: Progress = silent,
) -> Quantized:
    """Quantise the float model; write `output` only if our importer reads it.

    Raises CodegenError E204, E206, E218 for files, E220 to E222 for samples, E296 to E299 for a model that is
    not quantised, E313 without onnxruntime, E408 for a budget that cannot be met, E3xx as the importer does,
    for the float model and the result.
    """
    name = printable(model.name)
    arrays = [path for path in (calibration, evaluation) if path is not None]
    data = _read(existing(model, "a float .onnx file"))
    check_outputs([("-o", output)], [("the model", model), *(("its samples", path) for path in arrays)])
    real = float_model(model, data)
    samples = read_samples(existing(calibration, "an .npz file"), real.inputs)
    held_out = None if evaluation is None else existing(evaluation, "an .npz file")
    evaluated = None if held_out is None else read_samples(held_out, real.inputs)
    onnxruntime = _onnxruntime(name)
    with temporary_folder("quantize") as folder, _quiet():
        prepared, made = folder / "float.onnx", folder / "quantised.onnx"
        try:
            progress("prepare")
            _prepare(onnxruntime, real.proto, prepared)
            _flatten_biases(onnx_package(name), prepared)
            rewrite_means(onnx_package(name), prepared)
            join_biases(onnx_package(name), prepared)
            _quantise(onnxruntime, prepared, made, _Calls(samples, progress), scheme)
        except Exception as error:  # onnxruntime's exceptions have no common class of their own
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            help_ = "the model may use operators that the quantiser cannot read: simplify it before (onnxsim)"
            text = f"onnxruntime's quantiser fails: {printable(reason)[:200]}"
            raise CodegenError(Message(code="E299", where=name, text=text, help=help_)) from error
        progress("import")
        imported = load_model(made)
        bits = None
        if scheme.budget_bytes is not None:
            packages = onnx_package(name), onnxruntime
            size = sum(constant.type.size_bytes for constant in imported.constants.values())
            bits = choose_bits(packages, (prepared, made), samples, scheme.budget_bytes, size, progress)
            imported = load_model(made)
        loss = None
        if evaluated is not None:
            onnx = onnx_package(name)
            first, second = (onnx.load_model(str(path)) for path in (prepared, made))
            loss = evaluate(onnxruntime, first, second, evaluated, progress)
        result = made.read_bytes()
    write_file(output, result)
    return Quantized(
        path=output,
        float_bytes=len(data),
        quantised_bytes=len(result),
        samples=len(samples.rows),
        opened=real.opened,
        evaluation=loss,
        in_float=tuple(imported.metadata.get("left_in_float", "").splitlines()),
        float_cost=float_cost(imported),
        outside=() if evaluated is None else _outside(samples, evaluated),
        bits=bits,
    )


def _outside(samples: Samples, evaluated: Samples) -> tuple[tuple[str, float], ...]:
    """Share of samples with numbers outside what calibration saw, by input that has some."""
    shares: dict[str, float] = {}
    for name in samples.rows[0]:
        low = min(float(row[name].min()) for row in samples.rows)
        high = max(float(row[name].max()) for row in samples.rows)
        beyond = [row[name].min() < low or row[name].max() > high for row in evaluated.rows]
        shares[name] = sum(map(bool, beyond)) / len(beyond)
    return tuple((name, share) for name, share in shares.items() if share)


def _read(model: Path) -> bytes:
    """The bytes of a file that the importer takes for a model, of bounded size."""
    if model.suffix.lower() == ".onnx":
        return model_bytes(model)
    return model.read_bytes()


def _onnxruntime(name: str) -> Any:
    try:
        importlib.import_module("onnxruntime.quantization")
        return importlib.import_module("onnxruntime")
    except ImportError as error:
        text = "the package `onnxruntime` is not installed: its quantiser is what quantises"
        help_ = install_extra("quantize")
        raise CodegenError(Message(code="E313", where=name, text=text, help=help_)) from error


@contextmanager
def _quiet() -> Generator[None, None, None]:
    """Without what the quantiser says: hints for its own users on the root logger, steps on stdout."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with redirect_stdout(io.StringIO()):
            yield
    finally:
        logging.disable(before)


def _prepare(onnxruntime: Any, proto: Any, target: Path) -> None:
    """Infer shapes; fold constants and batch normalisation into weights."""
    source = target.with_name("source.onnx")
    source.write_bytes(proto.SerializeToString())
    shaping = importlib.import_module("onnxruntime.quantization.shape_inference")
    onnxruntime.set_default_logger_severity(4)
    shaping.quant_pre_process(str(source), str(target), skip_symbolic_shape=True)


def _flatten_biases(onnx: Any, path: Path) -> None:
    """Biases [1, n] of Gemm become [n]: the quantiser takes the first axis for the channels, and fails."""
    model = onnx.load_model(str(path))
    readers = [name for node in model.graph.node for name in node.input]
    biases = {node.input[2] for node in model.graph.node if node.op_type == "Gemm" and len(node.input) > 2}
    for tensor in model.graph.initializer:
        if tensor.name in biases and readers.count(tensor.name) == 1 and list(tensor.dims[:-1]) == [1]:
            del tensor.dims[0]
    del model.graph.value_info[:]
    onnx.save_model(onnx.shape_inference.infer_shapes(model), str(path))


def _quantise(onnxruntime: Any, source: Path, target: Path, calls: "_Calls", scheme: Scheme) -> None:
    quantization = onnxruntime.quantization
    int8 = quantization.QuantType.QInt8
    registry = importlib.import_module("onnxruntime.quantization.registry")
    types = [*registry.QLinearOpsRegistry, *registry.QDQRegistry, *MORE_TYPES]
    quantization.quantize_static(
        str(source),
        str(target),
        calls,
        quant_format=quantization.QuantFormat.QDQ,
        op_types_to_quantize=list(dict.fromkeys(types)),
        per_channel=scheme.per_channel,
        activation_type=int8,
        weight_type=int8,
        calibrate_method=quantization.CalibrationMethod[_METHODS[scheme.method]],
    )


class _Calls:
    """Source of samples for the quantiser: one a call, then None."""

    def __init__(self, samples: Samples, progress: Progress) -> None:
        self._samples, self._progress = samples, progress
        self._left: Iterator[tuple[int, dict[str, np.ndarray]]] = enumerate(samples.rows)

    def get_next(self) -> dict[str, np.ndarray] | None:
        """The next sample."""
        index, row = next(self._left, (len(self._samples.rows), None))
        self._progress("calibrate", index, len(self._samples.rows))
        return row

    def __iter__(self) -> "_Calls":
        return self

    def __next__(self) -> dict[str, np.ndarray]:
        row = self.get_next()
        if row is None:
            raise StopIteration
        return row
