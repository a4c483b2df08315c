"""The public models every change is held against, their golden cases, and building them for a board."""

import functools
from pathlib import Path

from codegen.driver.build import Built
from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from tests.e2e.models import build_file, cases_of
from tests.public.testdata import golden, model_path

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
    return cases_of(golden(key), _BATCHED)


def build_model(key: str, options: Options, folder: Path | None = None) -> Built:
    """Build one public model as `codegen run` does for an emulated board."""
    return build_file(model_path(key), options, folder)
