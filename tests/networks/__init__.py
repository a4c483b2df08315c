"""Networks of the project's own for its tests: well-known shapes, seeded weights, references by engines.

    path = model_path("ds_cnn")            # a .tflite file; "ds_cnn_qdq": its twin, an .onnx file
    arrays = golden("ds_cnn")              # a_x0, a_y0, ...: inputs, and what the ruling engine answered

Names in: `NAMES`. Files are written when they are first asked for. Outputs are stored in `references.npz`,
which `python -m tests.networks.record` writes by asking the engines.
"""

import functools
import hashlib
import io
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from codegen.engines import ONNXRUNTIME
from codegen.engines.ruling import ruling_engine
from codegen.importers.tflite.writing import writer
from tests.checkout import ROOT
from tests.networks import shapes
from tests.networks.layers import Network, patterns
from tests.networks.qdq import QdqWriter, channels_first
from tests.networks.whole import WHOLE
from tests.networks.writing import Form, Writer
from tests.opgen import goldens
from tests.opgen.dice import Dice
from tests.opgen.sketch import Arrays, Drawn

REFERENCES = Path(__file__).with_name("references.npz")
_FOLDER = ROOT / "build" / "networks"


_INT8, _FLOAT, _EDGED = Form(), Form(values="float32"), Form(float_edges=True)
_CLOSED, _QDQ = Form(open_batch=False), Form(is_onnx=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """The shape of a network, and the element types of its file."""

    shape: Callable[[], Network]
    form: Form = _INT8


_TFLITE: Mapping[str, Recipe] = {
    "autoencoder": Recipe(shape=shapes.autoencoder),
    "autoencoder_edged": Recipe(shape=shapes.autoencoder, form=_EDGED),
    "autoencoder_float": Recipe(shape=shapes.autoencoder, form=_FLOAT),
    "dense_chain": Recipe(shape=shapes.dense_chain),
    "dense_chain_float": Recipe(shape=shapes.dense_chain, form=_FLOAT),
    "dense_chain_pruned": Recipe(shape=shapes.dense_chain_pruned),
    "ds_cnn": Recipe(shape=shapes.ds_cnn),
    "ds_cnn_float": Recipe(shape=shapes.ds_cnn, form=_FLOAT),
    "ds_cnn_int16": Recipe(shape=shapes.ds_cnn, form=Form(values="int16")),
    "ds_cnn_int4": Recipe(shape=shapes.ds_cnn, form=Form(weights="int4")),
    "ds_cnn_uint8": Recipe(shape=shapes.ds_cnn, form=Form(values="uint8")),
    "mobilenet_v1": Recipe(shape=shapes.mobilenet_v1),
    "mobilenet_v1_float": Recipe(shape=shapes.mobilenet_v1, form=_FLOAT),
    "mobilenet_v1_pruned": Recipe(shape=shapes.mobilenet_v1_pruned),
    "mobilenet_v2": Recipe(shape=shapes.mobilenet_v2, form=_EDGED),
    "person_detect": Recipe(shape=shapes.person_detect, form=_CLOSED),
    "residual_pair": Recipe(shape=shapes.residual_pair),
    "resnet8": Recipe(shape=shapes.resnet8),
    "resnet8_float": Recipe(shape=shapes.resnet8, form=_FLOAT),
    "resnet8_wide": Recipe(shape=shapes.resnet8_wide),
    "separable_1d": Recipe(shape=shapes.separable_1d),
    "speech": Recipe(shape=shapes.speech),
    "two_images": Recipe(shape=shapes.two_images),
}
_QDQ_TWINS: Mapping[str, Recipe] = {
    f"{name}_qdq": Recipe(shape=_TFLITE[name].shape, form=_QDQ)
    for name in (
        *("autoencoder", "dense_chain", "ds_cnn", "mobilenet_v1", "person_detect", "resnet8"),
        *("separable_1d", "speech"),
    )
}
_RECIPES = {**_TFLITE, **_QDQ_TWINS}
NAMES = tuple(_TFLITE)
ONNX_NAMES = tuple(_QDQ_TWINS)
"""Twins of some of them, as ONNX files of QuantizeLinear and DequantizeLinear. MobileNet V2 has none: what
onnxruntime makes of its sums of two values is one step off the definition in places."""
WHOLE_NAMES = tuple(WHOLE)
"""An LSTM, one that streams (its cases are one sequence), a detector."""
PRUNED = ("dense_chain_pruned", "mobilenet_v1_pruned")
"""Networks some of whose channels are constants."""
CASES = ("a", "b", "c", "d")
"""Two patterns of waves, zeros, and elements over the whole range."""


def calibration_inputs(name: str) -> tuple[Arrays, ...]:
    """The inputs that the quantisation of `name` was found with."""
    network = _RECIPES[name].shape()
    writer = Writer(network, _RECIPES[name].form)
    samples = zip(*(network.values[value] for value in network.inputs), strict=True)
    return tuple(writer.inputs(list(sample)) for sample in samples)


@functools.cache
def drawn(name: str) -> Drawn:
    """The network `name`: its file, and the inputs of each of `CASES`. One process draws it for all."""
    path = _FOLDER / _drawing_digest() / f"{name}.npz"
    if not path.exists():
        network = _draw(name)
        inputs = {
            f"{case}{at}": x for case, arrays in enumerate(network.inputs) for at, x in enumerate(arrays)
        }
        partial = io.BytesIO()
        np.savez(partial, model=np.frombuffer(network.model, np.uint8), **inputs)  # type: ignore[arg-type]
        _write_whole(path, partial.getvalue())
    with np.load(path) as archive:
        arrays = {key: archive[key] for key in archive.files}
    model = arrays.pop("model").tobytes()
    cases = tuple(tuple(x for key, x in arrays.items() if int(key[0]) == case) for case in range(len(CASES)))
    return Drawn(model=model, inputs=cases)


@functools.cache
def _drawing_digest() -> str:
    """Digest of the code that decides what is drawn."""
    folders = (Path(__file__).parent, ROOT / "tests" / "opgen", Path(writer.__file__).parent)
    digest = hashlib.sha256(np.__version__.encode())
    for path in sorted(path for folder in folders for path in folder.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _write_whole(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}")
    partial.write_bytes(data)
    partial.replace(path)


def _draw(name: str) -> Drawn:
    if name in WHOLE:
        return WHOLE[name].draw()
    recipe = _RECIPES[name]
    network = recipe.shape()
    writer = Writer(network, recipe.form)
    dice = Dice(99, *name.encode())
    calibrated = [network.values[value] for value in network.inputs]
    ranges = [(data, data.shape[1:], float(data.min()), float(data.max())) for data in calibrated]
    cases = (
        [data[0] for data in calibrated],
        [patterns(dice, 1, shape, low, high)[0] for _, shape, low, high in ranges],
        [np.zeros(shape) for _, shape, _, _ in ranges],
        [low + (high - low) * (dice.reals(shape) + 4) / 8 for _, shape, low, high in ranges],
    )
    inputs = [writer.inputs(samples) for samples in cases]
    if recipe.form.is_onnx:
        images = tuple(tuple(map(channels_first, arrays)) for arrays in inputs)
        return Drawn(model=QdqWriter(network, writer).build(), inputs=images)
    return Drawn(model=writer.build(), inputs=tuple(inputs))


def engine_of(name: str) -> str:
    """The engine that rules for every operator of `name`: of int16 the SOFTMAX decides."""
    if name in WHOLE:
        return WHOLE[name].engine
    if name in ONNX_NAMES:
        return ONNXRUNTIME
    is_wide = _RECIPES[name].form.values == "int16"
    return ruling_engine("SOFTMAX int16" if is_wide else "CONV_2D")


@functools.cache
def model_path(name: str) -> Path:
    """A file of the network `name`, in a folder named by the file's contents: it is never out of date."""
    data = drawn(name).model
    suffix = ".onnx" if name in ONNX_NAMES else ".tflite"
    path = _FOLDER / hashlib.sha256(data).hexdigest()[:16] / f"{name}{suffix}"
    if not path.exists():
        _write_whole(path, data)
    return path


@functools.cache
def golden(name: str) -> Mapping[str, np.ndarray]:
    """Arrays `<case>_x<i>` and `<case>_y<j>`: inputs, and the stored answers of the ruling engine."""
    stored = _references()[name]
    network = drawn(name)
    if stored.sha256 != goldens.digest(network.model):
        raise ValueError(f"{name} is another file than references.npz has: python -m tests.networks.record")
    arrays: dict[str, np.ndarray] = {}
    for case, inputs, outputs in zip(CASES, network.inputs, stored.outputs, strict=True):
        arrays |= {f"{case}_x{number}": data for number, data in enumerate(inputs)}
        arrays |= {f"{case}_y{number}": data for number, data in enumerate(outputs)}
    return arrays


@functools.cache
def _references() -> dict[str, goldens.Golden]:
    return goldens.read(REFERENCES)
