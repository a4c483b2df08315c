"""The networks every change is held against, their cases with engines' answers, and how they are built."""

import functools
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from codegen.driver.build import Built, build
from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from tests.networks import golden, model_path

INTEGER_MODELS = (
    "autoencoder",
    "autoencoder_edged",
    "dense_chain",
    "ds_cnn",
    "ds_cnn_int16",
    "ds_cnn_int4",
    "ds_cnn_uint8",
    "mobilenet_v1",
    "mobilenet_v2",
    "person_detect",
    "resnet8",
    "resnet8_wide",
    "separable_1d",
    "speech",
    "two_images",
)
FLOAT_MODELS = ("autoencoder_float", "dense_chain_float", "mobilenet_v1_float", "resnet8_float")
EDGED_MODELS = ("mobilenet_v2", "autoencoder_edged")
"""Models whose float edges `--io-types int8` takes away."""
ALL_MODELS = INTEGER_MODELS + FLOAT_MODELS
OF_EACH_KIND = (
    *("ds_cnn", "ds_cnn_int16", "ds_cnn_int4", "ds_cnn_uint8", "resnet8", "separable_1d", "two_images"),
    *("autoencoder_edged", "resnet8_float", "speech"),
)
"""Of each shape of network and element type one, for what `make test` does not do with all."""


@functools.cache
def golden_cases(name: str) -> tuple[Case, ...]:
    """Every case of a network, with the outputs of an independent engine."""
    return cases_of(golden(name))


def cases_of(arrays: Mapping[str, np.ndarray], batched: Sequence[str] = ()) -> tuple[Case, ...]:
    """Cases of arrays `<case>_x<i>` and `<case>_y<j>`; those of `batched` hold many along a leading axis."""
    names = sorted({name.rsplit("_x", 1)[0] for name in arrays if "_x" in name})
    cases: list[Case] = []
    for name in names:
        inputs, outputs = _in_order(arrays, name, "x"), _in_order(arrays, name, "y")
        if name not in batched:
            cases.append(Case(name=name, inputs=inputs, expected=outputs))
            continue
        rows = zip(zip(*inputs, strict=True), zip(*outputs, strict=True), strict=True)
        cases += [Case(name=f"{name}{row}", inputs=x, expected=y) for row, (x, y) in enumerate(rows)]
    return tuple(cases)


def _in_order(arrays: Mapping[str, np.ndarray], name: str, letter: str) -> tuple[np.ndarray, ...]:
    count = sum(1 for key in arrays if key.startswith(f"{name}_{letter}") and key[len(name) + 2 :].isdigit())
    return tuple(arrays[f"{name}_{letter}{index}"] for index in range(count))


def int8_cases(name: str, cases: Sequence[Case], built: Built) -> tuple[Case, ...]:
    """Golden float cases of an edged model as its int8 inputs and outputs see them.

    Inputs by TFLite's QUANTIZE arithmetic (float32 division, half away from zero, clamp); outputs back
    through the DEQUANTIZE, which is exact to invert because it maps distinct int8 values to distinct floats.
    """
    program = built.models[0].program
    quantised: list[Case] = []
    for case in cases:
        inputs = tuple(
            _quantise(data, tensor.type.scale, tensor.type.zero_point)
            for data, tensor in zip(case.inputs, program.signature.inputs, strict=True)
        )
        expected = tuple(
            _quantise(data, tensor.type.scale, tensor.type.zero_point)
            for data, tensor in zip(case.known_outputs or (), program.signature.outputs, strict=True)
        )
        quantised.append(Case(name=f"{name} {case.name}", inputs=inputs, expected=expected))
    return tuple(quantised)


def _quantise(data: np.ndarray, scale: float, zero_point: int) -> np.ndarray:
    scaled = data.astype(np.float32) / np.float32(scale)
    rounded = np.trunc(scaled + np.copysign(np.float32(0.5), scaled))
    return np.clip(rounded + zero_point, -128, 127).astype(np.int8)


def build_model(name: str, options: Options, folder: Path | None = None) -> Built:
    """Build one network as `codegen run` does for an emulated board."""
    return build_file(model_path(name), options, folder)


def build_file(path: Path, options: Options, folder: Path | None = None) -> Built:
    """Build the network of a file as `codegen run` does for an emulated board."""
    place = folder or Path(tempfile.mkdtemp(prefix="codegen-test-")) / "build"
    return build([path], options, place, emulated=True)
