"""The real models every change is held against, their golden cases, and building them for a board."""

import functools
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from codegen.driver.build import Built, build
from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from tests.testdata import golden, model_path

INTEGER_MODELS = (
    "mlperf_tiny/ad01_int8",
    "mlperf_tiny/kws_ref_model",
    "mlperf_tiny/vww_96_int8",
    "mlperf_tiny/pretrainedResnet_quant",
    "mlperf_tiny/pretrainedResnet_large_int8",
    "mlperf_tiny/str_ww_ref_model",
    "tflm/hello_world_int8",
    "tflm/micro_speech_quantized",
    "tflm/person_detect",
    "tflm/simple_add_model",
    "mlperf_tiny/model_ToyCar_quant_fullint",
    "tinyengine/vww",
)
FLOAT_MODELS = (
    "mlperf_tiny/ad01_fp32",
    "mlperf_tiny/model_ToyCar_quant",
    "mlperf_tiny/pretrainedResnet",
    "mlperf_tiny/vww_96_float",
    "tflm/hello_world_float",
)
EDGED_MODELS = ("mlperf_tiny/model_ToyCar_quant_fullint", "tinyengine/vww")
"""Models whose float edges `--io-types int8` takes away."""
ALL_MODELS = INTEGER_MODELS + FLOAT_MODELS

_BATCHED = ("cal", "seq")
"""Case names whose arrays hold many cases along a leading axis."""


@functools.cache
def golden_cases(key: str) -> tuple[Case, ...]:
    """Cases a, b, c and every real-input case, with the golden outputs of an independent engine."""
    arrays = golden(key)
    names = sorted({name.rsplit("_x", 1)[0] for name in arrays if "_x" in name})
    found: list[Case] = []
    for name in names:
        inputs = _in_order(arrays, name, "x")
        outputs = _in_order(arrays, name, "y")
        if name not in _BATCHED:
            found.append(Case(name=name, inputs=inputs, expected=outputs))
            continue
        rows = zip(zip(*inputs, strict=True), zip(*outputs, strict=True), strict=True)
        found += [Case(name=f"{name}{row}", inputs=x, expected=y) for row, (x, y) in enumerate(rows)]
    return tuple(found)


def _in_order(arrays: dict[str, np.ndarray], name: str, letter: str) -> tuple[np.ndarray, ...]:
    count = sum(1 for key in arrays if key.startswith(f"{name}_{letter}") and key[len(name) + 2 :].isdigit())
    return tuple(arrays[f"{name}_{letter}{index}"] for index in range(count))


def int8_cases(key: str, cases: Sequence[Case], built: Built) -> tuple[Case, ...]:
    """Golden float cases of an edged model as its int8 inputs and outputs see them.

    Inputs by TFLite's QUANTIZE arithmetic (float32 division, half away from zero, clamp); outputs back
    through the DEQUANTIZE, which is exact to invert because it maps distinct int8 values to distinct floats.
    """
    program = built.models[0].program
    found: list[Case] = []
    for case in cases:
        inputs = tuple(
            _quantise(data, tensor.type.scale, tensor.type.zero_point)
            for data, tensor in zip(case.inputs, program.signature.inputs, strict=True)
        )
        expected = tuple(
            _quantise(data, tensor.type.scale, tensor.type.zero_point)
            for data, tensor in zip(case.known_outputs or (), program.signature.outputs, strict=True)
        )
        found.append(Case(name=f"{key} {case.name}", inputs=inputs, expected=expected))
    return tuple(found)


def _quantise(data: np.ndarray, scale: float, zero_point: int) -> np.ndarray:
    scaled = data.astype(np.float32) / np.float32(scale)
    rounded = np.trunc(scaled + np.copysign(np.float32(0.5), scaled))
    return np.clip(rounded + zero_point, -128, 127).astype(np.int8)


def build_model(key: str, options: Options, folder: Path | None = None) -> Built:
    """Build one shared model as `codegen run` does for an emulated board."""
    place = folder or Path(tempfile.mkdtemp(prefix="codegen-test-")) / "build"
    return build([model_path(key)], options, place, emulated=True)
